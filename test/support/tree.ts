/** A tree: everything below a directory, so that a test can tell whether anything was changed. */

import { createHash } from "node:crypto";
import { lstatSync, readdirSync, readFileSync, readlinkSync } from "node:fs";
import { join } from "node:path";
import { setImmediate } from "node:timers/promises";
import { setFlagsFromString } from "node:v8";
import { runInNewContext } from "node:vm";

setFlagsFromString("--expose-gc");
const collectGarbage = runInNewContext("gc") as (options?: { type: "minor" }) => void;
const COLLECTIONS_MAX = 20;
/** New objects alone: enough for what was just closed, and a tenth of the time. */
const MINOR_FIRST = 3;

/** By path: kind, permissions, time of the last change, and of what is in it a hash. */
export function treeAt(root: string): Record<string, string> {
  const tree: Record<string, string> = {};
  for (const name of ["", ...readdirSync(root, { recursive: true, encoding: "utf8" })].sort()) {
    const path = join(root, name);
    const { mode, mtimeMs, size } = lstatSync(path);
    tree[name] = `${mode.toString(8)} ${mtimeMs} ${size} ${contentOf(path)}`;
  }
  return tree;
}

/** The same, once SQLite is done with what this process wrote there. */
export async function settledTreeAt(root: string): Promise<Record<string, string>> {
  await settle(root);
  return treeAt(root);
}

/**
 * Waits until SQLite has let go of closed databases and has tidied up after them: it does so only
 * when the statements of one have been collected as garbage.
 */
async function settle(root: string): Promise<void> {
  const isTidy = () =>
    !readdirSync(root, { recursive: true }).some((name) => /-wal$/.test(`${name}`));
  for (let n = 0; n < COLLECTIONS_MAX && !isTidy(); n++) {
    if (n < MINOR_FIRST) collectGarbage({ type: "minor" });
    else collectGarbage();
    await setImmediate();
  }
}

/**
 * Only what the files hold, by path, once SQLite is done with them; without its shared memory, into
 * which it writes when any connection of this process reads.
 */
export async function contentsAt(root: string): Promise<Record<string, string>> {
  await settle(root);
  const contents: Record<string, string> = {};
  for (const name of readdirSync(root, { recursive: true, encoding: "utf8" })) {
    if (!name.endsWith("-shm")) contents[name] = contentOf(join(root, name));
  }
  return contents;
}

function contentOf(path: string): string {
  const found = lstatSync(path);
  if (found.isSymbolicLink()) return readlinkSync(path);
  return found.isFile() ? createHash("sha256").update(readFileSync(path)).digest("hex") : "";
}
