/**
 * Log file: the `LogFile` interface of the JSONL-logger document on top of our writer: bytes in, a
 * position out, positioned reads.
 */

import { badArgument, checkBytes, checkStretch, notByNew } from "../base/choice.ts";
import { ioError, VerbatimError } from "../base/errors.ts";
import type { OpenFile } from "../base/files.ts";
import type { Host } from "../base/host.ts";
import { InFlight } from "../base/in-flight.ts";
import { nodeHost } from "../base/node-host.ts";
import { readStretch } from "./bytes.ts";
import { checkLogOpening, type LogOptions } from "./log-options.ts";
import { openLogPath, openToRead } from "./log-path.ts";
import { LogWriter } from "./writer.ts";

/** Where data is in a log file: `length` bytes from `bytePos`, its LF not counted. */
export interface StoredRange {
  readonly bytePos: number;
  readonly length: number;
}

export class LogFile {
  readonly path: string;
  readonly #writer: LogWriter;
  readonly #file: OpenFile;
  readonly #reads = new InFlight();
  #closing: Promise<void> | null = null;

  private constructor(writer: LogWriter, file: OpenFile) {
    if (!(writer instanceof LogWriter)) throw notByNew("LogFile", "await LogFile.open(path)");
    this.path = writer.path;
    this.#writer = writer;
    this.#file = file;
  }

  static open(path: string, options?: LogOptions): Promise<LogFile>;
  /** @internal */
  static open(path: string, options?: LogOptions, host?: Host): Promise<LogFile>;
  static async open(path: string, options: LogOptions = {}, host = nodeHost): Promise<LogFile> {
    checkLogOpening("LogFile.open", path, options);
    const writer = await LogWriter.open(host, path, options);
    try {
      const place = await openLogPath(host, path, { create: false, root: options.root });
      try {
        return new LogFile(writer, openToRead(place));
      } finally {
        place.directory.close();
      }
    } catch (cause) {
      await writer.close();
      throw cause;
    }
  }

  /** The file's size up to the last acknowledged line. */
  get size(): number {
    return this.#writer.end;
  }

  /** Writes the data and an LF in one write; resolves once it is as durable as requested. */
  async append(data: Uint8Array): Promise<StoredRange> {
    checkBytes("append", data);
    const { length } = data;
    const end = await this.#writer.append(data);
    return { bytePos: end - length - 1, length };
  }

  /** The `length` bytes at `bytePos`, which must lie within the file. */
  async readAt(bytePos: number, length: number): Promise<Uint8Array> {
    checkStretch(bytePos, length);
    this.#refuseWhenClosed();
    if (bytePos + length > this.size) throw this.#outOfRange(bytePos, length);
    try {
      const reading = readStretch(this.#file, bytePos, bytePos + length);
      const bytes = await this.#reads.track(reading);
      if (bytes.length < length) throw this.#outOfRange(bytePos, length);
      return bytes;
    } catch (cause) {
      throw ioError(this.path, "reading", cause);
    }
  }

  /** The data of several entries, in the order asked. */
  async readRange(entries: readonly StoredRange[]): Promise<Uint8Array[]> {
    if (!Array.isArray(entries)) throw badArgument("readRange", "takes an array of pointers");
    return Promise.all(entries.map((entry) => this.readAt(entry?.bytePos, entry?.length)));
  }

  /** Everything from `bytePos` to the end, LFs included. */
  async readFrom(bytePos: number): Promise<Uint8Array> {
    return this.readAt(bytePos, Math.max(0, this.size - bytePos));
  }

  /** Resolves after everything accepted is durable. May be called again. */
  close(): Promise<void> {
    this.#closing ??= this.#close();
    return this.#closing;
  }

  async #close(): Promise<void> {
    try {
      await this.#writer.close();
    } finally {
      await this.#reads.ended();
      this.#file.close();
    }
  }

  #refuseWhenClosed(): void {
    if (!this.#closing) return;
    throw new VerbatimError("LOG_CLOSED", `${this.path} was closed; open it again to read`, {
      path: this.path,
    });
  }

  #outOfRange(offset: number, length: number): VerbatimError {
    return new VerbatimError(
      "OUT_OF_RANGE",
      `${length} bytes at ${offset} are not all in ${this.path}, which ends at ${this.size}`,
      { path: this.path, offset, length, end: this.size },
    );
  }
}
