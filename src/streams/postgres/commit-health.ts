/**
 * Commit health: whether the database takes commits, from the outcome and the age of the last one.
 *
 * A database can answer every read and acknowledge nothing: its synchronous standby is gone, or its
 * disk is full. So when nothing was committed for a while, and after every failure, a row is
 * committed to find out (a probe).
 *
 * A commit that was not answered in time is not followed by others until a probe succeeds: each
 * would keep a connection of the database that waits for the standby. Probes do not either: while
 * one of ours still waits there, none is sent.
 */

import { randomBytes, randomUUID } from "node:crypto";
import type { VerbatimError } from "../../core/base/errors.ts";
import type { PostgresDatabase } from "./database.ts";
import { databaseError, isTimeout, unavailable } from "./database-errors.ts";

/** How often it looks whether a probe is due. */
const LOOK_MS = 1000;
/** After a full disk a probe needs as much space as small appends. */
const LARGE_PROBE_BYTES = 64 * 1024;

export interface CommitHealthParts {
  readonly database: PostgresDatabase;
  /** The name of this server among those that share the database. */
  readonly server: string;
  /** A probe is due after so long without a commit, and a commit is late after so long. */
  readonly idleMs: number;
}

export class CommitHealth {
  readonly #parts: CommitHealthParts;
  #failure: VerbatimError | null = null;
  #isStalled = false;
  #committedAtMs = performance.now();
  #sentAtMs: number | null = null;
  #looking: NodeJS.Timeout | null = null;
  #probing: Promise<void> | null = null;

  constructor(parts: CommitHealthParts) {
    this.#parts = parts;
  }

  begin(): void {
    this.#looking = setInterval(() => this.#look(), LOOK_MS).unref();
  }

  /** Why commits fail or are late; null if they are not. */
  get failure(): VerbatimError | null {
    if (this.#failure !== null) return this.#failure;
    const { database, idleMs } = this.#parts;
    const ageMs = this.#sentAtMs === null ? 0 : performance.now() - this.#sentAtMs;
    if (ageMs <= idleMs) return null;
    const reason = new Error(`a commit was sent ${Math.round(ageMs / 1000)} s ago`);
    return unavailable(database.place, reason, "unknown");
  }

  /** Why nothing may be committed now; null if it may. */
  get refusal(): VerbatimError | null {
    if (!this.#isStalled) return null;
    const reason = new Error("an earlier commit was not answered in time");
    return unavailable(this.#parts.database.place, reason, "unchanged");
  }

  sent(): void {
    this.#sentAtMs = performance.now();
  }

  committed(): void {
    this.#committedAtMs = performance.now();
    this.#sentAtMs = null;
    this.#failure = null;
    this.#isStalled = false;
  }

  /** The group that was sent has failed, or not been sent. */
  ended(failure: VerbatimError, cause: unknown): void {
    this.#sentAtMs = null;
    this.failed(failure, cause);
  }

  /** Anything that commits has failed. `cause`: the driver's error. */
  failed(failure: VerbatimError, cause: unknown): void {
    if (!isOfDatabase(failure)) return;
    this.#failure = failure;
    this.#isStalled ||= isTimeout(cause);
  }

  async close(): Promise<void> {
    if (this.#looking !== null) clearInterval(this.#looking);
    await this.#probing;
  }

  #look(): void {
    if (this.#probing !== null || this.#sentAtMs !== null) return;
    const isIdle = performance.now() - this.#committedAtMs >= this.#parts.idleMs;
    if (this.#failure === null && !isIdle) return;
    this.#probing = this.#probe().finally(() => {
      this.#probing = null;
    });
  }

  async #probe(): Promise<void> {
    const { database } = this.#parts;
    try {
      if (this.#isStalled && (await this.#isWaiting())) return;
      await this.#commit();
      this.committed();
    } catch (cause) {
      this.failed(databaseError(database.place, cause, "unknown"), cause);
    }
  }

  /** A row that says nothing to other servers; it is deleted with those of other commits. */
  async #commit(): Promise<void> {
    const { database, server } = this.#parts;
    const { schema } = database;
    const id = randomUUID();
    const insert = `INSERT INTO ${schema}.commits (id, server, paths) VALUES ($1, $2, $3)`;
    if (this.#failure?.code !== "NO_SPACE") {
      await database.write((client) => client.query(insert, [id, server, []]));
      return;
    }
    const large = randomBytes(LARGE_PROBE_BYTES).toString("hex");
    await database.transaction(async (client) => {
      await client.query(insert, [id, server, [large]]);
      await client.query(`UPDATE ${schema}.commits SET paths = '{}' WHERE id = $1`, [id]);
    });
  }

  /** Whether a commit of any server still waits for the standby. */
  async #isWaiting(): Promise<boolean> {
    const sql = `SELECT FROM pg_stat_activity
      WHERE wait_event = 'SyncRep' AND datname = current_database() AND usename = current_user LIMIT 1`;
    return (await this.#parts.database.read(sql, [])).length > 0;
  }
}

/** Failures that a probe would meet too, other than those of one request. */
function isOfDatabase({ code, details }: VerbatimError): boolean {
  if (code === "STORE_UNAVAILABLE" || code === "NO_SPACE") return true;
  // Insufficient resources, and errors of its system.
  return code === "IO_ERROR" && "errno" in details && /^5[38]/.test(details.errno);
}
