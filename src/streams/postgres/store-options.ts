/**
 * Options of a store in PostgreSQL, and what it adds to a `StreamStore`. No type of `pg` is here:
 * programs that do not have the package compile with these.
 */

import type { CommitLimits } from "../commit/commit-queue.ts";
import type { BatchReport } from "../commit/committer.ts";
import type { StreamStore } from "../files/stream-store.ts";

/** When a commit is acknowledged: without any sync, synced on one server, or on a standby too. */
export type DatabaseDurability = "memory" | "disk" | "standby";

export interface DatabasePromises {
  readonly durability: DatabaseDurability;
  /** Damage on its disk is noticed by the database itself, in addition to our own checksums. */
  readonly dataChecksums: boolean;
  readonly version: string;
  /** The settings that decide it, as the database reports them. */
  readonly settings: Readonly<Record<string, string>>;
}

/** In order of strength. */
export const DURABILITIES: readonly DatabaseDurability[] = ["memory", "disk", "standby"];

export interface PostgresStoreOptions {
  /** The schema of the tables, created if missing. Default: `verbatim`. */
  readonly schema?: string | undefined;
  /**
   * What an acknowledged append must survive: a crash of the database's machine ("disk"), or its
   * loss ("standby", a synchronous one). Default: "disk". A database that promises less is refused.
   */
  readonly durability?: DatabaseDurability | undefined;
  /** Connections that read. Default: 8. Two more write and listen. */
  readonly readersMax?: number | undefined;
  /** How many stream states are kept in memory. Default: 32,768. */
  readonly statesMax?: number | undefined;
  /**
   * How long one statement may take, and connecting. Default: 5 seconds each. A statement gets a
   * second more for each MiB that it carries.
   */
  readonly statementMs?: number | undefined;
  readonly connectMs?: number | undefined;
  /**
   * How long after it was sent to look for the outcome of an append whose connection broke. Default:
   * as long as its statement may take, and 750 ms.
   */
  readonly resolveMs?: number | undefined;
  /** A probe is committed after so long without a commit. Default: 5 seconds. */
  readonly probeMs?: number | undefined;
  /** How long the bytes of deleted streams are kept. Default: 30 days. */
  readonly keepDeletedMs?: number | undefined;
  readonly limits?: Partial<CommitLimits> | undefined;
  /** Called for each durable group, for metrics. */
  readonly onBatch?: ((report: BatchReport) => void) | undefined;
  /** The time of day, in milliseconds. */
  readonly now?: (() => number) | undefined;
}

/** Streams in PostgreSQL. */
export interface PostgresStore extends StreamStore {
  /** What the database promises, or promised when it was last connected to. */
  readonly promises: DatabasePromises;
  holds(work: string): Promise<boolean>;
}

/** Scheme, user, and what follows a password. */
export const URL_FORM = /^(postgres(?:ql)?:\/\/)(?:([^:@/?]*)(?::[^@/?]*)?@)?([^@?]*)(?:\?.*)?$/;

/** The URL without password and parameters. */
export function urlWithoutPassword(url: string): string {
  const [, scheme, user, rest] = URL_FORM.exec(url) ?? [];
  if (scheme === undefined) return "postgres:"; // It may hold a password anywhere.
  return `${scheme}${user ? `${user}@` : ""}${rest}`;
}

/** The name of a store in pinned heads, in place of a directory: `//host:5432/database/schema`. */
export function pinnedNameOf(url: string, schema: string): string {
  const [, , , rest = ""] = URL_FORM.exec(url) ?? [];
  // The first of several hosts: another may be added, and the store stays the same.
  return `//${rest.replace(/,[^/]*/, "")}/${schema}`;
}
