/**
 * Output file: a result written to a file of the user's, whole or not at all.
 *
 * OF1  Until everything is written and synced, what stood there before stands there still.
 * OF2  The log that is read is never what is written, by whatever name or link; nor is what is kept
 *      of any other (listing/log-places.ts, LP1).
 * OF3  What is no file (a device, a directory) is not replaced by one.
 */

import { randomUUID } from "node:crypto";
import { statSync } from "node:fs";
import { basename, dirname, resolve } from "node:path";
import { ioError } from "../base/errors.ts";
import type { OpenFile } from "../base/files.ts";
import { nodeHost } from "../base/node-host.ts";
import { UsageError } from "../command/command.ts";
import { isLogPlace } from "../listing/log-places.ts";

/** Gathered before it is written: events are short, and a call for each would show. */
const CHUNK_CHARS = 64 * 1024;

/** Puts `pieces` into the file at `path`, 0600 as all we write; refuses logs (OF2). */
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
        await writeAll(file, pieces);
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

async function writeAll(file: OpenFile, pieces: AsyncIterable<string>): Promise<void> {
  let text = "";
  for await (const piece of pieces) {
    text += piece;
    if (text.length < CHUNK_CHARS) continue;
    writeText(file, text);
    text = "";
  }
  writeText(file, text);
}

/** A write may be short; what a full disk refuses, it refuses of the rest. */
function writeText(file: OpenFile, text: string): void {
  let bytes = Buffer.from(text);
  while (bytes.length > 0) bytes = bytes.subarray(file.write(bytes));
}

function refuseTarget(path: string, logPath: string): void {
  const [target, log] = [path, logPath].map((each) => statSync(each, { throwIfNoEntry: false }));
  if (target && !target.isFile()) {
    throw new UsageError(`${path} exists and is not a file; choose another name`);
  }
  if (target && log && target.ino === log.ino && target.dev === log.dev) {
    throw new UsageError(`${path} is the log itself; choose another file`);
  }
  refuseLogPlace(path);
}

/** For what a user wants written or appended to (LP1). */
export function refuseLogPlace(path: string): void {
  if (!isLogPlace(path)) return;
  throw new UsageError(`${path} belongs to a log or is next to one; choose another file`);
}
