/**
 * Output file: writes a result to a user's file, atomically, or a short one to a new file.
 *
 * - Until everything is written and synced, the old file stays in place.
 * - The log that is read is never overwritten, under any name or link; nor are the files of any
 *   other log (sessions/list/log-places.ts, LP1).
 * - A device or a directory is not replaced by a file.
 */

import { basename, dirname, resolve } from "node:path";
import { errnoOf, ioError } from "../../core/base/errors.ts";
import { writeAll } from "../../core/base/file-steps.ts";
import type { Directory, OpenFile } from "../../core/base/files.ts";
import { nodeHost } from "../../core/base/node-host.ts";
import { writeUserFile } from "../../core/base/node-user-files.ts";
import { statOf } from "../../sessions/list/find-stores.ts";
import { isLogPlace } from "../../sessions/list/log-places.ts";
import { UsageError } from "./command.ts";

/** Text is buffered before writing: events are short, and one call for each would be slow. */
const CHUNK_CHARS = 64 * 1024;

/** Writes `pieces` to the file at `path`, mode 0600 like all our files; refuses logs. */
export async function writeOutput(
  path: string,
  pieces: AsyncIterable<string> | readonly string[],
  logPaths: readonly string[],
): Promise<void> {
  const full = resolve(path);
  await refuseTarget(full, logPaths);
  try {
    await writeUserFile(nodeHost.files, full, "new", (file) => writePieces(file, pieces));
  } catch (cause) {
    throw ioError(full, "writing", cause);
  }
}

async function writePieces(
  file: OpenFile,
  pieces: AsyncIterable<string> | readonly string[],
): Promise<void> {
  let text = "";
  for await (const piece of pieces) {
    text += piece;
    if (text.length < CHUNK_CHARS) continue;
    writeAll(file, Buffer.from(text));
    text = "";
  }
  writeAll(file, Buffer.from(text));
}

async function refuseTarget(path: string, logPaths: readonly string[]): Promise<void> {
  const target = statOf(path);
  if (target && !target.isFile()) {
    throw new UsageError(`${path} exists and is not a file; choose another name`);
  }
  const logs = target === undefined ? [] : logPaths.map(statOf);
  if (logs.some((log) => log?.ino === target?.ino && log?.dev === target?.dev)) {
    throw new UsageError(`${path} is the log itself; choose another file`);
  }
  await refuseLogPlace(path);
}

/** Refuses a path of a log's files as output (LP1). */
export async function refuseLogPlace(path: string): Promise<void> {
  if (!(await isLogPlace(path))) return;
  throw new UsageError(`${path} belongs to a log or is next to one; choose another file`);
}

/** Creates the file, durably; refuses an existing path. */
export async function writeNewFile(path: string, text: string | Uint8Array): Promise<void> {
  const full = resolve(path);
  try {
    const directory = await nodeHost.files.openDirectory(dirname(full), { create: false });
    try {
      await writeIn(directory, basename(full), typeof text === "string" ? Buffer.from(text) : text);
    } finally {
      directory.close();
    }
  } catch (cause) {
    if (errnoOf(cause) !== "EEXIST") throw ioError(full, "writing", cause);
    throw new UsageError(`${path} exists already; choose another name`);
  }
}

async function writeIn(directory: Directory, name: string, bytes: Uint8Array): Promise<void> {
  const file = directory.open(name, "new");
  try {
    writeAll(file, bytes);
    await file.sync();
  } catch (cause) {
    directory.remove(name);
    throw cause;
  } finally {
    file.close();
  }
  await directory.sync();
}
