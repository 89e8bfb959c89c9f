/**
 * Pool: a bounded number of open sessions, for APIs whose callers never close a session.
 *
 * A session in use is never closed; above the limit, the least recently used one is. Open sessions
 * do not keep the process alive.
 */

import { VerbatimError } from "../../core/base/errors.ts";
import type { NewEntry } from "../../core/model/entry.ts";
import type { Session } from "./session.ts";

/** Each open session holds three to five files. */
const OPEN_SESSIONS_MAX = 64;

/** One session of a pool, opened by its first append. */
export interface PooledSession {
  /** Appends a neutral entry; resolves once it is durable. */
  append(entry: NewEntry): Promise<void>;
}

interface Pooled {
  readonly session: Session;
  users: number;
  /** Its writer has failed: the next use reopens the log, which recovers it. */
  hasFailed: boolean;
}

export class SessionPool {
  readonly #open: (id: string) => Session;
  readonly #openMax: number;
  /** The least recently used first. */
  readonly #pooled = new Map<string, Pooled>();
  readonly #closing = new Set<Promise<void>>();

  constructor(open: (id: string) => Session, openMax = OPEN_SESSIONS_MAX) {
    this.#open = open;
    this.#openMax = openMax;
  }

  /** Runs `use` on the session, which stays open for the next call. */
  async with<T>(id: string, use: (session: Session) => Promise<T>): Promise<T> {
    const pooled = this.#pooled.get(id) ?? this.#start(id);
    this.#pooled.delete(id);
    this.#pooled.set(id, pooled);
    pooled.users++;
    try {
      return await use(pooled.session);
    } catch (cause) {
      if (cause instanceof VerbatimError && cause.code === "LOG_WRITER_FAILED") {
        pooled.hasFailed = true;
        if (this.#pooled.get(id) === pooled) this.#pooled.delete(id);
      }
      throw cause;
    } finally {
      pooled.users--;
      if (pooled.hasFailed && pooled.users === 0) this.#release(pooled.session);
      this.#closeIdle();
    }
  }

  session(id: string): PooledSession {
    return {
      append: async (entry) => {
        await this.with(id, (session) => session.append(entry));
      },
    };
  }

  /** Closes every session once it is no longer in use. */
  async close(): Promise<void> {
    for (const { session } of this.#pooled.values()) this.#release(session);
    this.#pooled.clear();
    await Promise.all(this.#closing);
  }

  #start(id: string): Pooled {
    return { session: this.#open(id), users: 0, hasFailed: false };
  }

  #closeIdle(): void {
    for (const [id, { session, users }] of this.#pooled) {
      if (this.#pooled.size <= this.#openMax) return;
      if (users > 0) continue;
      this.#pooled.delete(id);
      this.#release(session);
    }
  }

  #release(session: Session): void {
    // A failed close was already reported to the caller whose append failed.
    const closed = session
      .release()
      .catch(() => {})
      .finally(() => this.#closing.delete(closed));
    this.#closing.add(closed);
  }
}
