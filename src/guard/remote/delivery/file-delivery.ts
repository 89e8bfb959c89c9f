/**
 * File delivery: one file that only grows, and its stream.
 *
 * - Nothing is appended to a stream unless its bytes are known to be the first bytes of the
 *   file: from the record of an earlier delivery, or by reading them back.
 * - What is sent was made durable here first: a power cut cannot leave the server with bytes
 *   that this machine lost.
 * - A file that shrank or was rewritten is not sent: DELIVERY_CONFLICT.
 */

import { createHash, type Hash } from "node:crypto";
import type { OpenFile } from "../../../core/base/files.ts";
import { conflict, type RemoteEnd, type RemoteStream, type Requests } from "./remote-stream.ts";

/** How far a file was delivered, and the hash of that part. */
export interface DeliveredPart {
  readonly token: string;
  readonly offset: number;
  readonly sha256: string;
}

/** What is needed of a file. */
export type SourceFile = Pick<OpenFile, "read" | "size" | "sync" | "identity">;

export const NOTHING_DELIVERED: DeliveredPart = { token: "", offset: 0, sha256: "" };

/** Well below what a server takes by default. */
const PIECE_BYTES = 1024 * 1024;
/** How much of what was sent is compared each time. */
const TAIL_BYTES = 1024;
const NO_BYTES = new Uint8Array(0);
/** Looks at the end of a stream that other senders are moving. */
const LOOKS_MAX = 20;

export class FileDelivery {
  readonly #requests: Requests;
  readonly #stream: RemoteStream;
  #delivered: DeliveredPart;
  /** Of the delivered part; null: not computed by this process yet. */
  #hash: Hash | null = null;
  #identity = "";
  /** The end of the delivered part. */
  #tail: Uint8Array = NO_BYTES;
  /** The end that this process knows from the last answer; null: the server must be asked. */
  #end: RemoteEnd | null = null;

  constructor(requests: Requests, stream: RemoteStream, delivered: DeliveredPart) {
    this.#requests = requests;
    this.#stream = stream;
    this.#delivered = delivered;
  }

  get delivered(): DeliveredPart {
    return this.#delivered;
  }

  /** Sends the file up to `to`. `file` is open for this call only. */
  async deliver(file: SourceFile, to: number): Promise<void> {
    const size = file.size();
    if (size < this.#delivered.offset)
      this.#conflict(size, "the file is shorter than what was sent");
    await file.sync();
    await this.#checkOwn(file);
    for (let looks = 0; looks < LOOKS_MAX; looks++) {
      this.#end ??= await this.#agree(file);
      const isDone = await this.#sendFrom(file, to);
      if (isDone) return;
    }
    this.#conflict(this.#delivered.offset, "other senders move its end all the time");
  }

  /** Throws if what was sent was changed: all of it is hashed once, then its end is compared. */
  async #checkOwn(file: SourceFile): Promise<void> {
    const identity = file.identity();
    const { offset, sha256 } = this.#delivered;
    if (this.#hash !== null && identity === this.#identity) {
      const own = new Uint8Array(this.#tail.length);
      await file.read(own, offset - own.length);
      if (Buffer.compare(own, this.#tail) !== 0) this.#rewritten();
      return;
    }
    const hash = createHash("sha256");
    this.#tail = NO_BYTES;
    for await (const piece of pieces(file, 0, offset)) {
      hash.update(piece);
      this.#keepTail(piece);
    }
    if (offset > 0 && hash.copy().digest("hex") !== sha256) this.#rewritten();
    this.#hash = hash;
    this.#identity = identity;
  }

  #keepTail(bytes: Uint8Array): void {
    const short = bytes.subarray(-TAIL_BYTES);
    this.#tail = Buffer.concat([this.#tail, short]).subarray(-TAIL_BYTES);
  }

  #rewritten(): never {
    this.#conflict(this.#delivered.offset, "the file was rewritten since it was sent");
  }

  /** The end of the stream, all of which is in the file. */
  async #agree(file: SourceFile): Promise<RemoteEnd> {
    const found = await this.#stream.look();
    const { token, offset } = this.#delivered;
    if (found === null) {
      if (offset > 0) this.#conflict(offset, "it was deleted there");
      return this.#stream.create();
    }
    if (found.token === token || found.offset === 0) {
      if (found.offset < offset) this.#restart();
      return found;
    }
    // Sent by a process that was killed before it noted it, by another, or from a backup.
    if (found.offset > offset && offset > 0) {
      const isContinued = await this.#compare(file, token).catch(isRefusedOffset);
      if (isContinued !== null) return isContinued;
    }
    this.#restart();
    return (await this.#compare(file, "-1")) ?? found;
  }

  /** Reads the stream back, from where the delivered part ends; throws if it differs. */
  async #compare(file: SourceFile, from: string): Promise<RemoteEnd | null> {
    let end: RemoteEnd | null = null;
    for await (const { bytes, ...after } of this.#stream.read(from)) {
      const { offset } = this.#delivered;
      const own = new Uint8Array(bytes.length);
      const count = await file.read(own, offset);
      const isSame = count === bytes.length && Buffer.compare(own, bytes) === 0;
      if (!isSame || after.offset !== offset + bytes.length) {
        this.#conflict(offset, "the server has other bytes there than the file");
      }
      this.#note(own, after);
      end = after;
    }
    return end;
  }

  /** False: another sender moved the end. */
  async #sendFrom(file: SourceFile, to: number): Promise<boolean> {
    for await (const piece of pieces(file, this.#delivered.offset, to)) {
      const from = this.#delivered.offset;
      const before = this.#end;
      this.#end = null; // Until the answer is there.
      if (before?.offset !== from) return false;
      const end = await this.#stream.append(from, piece);
      if (end === null) return false;
      this.#note(piece, end);
      this.#end = end;
    }
    return true;
  }

  #note(bytes: Uint8Array, { token, offset }: RemoteEnd): void {
    this.#hash ??= createHash("sha256");
    this.#hash.update(bytes);
    this.#keepTail(bytes);
    this.#delivered = { token, offset, sha256: this.#hash.copy().digest("hex") };
  }

  #restart(): void {
    this.#hash = createHash("sha256");
    this.#tail = NO_BYTES;
    this.#delivered = NOTHING_DELIVERED;
  }

  #conflict(offset: number, reason: string): never {
    throw conflict(this.#requests.remote, this.#stream.path, offset, reason);
  }
}

async function* pieces(
  file: SourceFile,
  from: number,
  to: number,
): AsyncGenerator<Uint8Array<ArrayBuffer>> {
  for (let at = from; at < to; ) {
    const piece = new Uint8Array(Math.min(PIECE_BYTES, to - at));
    const count = await file.read(piece, at);
    if (count === 0) return; // It shrank meanwhile: the next delivery says so.
    yield piece.subarray(0, count);
    at += count;
  }
}

/** The server has no message that begins there: compare from the start. */
function isRefusedOffset(cause: unknown): null {
  const { status } = (cause as { details?: { status?: unknown } }).details ?? {};
  if (status === 400 || status === 410) return null;
  throw cause;
}
