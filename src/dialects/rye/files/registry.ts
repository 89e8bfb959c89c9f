/**
 * Registry: rye's `registry.db`, a list of a project's threads for other programs.
 *
 * It follows the threads' directories and may be deleted: it is rebuilt from them. A `registry.db`
 * that another program made is never written to.
 */

import {
  type Cache,
  type CacheLook,
  lookIntoCache,
  openCache,
} from "../../../core/sqlite/sqlite.ts";

const SCHEMA = `
CREATE TABLE threads (
  thread_id TEXT PRIMARY KEY,
  directive TEXT NOT NULL,
  status TEXT NOT NULL,
  parent_thread_id TEXT,
  created_at TEXT NOT NULL,
  updated_at TEXT NOT NULL
) WITHOUT ROWID;
`;

const COLUMNS = [
  "thread_id",
  "directive",
  "status",
  "parent_thread_id",
  "created_at",
  "updated_at",
] as const;

const UPSERT = `INSERT OR REPLACE INTO threads VALUES (?, ?, ?, ?, ?, ?)`;

/** A thread's row. */
export interface RegisteredThread {
  readonly thread_id: string;
  readonly status: string;
  readonly directive?: string | null;
  readonly parent_thread_id?: string | null;
  readonly created_at?: string | null;
  readonly updated_at?: string | null;
}

export class Registry {
  readonly #cache: Cache;

  private constructor(cache: Cache) {
    this.#cache = cache;
  }

  /** The registry at `path`; null when it cannot be used, or is not ours. */
  static async open(path: string): Promise<Registry | null> {
    const { cache } = await openCache(path, SCHEMA, { keepsForeign: true });
    return cache && new Registry(cache);
  }

  /** The threads in the registry at `path`; writes nothing, not even next to it. */
  static async look(path: string): Promise<CacheLook<readonly RegisteredThread[]>> {
    const look = await lookIntoCache(path, SCHEMA, "threads", COLUMNS);
    if (look.state !== "ours") return look;
    const seen = look.seen.map((row) => {
      return Object.fromEntries(COLUMNS.map((column, at) => [column, row[at]]));
    });
    return { state: "ours", seen: seen as unknown as RegisteredThread[] };
  }

  /** Whether it is new, or has no threads yet. */
  get isEmpty(): boolean {
    return this.#cache.value("SELECT count(*) FROM threads") === 0;
  }

  put(threads: Iterable<RegisteredThread>): void {
    this.#cache.transaction(() => {
      for (const thread of threads) this.#cache.run(UPSERT, ...threadColumns(thread));
    });
  }

  remove(id: string): void {
    this.#cache.run("DELETE FROM threads WHERE thread_id = ?", id);
  }

  /** Replaces all threads, in one transaction. */
  replaceAll(threads: Iterable<RegisteredThread>): void {
    this.#cache.transaction(() => {
      this.#cache.run("DELETE FROM threads");
      for (const thread of threads) this.#cache.run(UPSERT, ...threadColumns(thread));
    });
  }

  /** Writes a whole copy into the empty file at `path`. */
  copyTo(path: string): void {
    this.#cache.run("VACUUM INTO ?", path);
  }

  close(): void {
    this.#cache.close();
  }
}

/** A thread's columns. */
export function threadColumns(thread: RegisteredThread): readonly (string | null)[] {
  return [
    thread.thread_id,
    thread.directive ?? "",
    thread.status,
    thread.parent_thread_id ?? null,
    thread.created_at ?? "",
    thread.updated_at ?? "",
  ];
}
