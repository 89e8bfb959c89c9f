/**
 * Converted host: presents sessions that are not plain logs as logs, one line for each message.
 *
 * For whole JSON documents, compressed logs and rows of a database. A log is converted when it is
 * opened, in memory; what is opened stays the same until it is closed. Nothing can be written.
 *
 * Two files: a program may have a session in two files next to each other, whose names differ in
 * their endings. It is listed once, with the ending that the program itself prefers.
 */

import { lstatSync, watch } from "node:fs";
import { basename, dirname, join, relative, resolve } from "node:path";
import { errnoOf, VerbatimError } from "../../core/base/errors.ts";
import type { Directory, Files, OpenFile, OpenMode } from "../../core/base/files.ts";
import type { Host } from "../../core/base/host.ts";
import { type FindLogsOptions, iterateLogs, type Layout } from "../find.ts";
import type { FoundLog } from "../session-row.ts";

/** A session as lines. */
export interface ConvertedLog {
  /** Whole lines, each with its LF. */
  readonly bytes: Uint8Array;
  /** The file whose change means that the session may have changed. */
  readonly source: string;
}

/** A session that is a plain log under another name in the same directory. */
export interface RenamedLog {
  readonly plain: string;
}

/**
 * The log at a path below the root, in segments. Null: it is a plain file, or there is none.
 * Throws what the operating system or the database throws.
 */
export type Convert = (root: string, path: readonly string[]) => ConvertedLog | RenamedLog | null;

export function convertedHost(host: Host, root: string, convert: Convert): Host {
  const above = resolve(root);
  const files: Files = {
    makeDirectory: async (path) => {
      throw readOnly(path);
    },
    openDirectory: async (path, options) => {
      const below = relative(above, resolve(path));
      if (below.startsWith("..")) return host.files.openDirectory(path, options);
      const directory = below === "" ? [] : below.split("/");
      const open = async () => host.files.openDirectory(path, { ...options, create: false });
      // A database is a file where the session's path has a directory.
      const real = await open().catch((cause: unknown) => ({ cause }));
      return new ConvertedDirectory(resolve(path), real, (name) =>
        convert(above, [...directory, name]),
      );
    },
  };
  return { ...host, files };
}

class ConvertedDirectory implements Directory {
  readonly path: string;
  readonly networkFileSystem = null;
  readonly #real: Directory | { readonly cause: unknown };
  readonly #convert: (name: string) => ReturnType<Convert>;

  constructor(
    path: string,
    real: Directory | { readonly cause: unknown },
    convert: (name: string) => ReturnType<Convert>,
  ) {
    this.path = path;
    this.#real = real;
    this.#convert = convert;
  }

  open(name: string, mode: OpenMode): OpenFile {
    if (mode !== "read") throw readOnly(`${this.path}/${name}`);
    const log = this.#convert(name);
    if (log !== null && "bytes" in log) return new ConvertedFile(`${this.path}/${name}`, log);
    if ("cause" in this.#real) throw missing(this.#real.cause, `${this.path}/${name}`);
    return this.#real.open(log === null ? name : basename(log.plain), mode);
  }

  names(): string[] {
    return "cause" in this.#real ? [] : this.#real.names();
  }

  watch(name: string, onChange: () => void): () => void {
    const log = this.#convert(name);
    const source = log === null ? undefined : "bytes" in log ? log.source : log.plain;
    if (source === undefined)
      return "cause" in this.#real ? () => {} : this.#real.watch(name, onChange);
    // The directory: a file that is replaced is not followed, and a database has a second file.
    const watcher = watch(dirname(source), { persistent: false }, (_, changed) => {
      if (changed === null || changed.startsWith(basename(source))) onChange();
    });
    watcher.on("error", () => {}); // Only a hint.
    return () => watcher.close();
  }

  remove(name: string): void {
    throw readOnly(`${this.path}/${name}`);
  }
  rename(from: string): void {
    throw readOnly(`${this.path}/${from}`);
  }
  async sync(): Promise<void> {}
  async syncAncestors(): Promise<void> {}
  close(): void {
    if (!("cause" in this.#real)) this.#real.close();
  }
}

class ConvertedFile implements OpenFile {
  readonly #path: string;
  readonly #bytes: Uint8Array;

  constructor(path: string, { bytes }: ConvertedLog) {
    this.#path = path;
    this.#bytes = bytes;
  }

  async read(into: Uint8Array, at: number): Promise<number> {
    const piece = this.#bytes.subarray(at, at + into.length);
    into.set(piece);
    return piece.length;
  }
  size(): number {
    return this.#bytes.length;
  }
  endsAt(size: number): boolean {
    return this.#bytes.length === size;
  }
  identity(): string {
    return this.#path;
  }
  isLinked(): boolean {
    return true;
  }
  tryLock(): boolean {
    return false;
  }
  unlock(): void {}
  close(): void {}
  narrow(): null {
    return null;
  }
  write(): number {
    throw readOnly(this.#path);
  }
  landing(): never {
    throw readOnly(this.#path);
  }
  writeAt(): number {
    throw readOnly(this.#path);
  }
  truncate(): void {
    throw readOnly(this.#path);
  }
  async sync(): Promise<void> {
    throw readOnly(this.#path);
  }
}

/** A database has its sessions and nothing else: no lock, no sidecar. */
function missing(cause: unknown, path: string): unknown {
  if (errnoOf(cause) !== "ENOTDIR") return cause;
  return Object.assign(new Error(`ENOENT: no such session, open '${path}'`), { code: "ENOENT" });
}

function readOnly(path: string): VerbatimError<"BAD_SETTING"> {
  const reason = "sessions of other programs are only read";
  return new VerbatimError("BAD_SETTING", `${path} is not written to: ${reason}`, {
    setting: "dialect",
    from: path,
    reason,
  });
}

export interface Endings {
  readonly preferred: string;
  readonly other: string;
}

/** Lists the logs of a layout, without those that have a preferred one. */
export function logsOnce(layout: Layout, { preferred, other }: Endings) {
  return function* logsIn(root: string, options: FindLogsOptions): Generator<FoundLog> {
    for (const log of iterateLogs(root, layout, options)) {
      const isOther = log.path.endsWith(other);
      const instead = isOther ? log.path.slice(0, -other.length) + preferred : "";
      if (!isOther || !isThere(join(root, instead))) yield log;
    }
  };
}

/** Links count: opening the file refuses them. */
export function isThere(path: string): boolean {
  try {
    return lstatSync(path, { throwIfNoEntry: false }) !== undefined;
  } catch {
    return false; // Below a file, or not permitted: opening it reports that.
  }
}
