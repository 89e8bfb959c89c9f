/**
 * Log places: whether a path is, or could be, a log or one of its files.
 *
 * LP1  Output written for a user never replaces a log, a file next to one, a file in a server's
 *      data directory, or a database, which may be another program's; not only those of the session
 *      that is read. A process may be appending there, and would lose acknowledged lines.
 */

import { closeSync, existsSync, openSync, readSync, realpathSync, statSync } from "node:fs";
import { basename, dirname, join, resolve } from "node:path";
import { dialectNamed, loadDialects } from "../../dialects/all.ts";
import { type DialectName, READ_DIALECT_NAMES, registryEntry } from "../../dialects/registry.ts";
import { isProgramRoot } from "./find-stores.ts";

/** Suffixes of the files next to a log (docs/formats/log.md, erase.md). */
const SIDECAR_ENDINGS = /(?:\.checkpoints|\.lock|\.torn-\d+|\.vbd|\.erase(?:-log|-copy|-file)?)+$/;
/** A string that was too long for its line (docs/formats/entire.md). */
const SPILL = /\.spill$/;
/** In a server's data directory (docs/formats/streams.md). */
const STREAMS_LOCK = "streams.lock";
const STREAMS_FOLDERS: readonly string[] = ["logs", "journal"];
const STREAMS_FILE = /^(?:meta\.jsonl|streams\..*)$/;
/** The files of SQLite next to a database, and how a database begins. */
const DATABASE_ENDINGS = /-(?:wal|shm|journal)$/;
const DATABASE_HEAD = "SQLite format 3\0";

/** Whether other output must not be written to this path (LP1). */
export async function isLogPlace(path: string): Promise<boolean> {
  const full = resolve(path);
  const directory = realDirectory(dirname(full));
  const log = join(directory, basename(full).replace(SIDECAR_ENDINGS, ""));
  if ((await isSessionFile(log)) || existsSync(`${log}.lock`)) return true;
  return isOfStreams(directory, basename(full)) || isOfDatabase(full);
}

function isOfDatabase(path: string): boolean {
  const database = path.replace(DATABASE_ENDINGS, "");
  if (!statSync(database, { throwIfNoEntry: false })?.isFile()) return false;
  const head = Buffer.alloc(DATABASE_HEAD.length);
  try {
    const file = openSync(database, "r");
    try {
      readSync(file, head, 0, head.length, 0);
    } finally {
      closeSync(file);
    }
  } catch {
    return false; // Not ours to read; the write will be refused, too.
  }
  return head.toString("latin1") === DATABASE_HEAD;
}

/** By its path alone, so that a log that does not exist yet counts, too. */
async function isSessionFile(path: string): Promise<boolean> {
  const segments = path.split("/");
  for (const name of READ_DIALECT_NAMES) {
    const roots = rootsOf(name, segments);
    if (roots.length === 0) continue;
    await loadDialects([name]);
    const { naming, writing } = dialectNamed(name);
    const { layout } = naming;
    const isSpill = "logName" in layout && SPILL.test(path);
    const logName = isSpill ? layout.logName : writing?.spilling?.logNameIn(basename(path));
    const log = logName ? [...segments.slice(0, -1), logName] : segments;
    if (roots.some((at) => layout.idAt(log.slice(at)) !== null)) return true;
  }
  return false;
}

/** How many segments of a path may be a root of the dialect with the path below it. */
function rootsOf(name: DialectName, segments: readonly string[]): number[] {
  const { under } = registryEntry(name);
  return [...segments.keys()].filter((at) => {
    const below = segments.slice(at).join("/");
    if (!under.some((directory) => below.startsWith(directory))) return false;
    // Any directory may be a store's root; another program's has the name that it gives it.
    return isProgramRoot(name, segments.slice(0, at).join("/"));
  });
}

function isOfStreams(directory: string, name: string): boolean {
  if (STREAMS_FOLDERS.includes(basename(directory))) {
    return existsSync(join(dirname(directory), STREAMS_LOCK));
  }
  return STREAMS_FILE.test(name) && existsSync(join(directory, STREAMS_LOCK));
}

/** A missing directory holds no log. */
function realDirectory(path: string): string {
  try {
    return realpathSync(path);
  } catch {
    return path;
  }
}
