/**
 * Trash: the removed sessions of one store, in `.verbatim/trash` of its root. Format:
 * docs/formats/trash.md.
 *
 * - A removal is decided by its record, which is durable before anything is removed. Without it, files
 *   in the trash are left over.
 * - Files are copied, not renamed: a writer that has the old file open notices that it is gone, and
 *   acknowledges nothing more.
 * - The lock of the trash is held for every change in it.
 */

import { createHash } from "node:crypto";
import { existsSync, lstatSync, lutimesSync } from "node:fs";
import { join } from "node:path";
import { errnoOf } from "../../core/base/errors.ts";
import { openAgain, openIfThere, writeAll } from "../../core/base/file-steps.ts";
import type { Directory } from "../../core/base/files.ts";
import type { Host } from "../../core/base/host.ts";
import { readSmallFile, replaceFileDurably } from "../../core/base/replace.ts";
import { readChunks } from "../../core/log/bytes.ts";
import { LogLock } from "../../core/log/lock.ts";
import { makeOwnDirectory } from "../../sessions/store/session-ids.ts";
import { isObject } from "../../trust/proof/claims.ts";
import { type Pin, pinFields, readPin } from "../../trust/proof/pin.ts";

const TRASH_PATH = ".verbatim/trash";
const RECORD = ".json";
const LOCK_WAIT_MS = 10_000;
/** A disk syncs several files in about the time of one. */
const SYNCS_AT_ONCE = 8;

export interface RemovedFile {
  readonly name: string;
  readonly bytes: number;
  readonly sha256: string;
}

/** `removing`, `restoring`: not finished. `trash`: it can be restored until `until`. */
export interface Removal {
  readonly state: "removing" | "trash" | "restoring";
  readonly at: string;
  readonly by: string;
  readonly reason: string;
  /** Null: for good, so nothing was copied. */
  readonly until: string | null;
  readonly dialect: string;
  readonly id: string;
  /** Where the files were, below the root. */
  readonly folder: string;
  /** The log first. */
  readonly files: readonly RemovedFile[];
  readonly tombstones: readonly Pin[];
  /** Lines of the user's file of notes about it. */
  readonly notes: readonly string[];
}

/** A removal, and its name in the trash. */
export interface TrashEntry {
  readonly key: string;
  readonly removal: Removal;
}

export function trashPath(root: string): string {
  return join(root, TRASH_PATH);
}

export function hasTrash(root: string): boolean {
  return existsSync(trashPath(root));
}

export class Trash {
  readonly #directory: Directory;

  private constructor(directory: Directory) {
    this.#directory = directory;
  }

  /** Runs `work` with the lock of the trash held; makes a missing trash. */
  static async locked<T>(host: Host, root: string, work: (trash: Trash) => Promise<T>): Promise<T> {
    await makeOwnDirectory(host, root, TRASH_PATH);
    const directory = await host.files.openDirectory(trashPath(root), { create: true, root });
    try {
      const lock = new LogLock(host, directory, "trash");
      try {
        await lock.acquire(LOCK_WAIT_MS);
        return await work(new Trash(directory));
      } finally {
        lock.close();
      }
    } finally {
      directory.close();
    }
  }

  /** What a store's trash has, without its lock; null for a record that cannot be understood. */
  static async read(
    host: Host,
    root: string,
  ): Promise<{ readonly path: string; readonly entry: TrashEntry | null }[]> {
    if (!hasTrash(root)) return [];
    const directory = await host.files.openDirectory(trashPath(root), { create: false, root });
    try {
      return await new Trash(directory).entries();
    } finally {
      directory.close();
    }
  }

