/**
 * Log file: the bytes of one stream, as appended.
 *
 * Knows neither messages nor streams: bytes in, a position out, positioned reads back. It takes no
 * lock and acknowledges nothing: the data directory is locked as a whole, and the bytes are durable
 * because of the journal (docs/formats/streams.md). The log of `verbatim-log/log` does both itself.
 *
 * - `size` is where the next bytes go. A failed append leaves it unchanged, and rolls back bytes
 *   that were written.
 * - The file is opened O_RDWR | O_CREAT | O_APPEND ("append" in base/files.ts), and every append
 *   is one write.
 */

import { assert, ioError, VerbatimError } from "../../../core/base/errors.ts";
import type { Directory, OpenFile } from "../../../core/base/files.ts";
import { InFlight } from "../../../core/base/in-flight.ts";
import { readStretch } from "../../../core/log/bytes.ts";

/** The position of bytes in a log file. */
export interface StoredRange {
  readonly bytePos: number;
  readonly length: number;
}

export class StreamLogFile {
  readonly path: string;
  readonly #file: OpenFile;
  readonly #inFlight = new InFlight();
  #size: number;
  #closing: Promise<void> | null = null;

  private constructor(path: string, file: OpenFile) {
    this.path = path;
    this.#file = file;
    this.#size = file.size();
  }

  /** `append` creates the file if missing; `read` does not. */
  static open(
    directory: Directory,
    name: string,
    mode: "append" | "read" = "append",
  ): StreamLogFile {
    const path = `${directory.path}/${name}`;
    try {
      const file = directory.open(name, mode);
      try {
        return new StreamLogFile(path, file);
      } catch (cause) {
        file.close();
        throw cause;
      }
    } catch (cause) {
      throw ioError(path, "opening", cause);
    }
  }

  get size(): number {
    return this.#size;
  }

  /** Whether the file ends here. Another program may have written to it, or cut it. */
  endsAt(size: number): boolean {
    return this.#size === size && this.#file.endsAt(size);
  }

  sizeOnDisk(): number {
    return this.#file.size();
  }

  /** Appends the bytes unchanged: the caller has added an LF to each line. */
  append(bytes: Uint8Array): StoredRange {
    this.#refuseWhenClosed();
    const bytePos = this.#size;
    let written = 0;
    try {
      written = this.#file.write(bytes);
      if (written !== bytes.length) throw Object.assign(new Error("short"), { code: "ENOSPC" });
    } catch (cause) {
      if (written > 0) this.#file.truncate(bytePos);
      throw ioError(this.path, "writing", cause);
    }
    this.#size = bytePos + bytes.length;
    return { bytePos, length: bytes.length };
  }

  /** The `length` bytes at `bytePos`, which must be within the file. */
  async readAt(bytePos: number, length: number): Promise<Buffer> {
    assert(Number.isSafeInteger(bytePos) && bytePos >= 0, "a position is a whole number");
    assert(Number.isSafeInteger(length) && length >= 0, "a length is a whole number");
    this.#refuseWhenClosed();
    if (bytePos + length > this.#size) throw this.#outOfRange(bytePos, length);
    const bytes = await this.#read(bytePos, bytePos + length);
    // The file was cut by another program.
    if (bytes.length < length) throw this.#outOfRange(bytePos, length);
    return bytes;
  }

  /** The bytes of several positions, in the given order. */
  readRange(entries: readonly StoredRange[]): Promise<Buffer[]> {
    return Promise.all(entries.map(({ bytePos, length }) => this.readAt(bytePos, length)));
  }

  /** Everything from `bytePos` to the end. */
  readFrom(bytePos: number): Promise<Buffer> {
    return this.readAt(bytePos, Math.max(0, this.#size - bytePos));
  }

  /** Makes everything appended so far durable. */
  async sync(): Promise<void> {
    this.#refuseWhenClosed();
    try {
      await this.#inFlight.track(this.#file.sync());
    } catch (cause) {
      throw ioError(this.path, "syncing", cause);
    }
  }

  /** Resolves once reads in progress have ended and the file is closed. May be called again. */
  close(): Promise<void> {
    this.#closing ??= this.#inFlight.ended().then(() => this.#file.close());
    return this.#closing;
  }

  async #read(from: number, to: number): Promise<Buffer> {
    try {
      return await this.#inFlight.track(readStretch(this.#file, from, to));
    } catch (cause) {
      throw ioError(this.path, "reading", cause);
    }
  }

  #refuseWhenClosed(): void {
    if (this.#closing === null) return;
    throw new VerbatimError("LOG_CLOSED", `${this.path} was closed; open it again to continue`, {
      path: this.path,
    });
  }

  #outOfRange(offset: number, length: number): VerbatimError<"OUT_OF_RANGE"> {
    return new VerbatimError(
      "OUT_OF_RANGE",
      `${length} bytes at ${offset} are past the end of ${this.path}, which has ${this.#size} bytes`,
      { path: this.path, offset, length, end: this.#size },
    );
  }
}
