/**
 * Window: a log as it was when opened: its end, its lines in either direction, its bytes.
 *
 * For showing a log in pieces. Unlike a reader it holds one open file, so that lines and end are of
 * the same moment, and it leaves no line out: a bad line is returned with its fault.
 *
 * WI1  A read costs only what it returns: nothing before it is read.
 */

import type { LineFault } from "../base/errors.ts";
import type { OpenFile } from "../base/files.ts";
import type { Host } from "../base/host.ts";
import { LOG_LIMITS } from "../base/limits.ts";
import { readChunks, readStretch } from "./bytes.ts";
import { checkBoundary, findEnd, type LogEnd, rewound } from "./find-end.ts";
import { decodeLine } from "./json.ts";
import { type LogPath, openLogPath, openToRead } from "./log-path.ts";
import { type LineSpan, spansBackward, spansForward } from "./spans.ts";

export interface WindowLine {
  /** The parsed JSON; undefined where there is a fault. */
  readonly value: unknown;
  readonly fault: LineFault | null;
  readonly start: number;
  /** The offset after the line, its LF included. */
  readonly end: number;
}

export class LogWindow {
  readonly path: string;
  readonly tornBytes: number;
  readonly unfinishedBytes: number;
  /** End of the readable bytes. */
  readonly bytesEnd: number;
  readonly #place: LogPath;
  readonly #file: OpenFile;
  readonly #lacksLastLf: boolean;

  private constructor(path: string, place: LogPath, file: OpenFile, logEnd: LogEnd) {
    this.path = path;
    this.#place = place;
    this.#file = file;
    this.tornBytes = logEnd.tornBytes;
    this.unfinishedBytes = logEnd.unfinishedBytes;
    this.bytesEnd = logEnd.end;
    this.#lacksLastLf = logEnd.lacksLastLf;
  }

  /** `path` is an id below `root`; nothing outside is ever opened. */
  static async open(host: Host, path: string, root: string): Promise<LogWindow> {
    const place = await openLogPath(host, path, { create: false, root });
    try {
      const file = openToRead(place);
      try {
        return new LogWindow(path, place, file, await findEnd(place, file, true));
      } catch (cause) {
        file.close();
        throw cause;
      }
    } catch (cause) {
      place.directory.close();
      throw cause;
    }
  }

  /** The offset after the last line: one that lacks its LF ends where that will be. */
  get end(): number {
    return this.#lacksLastLf ? this.bytesEnd + 1 : this.bytesEnd;
  }

  /** Refuses an offset after the end with LOG_REWOUND, one inside a line with OUT_OF_RANGE. */
  async check(offset: number): Promise<void> {
    if (offset === this.end) return;
    this.checkReached(offset);
    await checkBoundary(this.#file, this.path, offset, this.end);
  }

  /** Refuses an offset after the end with LOG_REWOUND; one inside a line is accepted. */
  checkReached(offset: number): void {
    if (offset > this.end) throw rewound(this.path, offset, this.end);
  }

  async *forward(from: number, to = this.end): AsyncGenerator<WindowLine> {
    for await (const spans of spansForward(this.#file, this.#stretch(from, to))) {
      for (const span of spans) yield lineOf(span);
    }
  }

  /** Passes the lines to a function until it returns false; waits per chunk, not per line. */
  async each(
    from: number,
    onLine: (line: WindowLine) => boolean,
    signal?: AbortSignal,
  ): Promise<void> {
    const stretch = { ...this.#stretch(from, this.end), signal };
    for await (const spans of spansForward(this.#file, stretch)) {
      for (const span of spans) if (!onLine(lineOf(span))) return;
    }
  }

  /** The lines before `to`, last one first. */
  async *backward(to = this.end): AsyncGenerator<WindowLine> {
    for await (const spans of spansBackward(this.#file, this.#stretch(0, to))) {
      for (const span of spans) yield lineOf(span);
    }
  }

  /** The bytes up to the end; fewer when a writer has undone a write since. */
  bytes(from: number, to: number): Promise<Buffer> {
    return readStretch(this.#file, from, Math.max(from, Math.min(to, this.bytesEnd)));
  }

  /** Like `bytes`, in chunks. */
  chunks(from: number, to: number): AsyncGenerator<Buffer> {
    return readChunks(this.#file, from, Math.min(to, this.bytesEnd));
  }

  close(): void {
    this.#file.close();
    this.#place.directory.close();
  }

  #stretch(from: number, to: number) {
    const lacksLastLf = this.#lacksLastLf && to === this.end && from < to;
    const { lineBytesMax } = LOG_LIMITS;
    const until = Math.min(to, this.bytesEnd);
    return {
      from: Math.min(from, until),
      to: until,
      lineBytesMax,
      signal: undefined,
      lacksLastLf,
    };
  }
}

function lineOf({ start, length, bytes, from, to }: LineSpan): WindowLine {
  const end = start + length + 1;
  if (bytes === null) return { value: undefined, fault: "too long", start, end };
  const { value, fault } = decodeLine(bytes, from, to);
  return { value, fault, start, end };
}
