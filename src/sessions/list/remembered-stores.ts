/**
 * Remembered stores: where this user recorded sessions, so that every command finds them, whatever
 * its directory is. One line for each store. Format: docs/formats/stores.md.
 *
 * - Remembering never fails an append, and no append waits for it.
 * - A store whose directory is gone is not returned. Its line is removed when another is added.
 */

import { randomUUID } from "node:crypto";
import { constants, statSync } from "node:fs";
import { appendFile, mkdir, realpath, rename, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { dirname, isAbsolute, sep } from "node:path";
import { storesPath } from "../../core/base/node-paths.ts";
import { readUserFile } from "../../core/base/node-user-files.ts";

export interface RememberedStore {
  readonly dialect: string;
  /** The real path of its root. */
  readonly root: string;
}

/** Of more, the oldest are forgotten. */
export const STORES_MAX = 1000;
const BYTES_MAX = 8 * 1024 * 1024;
const VERSION = 1;
const { O_WRONLY, O_CREAT, O_APPEND, O_NOFOLLOW } = constants;

/** A line of the file; null: not a store, such as a line of a later version. It stays. */
interface StoreLine {
  readonly line: string;
  readonly store: RememberedStore | null;
}

/** The stores whose directories are there, without those that are remembered twice. */
export function rememberedStores(): RememberedStore[] {
  if (!isRemembering()) return [];
  const stores = new Map<string, RememberedStore>();
  for (const { store } of linesOf(readStores() ?? "")) {
    if (store && isDirectory(store.root)) stores.set(keyOf(store), store);
  }
  return [...stores.values()].slice(-STORES_MAX);
}

/**
 * Remembers a store, unless it is in the temporary directory. Two processes that do it at once may
 * lose the line of one, if another line is removed: it is written when its store is opened again.
 */
export async function rememberStore(dialect: string, root: string): Promise<void> {
  try {
    if (!isRemembering()) return;
    const store = { dialect, root: await realpath(root) };
    const temporary = await realpath(tmpdir()).catch(() => tmpdir());
    if (`${store.root}${sep}`.startsWith(`${temporary}${sep}`)) return;
    const text = readStores();
    if (text === null) return;
    const lines = linesOf(text);
    if (lines.some((each) => each.store && keyOf(each.store) === keyOf(store))) return;
    const line = JSON.stringify({ v: VERSION, at: new Date().toISOString(), ...store });
    const rest = lines.filter((each) => !each.store || isDirectory(each.store.root));
    const isWhole = text === "" || text.endsWith("\n");
    if (isWhole && rest.length === lines.length && lines.length < STORES_MAX) await append(line);
    else await replace([...rest.slice(1 - STORES_MAX).map((each) => each.line), line]);
  } catch {
    // The sessions are where they are; the next opening tries again.
  }
}

async function append(line: string): Promise<void> {
  await mkdir(dirname(storesPath()), { recursive: true, mode: 0o700 });
  const flag = O_WRONLY | O_CREAT | O_APPEND | O_NOFOLLOW;
  await appendFile(storesPath(), `${line}\n`, { mode: 0o600, flag });
}

async function replace(lines: readonly string[]): Promise<void> {
  const temporary = `${storesPath()}.${randomUUID()}.tmp`;
  const text = lines.map((line) => `${line}\n`).join("");
  await writeFile(temporary, text, { mode: 0o600, flag: "wx" });
  await rename(temporary, storesPath());
}

/** Not in CI, where homes may be shared and directories are temporary. */
function isRemembering(): boolean {
  const { VERBATIM_REMEMBER, CI = "" } = process.env;
  return VERBATIM_REMEMBER !== "0" && ["", "0", "false"].includes(CI);
}

/** Null for a file that is not ours alone to change, too large, or unreadable. */
function readStores(): string | null {
  try {
    const file = readUserFile(storesPath(), { bytesMax: BYTES_MAX, access: "own" });
    return file === null ? "" : file.text;
  } catch {
    return null; // Sessions are found from their own directories.
  }
}

function linesOf(text: string): StoreLine[] {
  const lines = text.split("\n").filter((line) => line !== "");
  return lines.map((line) => ({ line, store: storeIn(line) }));
}

function storeIn(line: string): RememberedStore | null {
  try {
    const { v, dialect, root } = JSON.parse(line);
    const isStore = v === VERSION && typeof dialect === "string" && isAbsolute(root);
    return isStore ? { dialect, root } : null;
  } catch {
    return null;
  }
}

function keyOf({ dialect, root }: RememberedStore): string {
  return `${dialect}\0${root}`;
}

function isDirectory(path: string): boolean {
  try {
    return statSync(path, { throwIfNoEntry: false })?.isDirectory() ?? false;
  } catch {
    return false; // Not permitted, or below a file.
  }
}
