/**
 * Output file: writes a result to a user's file, atomically.
 *
 * - Until everything is written and synced, the old file stays in place.
 * - The log that is read is never overwritten, under any name or link; nor are the files of any
 *   other log (listing/log-places.ts, LP1).
 * - A device or a directory is not replaced by a file.
 */

import { randomUUID } from "node:crypto";
import { basename, dirname, resolve } from "node:path";
import { ioError } from "../base/errors.ts";
import type { OpenFile } from "../base/files.ts";
import { nodeHost } from "../base/node-host.ts";
import { UsageError } from "../command/command.ts";
import { writeAll } from "../dialects/files/aside.ts";
import { statOf } from "../listing/find-stores.ts";
import { isLogPlace } from "../listing/log-places.ts";

/** Text is buffered before writing: events are short, and one call for each would be slow. */
const CHUNK_CHARS = 64 * 1024;

/** Writes `pieces` to the file at `path`, mode 0600 like all our files; refuses logs. */
export async function writeWhole(
  path: string,
  pieces: AsyncIterable<string>,
  logPath: string,
): Promise<void> {
  const full = resolve(path);
  refuseTarget(full, logPath);
  const temporary = `.${basename(full).slice(0, 100)}.${randomUUID()}.tmp`;
  try {
    const directory = await nodeHost.files.openDirectory(dirname(full), { create: false });
    try {
      const file = directory.open(temporary, "new");
      try {
        await writePieces(file, pieces);
        await file.sync();
      } catch (cause) {
        directory.remove(temporary);
        throw cause;
      } finally {
        file.close();
      }
      directory.rename(temporary, basename(full));
      await directory.sync();
    } finally {
      directory.close();
    }
  } catch (cause) {
    throw ioError(full, "writing", cause);
  }
}

async function writePieces(file: OpenFile, pieces: AsyncIterable<string>): Promise<void> {
  let text = "";
  for await (const piece of pieces) {
    text += piece;
    if (text.length < CHUNK_CHARS) continue;
    writeAll(file, Buffer.from(text));
    text = "";
  }
  writeAll(file, Buffer.from(text));
}

function refuseTarget(path: string, logPath: string): void {
  const [target, log] = [path, logPath].map(statOf);
  if (target && !target.isFile()) {
    throw new UsageError(`${path} exists and is not a file; choose another name`);
  }
  if (target && log && target.ino === log.ino && target.dev === log.dev) {
    throw new UsageError(`${path} is the log itself; choose another file`);
  }
  refuseLogPlace(path);
}

/** Refuses a path of a log's files as output (LP1). */
export function refuseLogPlace(path: string): void {
  if (!isLogPlace(path)) return;
  throw new UsageError(`${path} belongs to a log or is next to one; choose another file`);
}
