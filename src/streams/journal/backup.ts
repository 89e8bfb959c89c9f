/**
 * Backup: copies a data directory while a server writes to it.
 *
 * Files of the directory only grow, and the journal has everything added since the last write-back
 * in `meta.jsonl`. So the copy is of one moment if its parts are taken in this order:
 *
 * 1. a hold on `meta.jsonl`: during it no journal segment is deleted
 * 2. `meta.jsonl`, up to its last write-back
 * 3. the files of streams: they have all that the write-back covers, and maybe more
 * 4. the journal, to its end: it has all that the files have more
 *
 * Everything acknowledged before it began is in it, and nothing that a server with the same
 * journal would not have shown.
 *
 * The hold is a kernel lock: it ends with this process, however that ends.
 *
 * When it resolves, the copy is durable, was opened, and its journal was replayed.
 *
 * Names that begin with a dot are not copied. If the directory is also the home of the
 * server's user, as under systemd, the signing key and the pins are there: with a copy of
 * both, its holder could sign data and hide missing data.
 */

import { readdirSync } from "node:fs";
import { setTimeout } from "node:timers/promises";
import { errnoOf, ioError, VerbatimError } from "../../core/base/errors.ts";
import { openIfThere, writeAtOnce } from "../../core/base/file-steps.ts";
import type { Directory, OpenFile } from "../../core/base/files.ts";
import type { Host } from "../../core/base/host.ts";
import { readChunks } from "../../core/log/bytes.ts";
import { openLocalStore } from "../files/local-store.ts";
import type { StreamHead } from "../files/stream-store.ts";
import { scanJournal } from "./journal-scan.ts";
import { MetaFile } from "./meta-file.ts";

export interface BackupOptions {
  readonly host: Host;
  /** The data directory, in use or not. */
  readonly from: string;
  /** Created if missing; refused unless it is empty. */
  readonly to: string;
  /** How many bytes were copied so far. */
  readonly onProgress?: ((bytes: number) => void) | undefined;
}

export interface BackupReport {
  readonly streams: number;
  readonly bytes: number;
}

const HOLD_POLL_MS = 1;
const SYNCS_AT_ONCE = 3;
const COUNTED_TOGETHER = 1000;
const [META, LOGS, JOURNAL] = ["meta.jsonl", "logs", "journal"];
/** Files of one process, files that can be rebuilt, files copied before, and dot files. */
const NOT_COPIED = /^(?:streams\.(?:lock|db|mark).*|meta\.jsonl|logs|journal|\..*)$/;

const NAME_IT = "; name the data directory of a server with --data";

export async function backUp(options: BackupOptions): Promise<BackupReport> {
  const { host, from, to, onProgress = () => {} } = options;
  const source = new Tree(host, from, false);
  const target = new Tree(host, to, true);
  const copying = new Copying(source, target, onProgress);
  try {
    await copying.run();
  } catch (cause) {
    throw errnoOf(cause) === "UNKNOWN" ? cause : ioError(from, "backup", cause);
  } finally {
    source.close();
    target.close();
  }
  return { streams: await carriedOut(host, to), bytes: copying.bytes };
}

/** A directory and its subdirectories, each opened once; by relative path. */
class Tree {
  readonly path: string;
  readonly #host: Host;
  readonly #create: boolean;
  readonly #opened = new Map<string, Directory>();

  constructor(host: Host, path: string, create: boolean) {
    this.path = path;
    this.#host = host;
    this.#create = create;
  }

  async open(below: string): Promise<Directory> {
    const openedDirectory = this.#opened.get(below);
    if (openedDirectory !== undefined) return openedDirectory;
    const path = below === "" ? this.path : `${this.path}/${below}`;
    const directory = await this.#host.files.openDirectory(path, { create: this.#create });
    this.#opened.set(below, directory);
    return directory;
  }

  close(): void {
    for (const directory of this.#opened.values()) directory.close();
  }
}

class Copying {
  readonly #from: Tree;
  readonly #to: Tree;
  readonly #onProgress: (bytes: number) => void;
  /** How much of each file was copied, by directory and name. */
  readonly #copied = new Map<string, Map<string, number>>();
  bytes = 0;

  constructor(from: Tree, to: Tree, onProgress: (bytes: number) => void) {
    this.#from = from;
    this.#to = to;
    this.#onProgress = onProgress;
  }

  async run(): Promise<void> {
    await this.#refuse();
    await this.#copyGrowthOf(LOGS); // Almost everything, so that the hold is short.
    await this.#copyWhatChanges();
    await this.#copyOthers("");
    await this.#sync();
  }

