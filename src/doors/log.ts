/**
 * `verbatim-log/log`: append-only files of lines that survive kill -9, power cuts and full disks.
 *
 * @example
 * const log = await openLog("session.jsonl");
 * await log.append(encodeLine({ role: "user", content: "hello" })); // on the disk when it resolves
 * await log.close();
 * for await (const line of readLog("session.jsonl")) console.log(line.value);
 */

import { checkKind, checkOptions, type OptionKinds } from "../core/base/choice.ts";
import { nodeHost } from "../core/base/node-host.ts";
import type { ByteOffset } from "../core/base/offset.ts";
import { checkLogOpening, type LogOptions } from "../core/log/log-options.ts";
import {
  type FollowOptions,
  type LogLine,
  LogReader as Reader,
  type ReadOptions,
  type ReadRange,
  type ReadReport,
} from "../core/log/reader.ts";
import type { Recovery } from "../core/log/repair.ts";
import { LogWriter as Writer } from "../core/log/writer.ts";

const READ_OPTIONS: OptionKinds<ReadOptions> = {
  onBadLine: "any",
  root: "text",
  lineBytesMax: "count",
  takesUnterminated: "boolean",
  signal: "object",
};

/** A log that is open to append. */
export interface LogWriter {
  readonly path: string;
  /** What opening found and repaired. */
  readonly recovery: Recovery;
  /** After the last line that was acknowledged here or found on opening. */
  readonly end: ByteOffset;
  /**
   * Appends one line, passed without its LF. Resolves to the offset after it, once it is as durable
   * as the log's setting.
   */
  append(line: Uint8Array): Promise<ByteOffset>;
  /** Appends whole lines, each with its LF, in one write: all of them or, if refused, none. */
  appendLines(lines: Uint8Array): Promise<ByteOffset>;
  /** Resolves once everything acknowledged is on the disk, also with `os`. */
  flush(): Promise<void>;
  /** Resolves after everything accepted is durable and the lock is free. Further calls wait too. */
  close(): Promise<void>;
}

/** Reads a log, and may be iterated over. Takes no lock, and writes nothing. */
export interface LogReader extends AsyncIterable<LogLine> {
  readonly path: string;
  readonly report: ReadReport;
  /** The lines in order. */
  forward(range?: ReadRange): AsyncGenerator<LogLine>;
  /** The lines from the end to the start. */
  backward(range?: ReadRange): AsyncGenerator<LogLine>;
  /** The last `count` lines, in order, however long the log. */
  last(count: number): Promise<LogLine[]>;
  /**
   * The lines, and then those that any process appends, as they come; ends by `signal` only. When
   * delivered lines were undone, calls `onRewound` or throws LOG_REWOUND; then delivers the lines
   * that took their place.
   */
  follow(options?: FollowOptions): AsyncGenerator<LogLine>;
}

/** Opens a log for appending: creates it if missing, repairs a tail that a crash tore. */
export async function openLog(path: string, options: LogOptions = {}): Promise<LogWriter> {
  checkLogOpening("openLog", path, options);
  return Writer.open(nodeHost, path, options);
}

/** A reader of a log: iterate it, or call `forward`, `backward`, `last` or `follow`. */
export function readLog(path: string, options: ReadOptions = {}): LogReader {
  checkKind("path", path, "string");
  checkOptions("readLog", options, READ_OPTIONS);
  return new Reader(nodeHost, path, options);
}

export type { LogErrors } from "../core/base/errors.ts";
export type { LogLimits } from "../core/base/limits.ts";
export type { ByteOffset, LineNumber } from "../core/base/offset.ts";
export { toByteOffset } from "../core/base/offset.ts";
export { LogError as VerbatimError } from "../core/base/published-errors.ts";
export { encodeLine } from "../core/log/json.ts";
export { LogFile, type StoredRange as Stored } from "../core/log/log-file.ts";
export type { Durability, LogMode, LogOptions } from "../core/log/log-options.ts";
export type {
  BadLine,
  FollowOptions,
  LogLine,
  ReadOptions,
  ReadRange,
  ReadReport,
} from "../core/log/reader.ts";
export type { Recovery } from "../core/log/repair.ts";
