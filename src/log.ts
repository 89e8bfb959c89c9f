/**
 * `verbatim-log/log`: append-only files of lines that survive kill -9, power cuts and full disks.
 *
 * @example
 * const log = await openLog("session.jsonl");
 * await log.append(encodeLine({ role: "user", content: "hello" })); // on the disk when it resolves
 * await log.close();
 * for await (const line of readLog("session.jsonl")) console.log(line.value);
 */

import { checkKind, checkOptions, type OptionKinds } from "./base/choice.ts";
import { nodeHost } from "./base/node-host.ts";
import { checkLogOpening, type LogOptions } from "./log/log-options.ts";
import { LogReader, type ReadOptions } from "./log/reader.ts";
import { LogWriter } from "./log/writer.ts";

const READ_OPTIONS: OptionKinds<ReadOptions> = {
  onBadLine: "any",
  root: "text",
  lineBytesMax: "count",
  takesUnterminated: "boolean",
  signal: "object",
};

/** Opens a log for appending: creates it if missing, repairs a tail that a crash tore. */
export async function openLog(path: string, options: LogOptions = {}): Promise<LogWriter> {
  checkLogOpening("openLog", path, options);
  return LogWriter.open(nodeHost, path, options);
}

/** A reader of a log: iterate it, or call `forward`, `backward`, `last` or `follow`. */
export function readLog(path: string, options: ReadOptions = {}): LogReader {
  checkKind("path", path, "string");
  checkOptions("readLog", options, READ_OPTIONS);
  return new LogReader(nodeHost, path, options);
}

export type { LogLimits } from "./base/limits.ts";
export type { ByteOffset, LineNumber } from "./base/offset.ts";
export { toByteOffset } from "./base/offset.ts";
export { encodeLine } from "./log/json.ts";
export { LogFile, type Stored } from "./log/log-file.ts";
export type { Durability, LogMode, LogOptions } from "./log/log-options.ts";
export type {
  BadLine,
  FollowOptions,
  LogLine,
  LogReader,
  ReadOptions,
  ReadRange,
  ReadReport,
} from "./log/reader.ts";
export type { Recovery } from "./log/repair.ts";
export type { LogWriter } from "./log/writer.ts";
