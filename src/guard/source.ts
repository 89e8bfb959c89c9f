/**
 * Source: a session as its program has it, opened without following a link below the root, but one
 * at the program's directory of sessions.
 */

import { lstatSync } from "node:fs";
import { basename, dirname, join } from "node:path";
import { errnoOf, ioError } from "../core/base/errors.ts";
import type { Directory, OpenFile } from "../core/base/files.ts";
import type { Host } from "../core/base/host.ts";
import { dialectNamed } from "../dialects/all.ts";
import { followingHost } from "../dialects/files/moved-directories.ts";
import type { FoundLog } from "../dialects/session-row.ts";

export interface OpenedSource {
  /** The session as its dialect reads it. */
  readonly file: OpenFile;
  /** That is the program's own file. */
  readonly isPlain: boolean;
  /** The program's own file, if there is one and it is another. */
  readonly raw: OpenFile | null;
  /** Null for rows of a database. */
  readonly mode: number | null;
}

/** The identity of a file on disk; a converted session has its path. */
const INODE = /^\d+:\d+$/;

/** The sessions of one program's directory, to be opened. Closing it closes no session. */
export class Sources {
  readonly #dialect: string;
  readonly #root: string;
  readonly #raw: OpenDirectories;
  readonly #read: OpenDirectories;

  constructor(host: Host, dialect: string, root: string) {
    const reading = dialectNamed(dialect).files?.hostFor?.(host, root);
    this.#dialect = dialect;
    this.#root = root;
    const following = followingHost(host, dialect, root);
    this.#raw = new OpenDirectories(following, root, { create: false });
    this.#read = reading ? new OpenDirectories(reading, root, { create: false }) : this.#raw;
  }

  /** Opens a session as its dialect reads it, and as its program wrote it. */
  async open({ id, path }: FoundLog): Promise<OpenedSource> {
    const {
      program,
      naming: { logPath },
    } = dialectNamed(this.#dialect);
    const file = await openAt(this.#read, logPath(id).join("/"));
    try {
      if (program?.changes === "rows") return { file, isPlain: false, raw: null, mode: null };
      const stats = lstatSync(join(this.#root, path));
      // Not by the inode: the program may have replaced the file since it was opened.
      const isOwn = path === logPath(id).join("/") && INODE.test(file.identity());
      const isPlain = isOwn && program?.changes === "grows";
      const raw = isPlain ? null : await openAt(this.#raw, path);
      return { file, isPlain, raw, mode: stats.mode & 0o777 };
    } catch (cause) {
      file.close();
      throw cause;
    }
  }

  close(): void {
    this.#raw.close();
    if (this.#read !== this.#raw) this.#read.close();
  }
}

async function openAt(directories: OpenDirectories, path: string): Promise<OpenFile> {
  const directory = await directories.of(path);
  try {
    return directory.open(basename(path), "read");
  } catch (cause) {
    if (errnoOf(cause) === "ENOENT") throw cause;
    throw ioError(join(directory.path, basename(path)), "opening", cause);
  }
}

export function isGone(path: string): boolean {
  try {
    return lstatSync(path, { throwIfNoEntry: false }) === undefined;
  } catch (cause) {
    return errnoOf(cause) === "ENOTDIR";
  }
}

/** Those below a root that a batch needs, each opened once. */
export class OpenDirectories {
  readonly #host: Host;
  readonly #options: { readonly create: boolean; readonly root: string };
  readonly #opened = new Map<string, Directory>();

  constructor(host: Host, root: string, { create }: { readonly create: boolean }) {
    this.#host = host;
    this.#options = { create, root };
  }

  /** The directory of a path below the root. */
  async of(path: string): Promise<Directory> {
    const below = dirname(path);
    const known = this.#opened.get(below);
    if (known) return known;
    const { files } = this.#host;
    const directory = await files.openDirectory(join(this.#options.root, below), this.#options);
    this.#opened.set(below, directory);
    return directory;
  }

  close(): void {
    for (const directory of this.#opened.values()) directory.close();
  }
}