  async #refuse(): Promise<void> {
    (await this.#openMeta()).close();
    if (`${this.#to.path}/`.startsWith(`${this.#from.path}/`)) {
      throw refused(this.#to.path, "it is inside the directory to be copied");
    }
    if ((await this.#to.open("")).names().length > 0) {
      throw refused(this.#to.path, "it is not empty; choose an empty or new directory");
    }
  }

  async #openMeta(): Promise<MetaFile> {
    const directory = await this.#from.open("").catch((cause: unknown) => {
      const isMissing = errnoOf(cause instanceof VerbatimError ? cause.cause : cause) === "ENOENT";
      throw isMissing ? refused(this.#from.path, `there is no such directory${NAME_IT}`) : cause;
    });
    const isThere = directory.names().includes(META);
    const meta = isThere ? await MetaFile.openToRead(directory) : null;
    if (meta !== null) return meta;
    const state = isThere ? "its meta.jsonl is empty" : "it has no meta.jsonl";
    throw refused(directory.path, state + NAME_IT);
  }

  /** All four parts. */
  async #copyWhatChanges(): Promise<void> {
    const hold = await this.#openMeta();
    try {
      while (!hold.tryHold()) await setTimeout(HOLD_POLL_MS);
      const meta = await this.#openMeta(); // As it is now.
      meta.close();
      await this.#copyGrowth("", META, meta.end);
      await this.#copyGrowthOf(LOGS);
      await this.#copyGrowthOf(JOURNAL);
      await scanJournal(await this.#to.open(JOURNAL), meta.storeId, meta.writtenBackLsn);
    } finally {
      hold.close();
    }
  }

  /** In the order of names, which is the order of the journal's segments. */
  async #copyGrowthOf(below: string): Promise<void> {
    const directory = await this.#from.open(below);
    for (const name of directory.names().sort()) await this.#copyGrowth(below, name);
  }

  /** Copies what a file has grown by, up to `end`. */
  async #copyGrowth(below: string, name: string, end?: number): Promise<void> {
    const file = openIfThere(await this.#from.open(below), name);
    if (file === null) return; // Its stream was deleted long ago.
    try {
      const done = this.#copied.get(below)?.get(name);
      const to = end ?? file.size();
      if (done === undefined || to > done) await this.#copy(file, done ?? 0, to, below, name);
    } finally {
      file.close();
    }
  }

  async #copy(
    file: OpenFile,
    from: number,
    to: number,
    below: string,
    name: string,
  ): Promise<void> {
    const copy = (await this.#to.open(below)).open(name, "update");
    let at = from;
    try {
      for await (const chunk of readChunks(file, from, to)) {
        writeAtOnce(copy, chunk, at);
        at += chunk.length;
        this.bytes += chunk.length;
        this.#onProgress(this.bytes);
      }
    } finally {
      copy.close();
    }
    const copied = this.#copied.get(below) ?? new Map<string, number>();
    this.#copied.set(below, copied.set(name, at));
  }

  /** Other files of the server: tokens, webhook keys. Each is replaced atomically. */
  async #copyOthers(below: string): Promise<void> {
    const { path } = await this.#from.open(below);
    for (const entry of readdirSync(path, { withFileTypes: true })) {
      const name = below === "" ? entry.name : `${below}/${entry.name}`;
      if (NOT_COPIED.test(name)) continue;
      if (entry.isDirectory()) await this.#copyOthers(name);
      if (entry.isFile()) await this.#copyGrowth(below, entry.name);
    }
  }

  async #sync(): Promise<void> {
    for (const [below, files] of this.#copied) {
      const directory = await this.#to.open(below);
      const there = new Set(directory.names());
      const left = [...files.keys()].filter((name) => there.has(name)).values();
      const syncSome = async () => {
        for (const name of left) await syncFile(directory, name);
      };
      await Promise.all(Array.from({ length: SYNCS_AT_ONCE }, syncSome));
      await directory.sync();
    }
    const root = await this.#to.open("");
    await root.sync();
    await root.syncAncestors();
  }
}

/** Opens the copy once, which replays its journal, and counts its contents. */
async function carriedOut(host: Host, path: string): Promise<number> {
  const store = await openLocalStore({ dataDirectory: path, host });
  try {
    let count = 0;
    for (let after: string | undefined = ""; after !== undefined; ) {
      const heads: readonly StreamHead[] = await store.list({ after, limit: COUNTED_TOGETHER });
      count += heads.length;
      after = heads.at(-1)?.path;
    }
    return count;
  } finally {
    await store.close();
  }
}

async function syncFile(directory: Directory, name: string): Promise<void> {
  const file = directory.open(name, "read");
  try {
    await file.sync();
  } finally {
    file.close();
  }
}

function refused(path: string, reason: string): VerbatimError {
  const message = `backup failed for ${path}: ${reason}`;
  return new VerbatimError("BACKUP_REFUSED", message, { path, reason });
}
