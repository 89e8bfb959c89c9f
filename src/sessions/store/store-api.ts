/**
 * Store API: what users see of a store and of a session. The classes have more members, for the
 * rest of the package.
 */

import type { ByteOffset } from "../../core/base/offset.ts";
import type { Native, NewEntry } from "../../core/model/entry.ts";
import type { EntryOptions, StoredEntry } from "../../dialects/files/stored-entries.ts";
import type { AgentName, LayoutName } from "../../dialects/registry.ts";
import type { SessionRow } from "../../dialects/session-row.ts";
import type { CreateOptions, OpenOptions } from "./store-options.ts";

export interface SessionSummary extends SessionRow {
  readonly dialect: string;
  readonly root: string;
  readonly path: string;
}

export interface ListOptions {
  /** Reports how many of the changed logs have been read, and bytes of a long one meanwhile. */
  readonly onProgress?: (done: number, total: number, bytes?: readonly [number, number]) => void;
  /** Stops reading; the next listing continues from there. */
  readonly signal?: AbortSignal;
}

/** A directory of sessions in one dialect. */
export interface Store {
  readonly dialect: LayoutName | AgentName;
  readonly root: string;
  /** Whether it signs the sessions that are appended to. */
  readonly isSigning: boolean;
  /** Creates a session. Refuses with SESSION_EXISTS if the requested id is taken. */
  create(options?: CreateOptions): Promise<Session>;
  /** An existing session, to read or to continue. Throws SESSION_NOT_FOUND. */
  open(id: string, options?: OpenOptions): Promise<Session>;
  /** A session by its id, which may not exist yet: the first append creates it. */
  session(id: string, options?: OpenOptions): Session;
  has(id: string): Promise<boolean>;
  /** Every session of the store with its summary, unordered. */
  list(options?: ListOptions): Promise<SessionSummary[]>;
  /** Closes all of its sessions. */
  close(): Promise<void>;
}

/** One conversation in a store. Reading takes no lock; the first append takes the log's lock. */
export interface Session {
  readonly id: string;
  /** The path of its log. */
  readonly path: string;
  /** Signed sessions: the identity of the log once it was opened to append; else null. */
  readonly signedLog: string | null;
  /**
   * Appends an entry as the dialect expresses it. Resolves to the offset after it, once it is as
   * durable as the store's setting. A field that entries do not have, or that the dialect cannot
   * express, is refused with INVALID_ENTRY.
   */
  append(entry: NewEntry): Promise<ByteOffset>;
  /**
   * Appends several in order, in as few writes as possible; a write is in the log whole or not at
   * all. If one is refused, none is written. Resolves to the offset after each.
   */
  appendAll(entries: readonly NewEntry[]): Promise<ByteOffset[]>;
  /** The same for lines of the dialect itself, without the fields that the writer adds. */
  appendLines(lines: readonly Native[]): Promise<ByteOffset[]>;
  /** The entries in order. */
  entries(options?: EntryOptions): AsyncGenerator<StoredEntry>;
  /** The last `count` entries, in order, however long the session. */
  last(count: number, options?: EntryOptions): Promise<StoredEntry[]>;
  /** The entries from `from` on, and then those that any process appends. */
  follow(options?: EntryOptions): AsyncGenerator<StoredEntry>;
  /** Resolves once everything is durable and the lock is released. */
  close(): Promise<void>;
}
