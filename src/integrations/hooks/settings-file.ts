/**
 * Settings file: replaces another program's settings atomically. If the path is a link (settings
 * kept under version control), its target is replaced and the link stays.
 */

import { randomUUID } from "node:crypto";
import {
  chmodSync,
  closeSync,
  existsSync,
  fsyncSync,
  mkdirSync,
  openSync,
  readFileSync,
  realpathSync,
  renameSync,
  rmSync,
  statSync,
  writeFileSync,
} from "node:fs";
import { delimiter, dirname, join } from "node:path";
import { errnoOf, ioError } from "../../core/base/errors.ts";

/** The text; null when there is no such file. */
export function readSettings(path: string): string | null {
  try {
    return readFileSync(path, "utf8");
  } catch (cause) {
    if (errnoOf(cause) === "ENOENT") return null;
    throw ioError(path, "reading", cause);
  }
}

/** Whether a program is in the user's PATH, without the directories that `npx` adds to it. */
export function isInPath(name: string, path: string): boolean {
  const directories = path.split(delimiter).filter((each) => each !== "");
  return directories.some(
    (directory) => !directory.endsWith("node_modules/.bin") && existsSync(join(directory, name)),
  );
}

/** Durable when it resolves. Keeps the old file's permissions; only the user can read a new one. */
export async function replaceSettings(path: string, text: string): Promise<void> {
  try {
    mkdirSync(dirname(path), { recursive: true });
    const stats = statSync(path, { throwIfNoEntry: false });
    const target = stats ? realpathSync(path) : path;
    const draft = `${target}.${randomUUID()}`;
    try {
      writeFileSync(draft, text, { flag: "wx", mode: 0o600, flush: true });
      if (stats) chmodSync(draft, stats.mode & 0o777);
      renameSync(draft, target);
    } catch (cause) {
      rmSync(draft, { force: true });
      throw cause;
    }
    const directory = openSync(dirname(target), "r");
    fsyncSync(directory);
    closeSync(directory);
  } catch (cause) {
    throw ioError(path, "writing", cause);
  }
}
