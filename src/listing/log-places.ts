/**
 * Log places: whether a file that somebody names would stand where a log does.
 *
 * LP1  What is written for a user never takes the place of a log, of what is kept beside one, or of
 *      a file in a server's data directory: not only of the session that is read. Who writes there
 *      may be at work, and would lose what was acknowledged.
 */

import { existsSync, realpathSync } from "node:fs";
import { basename, dirname, join, resolve } from "node:path";
import { dialectNamed, READ_DIALECT_NAMES } from "../dialects/all.ts";

/** What a log's name is followed by in what stands beside it (docs/formats/log.md). */
const BESIDE = /(?:\.checkpoints|\.lock|\.torn-\d+)+$/;
/** A string that was too long for its row (docs/formats/entire.md). */
const SPILL = /\.spill$/;
/** Of a server's data directory (docs/formats/streams.md). */
const STREAMS_LOCK = "streams.lock";
const STREAMS_FOLDERS: readonly string[] = ["logs", "journal"];
const STREAMS_FILE = /^(?:meta\.jsonl|streams\..*)$/;

/** Whether nothing else may be written to this path (LP1). */
export function isLogPlace(path: string): boolean {
  const full = resolve(path);
  const directory = realDirectory(dirname(full));
  const log = join(directory, basename(full).replace(BESIDE, ""));
  return isSessionFile(log) || existsSync(`${log}.lock`) || isOfStreams(directory, basename(full));
}

/** By its place alone: a log that is yet to be made has it, too. */
function isSessionFile(path: string): boolean {
  const segments = path.split("/");
  for (const { layout } of READ_DIALECT_NAMES.map(dialectNamed)) {
    const isSpill = "logName" in layout && SPILL.test(path);
    const log = isSpill ? [...segments.slice(0, -1), layout.logName] : segments;
    // Any directory may be a store's root.
    if (segments.some((_, at) => layout.idAt(log.slice(at)) !== null)) return true;
  }
  return false;
}

function isOfStreams(directory: string, name: string): boolean {
  if (STREAMS_FOLDERS.includes(basename(directory))) {
    return existsSync(join(dirname(directory), STREAMS_LOCK));
  }
  return STREAMS_FILE.test(name) && existsSync(join(directory, STREAMS_LOCK));
}

/** One that is not there holds no log. */
function realDirectory(path: string): string {
  try {
    return realpathSync(path);
  } catch {
    return path;
  }
}