  async entries(): Promise<{ readonly path: string; readonly entry: TrashEntry | null }[]> {
    const names = this.#directory.names().filter((name) => name.endsWith(RECORD));
    const entries: { path: string; entry: TrashEntry | null }[] = [];
    for (const name of names.sort()) {
      const text = await readSmallFile(this.#directory, name);
      const removal = text === null ? null : removalIn(text);
      const key = name.slice(0, -RECORD.length);
      entries.push({ path: join(this.#directory.path, name), entry: removal && { key, removal } });
    }
    return entries;
  }

  async write({ key, removal }: TrashEntry): Promise<void> {
    const { tombstones, notes, ...rest } = removal;
    const lines = { tombstones: tombstones.map(pinFields), ...(notes.length > 0 && { notes }) };
    const record = { verbatim: "removal", v: 1, ...rest, ...lines };
    await replaceFileDurably(this.#directory, key + RECORD, `${JSON.stringify(record)}\n`);
  }

  /** Copies a file into the trash, as file `n` of a removal. */
  takeIn(from: Directory, name: string, key: string, n: number): Promise<RemovedFile> {
    return copyFile(from, name, this.#directory, `${key}.${n}`);
  }

  /** Copies file `n` of a removal back. */
  async giveBack(key: string, n: number, to: Directory, name: string): Promise<void> {
    await copyFile(this.#directory, `${key}.${n}`, to, name);
  }

  /** Whether all files of a removal are there. */
  isWhole({ key, removal }: TrashEntry): boolean {
    return removal.files.every(({ bytes }, n) => {
      const file = openIfThere(this.#directory, `${key}.${n}`);
      const size = file?.size();
      file?.close();
      return size === bytes;
    });
  }

  /** Removes the records of removals, then their files: a record never lacks what it promises. */
  async drop(removals: readonly { readonly key: string }[]): Promise<void> {
    if (removals.length === 0) return;
    const keys = new Set(removals.map(({ key }) => key));
    const names = this.#directory.names().filter((name) => keys.has(keyOf(name)));
    for (const isRecord of [true, false]) {
      for (const name of names.filter((each) => each.endsWith(RECORD) === isRecord)) {
        removeIfThere(this.#directory, name);
      }
      await this.#directory.sync();
    }
  }

  /** Removes files without a record: they were copied by a process that was killed. */
  async dropUnrecorded(): Promise<void> {
    const names = this.#directory.names();
    const keys = new Set(names.filter((name) => name.endsWith(RECORD)).map(keyOf));
    const unrecorded = names.filter((name) => FILE.test(name) && !keys.has(keyOf(name)));
    for (const name of unrecorded) removeIfThere(this.#directory, name);
    if (unrecorded.length > 0) await this.#directory.sync();
  }

  /** Makes the copies of a removal durable. */
  sync(): Promise<void> {
    return this.#directory.sync();
  }
}

/** A key is a time and random digits; so no other file is taken for a removal's. */
const FILE = /^\d{8}T\d{6}-[0-9a-f]{8}\.(\d+|\d+\.tmp|json\.tmp)$/;

function keyOf(name: string): string {
  return name.slice(0, name.indexOf("."));
}

/** Works on several at once; all have ended when it resolves, or throws. */
export async function atOnce<T, R>(
  items: readonly T[],
  work: (item: T) => Promise<R>,
): Promise<R[]> {
  const results: R[] = [];
  const rest = items.entries();
  const workers = Array.from({ length: SYNCS_AT_ONCE }, async () => {
    for (const [n, item] of rest) results[n] = await work(item);
  });
  const failure = (await Promise.allSettled(workers)).find(({ status }) => status === "rejected");
  if (failure?.status === "rejected") throw failure.reason;
  return results;
}

/** A name for a removal; later ones sort after earlier ones. */
export function newTrashKey(nowMs: number, random: string): string {
  const time = new Date(nowMs).toISOString().replace(/[-:]|\.\d+Z$/g, "");
  return `${time}-${random}`;
}

/** The file has its name once it is whole and synced, with the modification time of the other. */
async function copyFile(
  from: Directory,
  name: string,
  to: Directory,
  toName: string,
): Promise<RemovedFile> {
  const source = from.open(name, "read");
  try {
    const copy = openAgain(to, `${toName}.tmp`);
    let hashed: RemovedFile;
    try {
      hashed = await hashOf(name, readChunks(source, 0, source.size()), (chunk) => {
        writeAll(copy, chunk);
      });
      await copy.sync();
    } catch (cause) {
      removeIfThere(to, `${toName}.tmp`);
      throw cause;
    } finally {
      copy.close();
    }
    const { atime, mtime } = lstatSync(join(from.path, name));
    lutimesSync(join(to.path, `${toName}.tmp`), atime, mtime);
    to.rename(`${toName}.tmp`, toName);
    return hashed;
  } finally {
    source.close();
  }
}

/** Length and hash of a file; null if there is none. */
export async function fileFacts(directory: Directory, name: string): Promise<RemovedFile | null> {
  const file = openIfThere(directory, name);
  try {
    return file && (await hashOf(name, readChunks(file, 0, file.size()), () => {}));
  } finally {
    file?.close();
  }
}

async function hashOf(
  name: string,
  chunks: AsyncIterable<Uint8Array>,
  onChunk: (chunk: Uint8Array) => void,
): Promise<RemovedFile> {
  const hash = createHash("sha256");
  let bytes = 0;
  for await (const chunk of chunks) {
    hash.update(chunk);
    bytes += chunk.length;
    onChunk(chunk);
  }
  return { name, bytes, sha256: hash.digest("hex") };
}

export function removeIfThere(directory: Directory, name: string): void {
  try {
    directory.remove(name);
  } catch (cause) {
    if (errnoOf(cause) !== "ENOENT") throw cause;
  }
}

function removalIn(text: string): Removal | null {
  let value: unknown;
  try {
    value = JSON.parse(text);
  } catch {
    return null;
  }
  if (!isObject(value) || value.verbatim !== "removal" || value.v !== 1) return null;
  const { state, at, by, reason, until, dialect, id, folder, files, tombstones } = value;
  const { notes = [] } = value;
  const isText = (each: unknown) => typeof each === "string";
  if (state !== "removing" && state !== "trash" && state !== "restoring") return null;
  if (![at, by, reason, dialect, id, folder].every(isText)) return null;
  if (until !== null && !isText(until)) return null;
  if (!Array.isArray(files) || files.length === 0 || !files.every(isFile)) return null;
  if (!Array.isArray(tombstones)) return null;
  if (!Array.isArray(notes) || !notes.every(isText)) return null;
  const pins = tombstones.map((each) => readPin(each).pin);
  if (pins.some((pin) => pin === null)) return null;
  const removal = { state, at, by, reason, until, dialect, id, folder, files, notes };
  return { ...removal, tombstones: pins } as unknown as Removal;
}

/** A name is one segment: a planted record reaches no file elsewhere. */
function isFile(value: unknown): value is RemovedFile {
  if (!isObject(value)) return false;
  const { name, bytes, sha256 } = value;
  const isName = typeof name === "string" && !name.includes("/") && name !== "" && name !== "..";
  return isName && Number.isSafeInteger(bytes) && /^[0-9a-f]{64}$/.test(String(sha256));
}
