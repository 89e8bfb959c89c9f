/**
 * Log reader: the lines of a log, forward, backward or live, in constant memory.
 *
 * Takes no lock and writes nothing. A pass reads up to the end that the log had when the pass
 * began.
 *
 * - Every line before the end is delivered or reported as bad; none is skipped silently.
 * - Bytes after the end are reported as torn only when no writer is at work on them.
 */

import { checkOptions, checkWhole, type OptionKinds } from "../base/choice.ts";
import { type LineFault, VerbatimError } from "../base/errors.ts";
import type { OpenFile } from "../base/files.ts";
import type { Host } from "../base/host.ts";
import { BAD_LINES_LISTED_MAX, LOG_LIMITS } from "../base/limits.ts";
import { type ByteOffset, type LineNumber, START, toLineNumber } from "../base/offset.ts";
import { checkOnBadLine, type OnBadLine } from "./bad-line-warning.ts";
import { checkBoundary, findEnd, rewound } from "./find-end.ts";
import { Alarm, DeliveryMarks } from "./follow.ts";
import { decodeLine } from "./json.ts";
import { type LogPath, openLogPath, openToRead } from "./log-path.ts";
import { type LineSpan, type Stretch, spansBackward, spansForward } from "./spans.ts";
import { findTail } from "./tail.ts";

export interface ParsedLine {
  /** The parsed JSON. An integer that a double cannot represent is a string of its digits. */
  readonly value: unknown;
  readonly start: ByteOffset;
  /** The offset after the line: where to continue reading. */
  readonly end: ByteOffset;
  /** Lines before this one; null when the pass did not begin at the start of the log. */
  readonly number: LineNumber | null;
}

export interface LogLine extends ParsedLine {
  /** The line's bytes in the file, without its LF. */
  readonly bytes: Uint8Array;
}

export interface BadLine {
  /** Counted from 1, for people; null when the pass did not begin at the start of the log. */
  readonly line: number | null;
  readonly offset: ByteOffset;
  readonly reason: LineFault;
}

/** What a reader found, over all its passes. */
export interface ReadReport {
  lines: number;
  badLines: number;
  /** The first bad lines; `badLines` counts all. */
  readonly badLinesListed: BadLine[];
  /** Bytes after the end that a crash left, as the last pass saw them. */
  tornBytes: number;
  /** Bytes after the end that a writer was at work on when the last pass began. */
  unfinishedBytes: number;
}

export interface ReadOptions {
  /** What to do with a line that is not UTF-8 JSON. `skip` and a function count it in reports. */
  readonly onBadLine?: OnBadLine<BadLine, [end: ByteOffset]>;
  /** Takes `path` as an id below this directory, and never leaves it. */
  readonly root?: string;
  readonly lineBytesMax?: number;
  /**
   * Delivers a last line that is one whole JSON object or array and lacks only its LF, while no
   * writer is at work: opening to append would keep it too. Default: it counts as torn.
   */
  readonly takesUnterminated?: boolean;
  readonly signal?: AbortSignal;
}

export interface ReadRange {
  /** Line boundaries: the `start` or `end` of a line. Default: the whole log. */
  readonly from?: ByteOffset;
  readonly to?: ByteOffset;
}

export interface FollowOptions {
  readonly from?: ByteOffset;
  /** Lines delivered from `to` up to `from` are no longer there. */
  readonly onRewound?: ((rewound: { from: ByteOffset; to: ByteOffset }) => void) | undefined;
}

const RANGE: OptionKinds<ReadRange> = { from: "count", to: "count" };

export class LogReader implements AsyncIterable<LogLine> {
  readonly path: string;
  readonly report: ReadReport = {
    lines: 0,
    badLines: 0,
    badLinesListed: [],
    tornBytes: 0,
    unfinishedBytes: 0,
  };
  readonly #host: Host;
  readonly #options: ReadOptions;

  constructor(host: Host, path: string, options: ReadOptions = {}) {
    checkOnBadLine(options.onBadLine);
    this.#host = host;
    this.path = path;
    this.#options = options;
  }

  [Symbol.asyncIterator](): AsyncGenerator<LogLine> {
    return this.forward();
  }

  /** The lines in order. */
  async *forward(range: ReadRange = {}): AsyncGenerator<LogLine> {
    checkOptions("forward", range, RANGE);
    for await (const { spans, number } of this.#chunks(range)) {
      for (let at = 0; at < spans.length; at++) {
        const line = this.#decode(spans[at] as LineSpan, number === null ? null : number + at);
        if (line) yield line;
      }
    }
  }

  /**
   * Passes the lines in order to a function. Waits once per chunk of the file, not once per line:
   * that takes a third of the time.
   */
  async each(onLine: (line: ParsedLine) => void): Promise<void> {
    for await (const { spans, number } of this.#chunks({})) {
      for (let at = 0; at < spans.length; at++) {
        const line = this.#parse(spans[at] as LineSpan, number === null ? null : number + at);
        if (line) onLine(line);
      }
    }
  }

  /** The lines, last one first. */
  async *backward(range: ReadRange = {}): AsyncGenerator<LogLine> {
    checkOptions("backward", range, RANGE);
    const { place, file } = await this.#open();
    try {
      const stretch = await this.#within(place, file, range);
      for await (const spans of spansBackward(file, stretch)) {
        for (const span of spans) {
          const line = this.#decode(span, null);
          if (line) yield line;
        }
      }
    } finally {
      file.close();
      place.directory.close();
    }
  }

  /** The last `count` lines, in order, however long the log. */
  async last(count: number): Promise<LogLine[]> {
    checkWhole("count", count);
    const lines: LogLine[] = [];
    if (count === 0) return lines;
    for await (const line of this.backward()) {
      lines.push(line);
      if (lines.length === count) break;
    }
    return lines.reverse();
  }

