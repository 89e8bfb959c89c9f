/** Open sessions: what removing sessions of a store needs of it, and those that it has locked. */

import { join } from "node:path";
import { errnoOf } from "../../core/base/errors.ts";
import type { Directory } from "../../core/base/files.ts";
import type { Host } from "../../core/base/host.ts";
import type { Burial } from "../../trust/heads/tombstones.ts";
import type { Pin } from "../../trust/proof/pin.ts";
import { atOnce, type Removal } from "./trash.ts";

/** What removing and restoring sessions of one store needs. */
export interface Removing {
  readonly host: Host;
  readonly root: string;
  /** The agent's own file of a session, if it is there; null: this is no store of the guard. */
  readonly agentFile: ((id: string) => string | null) | null;
  /** The files of a session, by folder; the caller asks again when it has their lock. */
  readonly filesOf: (session: SessionName) => readonly SessionFiles[];
  /** Keeps writers from the session of this log; refuses with LOG_LOCKED. */
  readonly lock: (folder: Directory, logName: string) => Promise<Locked>;
  /** Tombstones of the heads that are pinned of these. */
  readonly sign: (signed: readonly SessionName[], burial: Burial) => Promise<readonly Pin[]>;
  /** Says outside of the store that sessions are removed, and takes it back for one. */
  readonly bury: (removals: readonly Removal[]) => Promise<void>;
  readonly exhume: (removal: Removal) => Promise<void>;
  /** Removes the sessions from the indexes that have text of them. */
  readonly clean: (removals: readonly Removal[]) => Promise<void>;
}

export interface SessionName {
  readonly dialect: string;
  readonly id: string;
}

/** Files of a session in one folder. */
export interface SessionFiles {
  /** Below the root. */
  readonly folder: string;
  readonly logName: string;
  readonly isOwn: (name: string) => boolean;
  /** The names of files as pinned heads have them. */
  readonly signed: readonly SessionName[];
}

export interface Locked {
  close(): void | Promise<void>;
}

/** The folders of sessions, each opened once, and the locks on their logs. */
export class OpenSessions {
  readonly #removing: Removing;
  readonly #folders = new Map<string, Directory>();
  readonly #locks: Locked[] = [];

  constructor(removing: Removing) {
    this.#removing = removing;
  }

  /** Null: it is missing. */
  folder(path: string): Promise<Directory | null> {
    return this.made(path, false).catch((cause) => {
      if (errnoOf(cause) === "ENOENT") return null;
      throw cause;
    });
  }

  async made(path: string, create = true): Promise<Directory> {
    const { host, root } = this.#removing;
    let folder = this.#folders.get(path);
    folder ??= await host.files.openDirectory(join(root, path), { create, root });
    this.#folders.set(path, folder);
    return folder;
  }

  async lock(path: string, logName: string): Promise<void> {
    const folder = await this.folder(path);
    if (folder) this.#locks.push(await this.#removing.lock(folder, logName));
  }

  /** Makes it durable that files are gone. */
  async sync(): Promise<void> {
    await atOnce([...this.#folders.values()], (folder) => folder.sync());
  }

  async close(): Promise<void> {
    for (const lock of this.#locks.splice(0)) await lock.close();
    for (const folder of this.#folders.values()) folder.close();
    this.#folders.clear();
  }
}
