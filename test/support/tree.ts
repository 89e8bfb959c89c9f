/** A tree: everything below a directory, so that a test can detect any change. */

import { createHash } from "node:crypto";
import { lstatSync, readdirSync, readFileSync, readlinkSync } from "node:fs";
import { join } from "node:path";
import { setImmediate } from "node:timers/promises";
import { setFlagsFromString } from "node:v8";
import { runInNewContext } from "node:vm";

setFlagsFromString("--expose-gc");
const collectGarbage = runInNewContext("gc") as (options?: { type: "minor" }) => void;
const COLLECTIONS_MAX = 20;
/** The first collections are minor: enough for what was just closed, in a tenth of the time. */
const MINOR_FIRST = 3;

/** By path: kind, permissions, modification time, and a hash of the content. */
export function treeAt(root: string): Record<string, string> {
  const tree: Record<string, string> = {};
  for (const name of ["", ...readdirSync(root, { recursive: true, encoding: "utf8" })].sort()) {
    const path = join(root, name);
    const { mode, mtimeMs, size } = lstatSync(path);
    tree[name] = `${mode.toString(8)} ${mtimeMs} ${size} ${contentOf(path)}`;
  }
  return tree;
}

/** The same, after SQLite has finished with what this process wrote there. */
export async function settledTreeAt(root: string): Promise<Record<string, string>> {
  await settle(root);
  return treeAt(root);
}

/**
 * Waits until SQLite has released closed databases and cleaned up after them: it does so only when
 * their statements have been garbage collected.
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
 * Only the content of files, by path, after SQLite has finished with them; without its shared memory,
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
