/**
 * Reading socket: a connection to PostgreSQL that reads into one buffer, again and again.
 *
 * Node would allocate a buffer for every read, and the driver two objects for every row of a COPY.
 * Freeing them took longer than reading. `takeCopied` gets the data of a COPY straight from the
 * buffer; everything else goes to the driver, as a copy. Connections with TLS do without this.
 */

import { Socket } from "node:net";

const READ_BYTES = 64 * 1024;
/** A message's type and length. */
const HEADER_BYTES = 5;
const COPY_DATA = 0x64; // d

/** Part of what a COPY sends, valid only during the call. */
export type TakeCopied = (buffer: Buffer, start: number, end: number) => void;

export class ReadingSocket extends Socket {
  /** While it is null, the driver gets everything. */
  takeCopied: TakeCopied | null = null;
  /** Called after each read, while something takes data. */
  afterRead: () => void = () => {};
  readonly #header = Buffer.alloc(HEADER_BYTES);
  #headerBytes = 0;
  /** Bytes of the current message that are still to come. */
  #left = 0;

  constructor() {
    const buffer = Buffer.allocUnsafeSlow(READ_BYTES);
    const callback = (count: number): boolean => {
      this.#read(buffer.subarray(0, count));
      return true;
    };
    super({ onread: { buffer, callback } } as never); // Its types lack this option of `connect`.
  }

  #read(chunk: Buffer): void {
    if (this.takeCopied === null) {
      this.#pass(chunk);
      return;
    }
    for (let at = 0; at < chunk.length; ) {
      if (this.#left === 0) at = this.#readHeader(chunk, at);
      else {
        const end = Math.min(at + this.#left, chunk.length);
        this.#left -= end - at;
        if (this.#header[0] === COPY_DATA) this.takeCopied?.(chunk, at, end);
        else this.#pass(chunk.subarray(at, end));
        at = end;
      }
    }
    this.afterRead();
  }

  #readHeader(chunk: Buffer, from: number): number {
    let at = from;
    while (this.#headerBytes < HEADER_BYTES && at < chunk.length) {
      this.#header[this.#headerBytes++] = chunk[at++] as number;
    }
    if (this.#headerBytes === HEADER_BYTES) {
      this.#headerBytes = 0;
      this.#left = this.#header.readUInt32BE(1) - 4;
      if (this.#header[0] !== COPY_DATA) this.#pass(this.#header);
    }
    return at;
  }

  #pass(bytes: Buffer): void {
    this.emit("data", Buffer.from(bytes));
  }
}