  /**
   * The lines, and then those that any process appends, as they come; ends by `signal` only. When
   * delivered lines were undone, calls `onRewound` or throws LOG_REWOUND; then delivers the lines
   * that took their place.
   */
  async *follow(options: FollowOptions = {}): AsyncGenerator<LogLine> {
    checkOptions("follow", options, { from: "count", onRewound: "function" });
    const { from = START, onRewound } = options;
    const { signal } = this.#options;
    const delivered = new DeliveryMarks(from);
    const { place, file } = await this.#open();
    file.close();
    const alarm = new Alarm(this.#host.clock, place.directory, place.name);
    try {
      while (true) {
        // Opened again each time: a log that was replaced is read as it is now (G1).
        const file = openToRead(place);
        try {
          const { end, tornBytes, lacksOnlyLf } = await findTail(file);
          // The last line was delivered before it had its LF, and still has none.
          const isAhead = lacksOnlyLf && delivered.end === end + tornBytes + 1;
          const before = delivered.end;
          if ((await delivered.forgetChanged(file, end)) || (before > end && !isAhead)) {
            if (delivered.end > end) delivered.restartAt(end);
            const to = delivered.end;
            if (!onRewound) throw rewound(this.path, before, to);
            onRewound({ from: before as ByteOffset, to: to as ByteOffset });
          }
          const stretch = this.#stretch(delivered.end, Math.max(delivered.end, end));
          for await (const spans of spansForward(file, stretch)) {
            for (const span of spans) {
              const line = this.#decode(span, delivered.nextNumber);
              delivered.add(span, line !== null);
              if (line) yield line;
            }
          }
        } finally {
          file.close();
        }
        await alarm.wait(signal);
      }
    } finally {
      alarm.close();
      place.directory.close();
    }
  }

  /** The lines of a range, some at a time, with the number of the first one. */
  async *#chunks(range: ReadRange): AsyncGenerator<{ spans: LineSpan[]; number: number | null }> {
    const { place, file } = await this.#open();
    try {
      const stretch = await this.#within(place, file, range);
      let number = stretch.from === 0 ? 0 : null;
      for await (const spans of spansForward(file, stretch)) {
        yield { spans, number };
        if (number !== null) number += spans.length;
      }
    } finally {
      file.close();
      place.directory.close();
    }
  }

  async #open(): Promise<{ place: LogPath; file: OpenFile }> {
    const place = await openLogPath(this.#host, this.path, {
      create: false,
      root: this.#options.root,
    });
    try {
      return { place, file: openToRead(place) };
    } catch (cause) {
      place.directory.close();
      throw cause;
    }
  }

  /** Limits the range to the log as it is now, and reports the bytes after its end. */
  async #within(place: LogPath, file: OpenFile, range: ReadRange): Promise<Stretch> {
    const logEnd = await findEnd(place, file, this.#options.takesUnterminated === true);
    const { end, lacksLastLf } = logEnd;
    this.report.tornBytes = logEnd.tornBytes;
    this.report.unfinishedBytes = logEnd.unfinishedBytes;
    const from = range.from ?? START;
    const to = Math.min(range.to ?? end, end);
    // Such a line ends where its LF will be; a reader of it continues from there.
    if (lacksLastLf && from === end + 1) return this.#stretch(from, from);
    if (from > end) throw rewound(this.path, from, end);
    // The end was on a line boundary, and may be gone by now: other writers undo writes that the
    // disk did not take whole.
    await checkBoundary(file, this.path, from, end);
    if (to !== end) await checkBoundary(file, this.path, to, end);
    return { ...this.#stretch(from, Math.max(from, to)), lacksLastLf: lacksLastLf && to === end };
  }

  #stretch(from: number, to: number): Stretch {
    const { lineBytesMax = LOG_LIMITS.lineBytesMax, signal } = this.#options;
    return { from, to, lineBytesMax, signal, lacksLastLf: false };
  }

  #decode(span: LineSpan, number: number | null): LogLine | null {
    const line = this.#parse(span, number);
    const bytes = span.bytes?.subarray(span.from, span.to);
    if (!line || !bytes) return null;
    const { value, start, end } = line;
    return { value, bytes, start, end, number: line.number };
  }

  #parse(span: LineSpan, number: number | null): ParsedLine | null {
    const start = span.start as ByteOffset;
    const end = (start + span.length + 1) as ByteOffset;
    if (span.bytes === null) return this.#bad(start, end, number, "too long");
    const { value, fault } = decodeLine(span.bytes, span.from, span.to);
    if (fault !== null) return this.#bad(start, end, number, fault);
    this.report.lines++;
    return { value, start, end, number: number === null ? null : toLineNumber(number) };
  }

  #bad(offset: ByteOffset, end: ByteOffset, number: number | null, reason: LineFault): null {
    const bad: BadLine = { line: number === null ? null : number + 1, offset, reason };
    const { onBadLine = "throw" } = this.#options;
    if (onBadLine === "throw") {
      const where = bad.line === null ? `the line at byte ${offset}` : `line ${bad.line}`;
      throw new VerbatimError(
        "BAD_LINE",
        `${where} of ${this.path} is bad: ${reason}; read with onBadLine: "skip" to skip it`,
        { path: this.path, line: bad.line, offset, reason },
      );
    }
    this.report.badLines++;
    if (this.report.badLinesListed.length < BAD_LINES_LISTED_MAX) {
      this.report.badLinesListed.push(bad);
    }
    if (typeof onBadLine === "function") onBadLine(bad, end);
    return null;
  }
}
