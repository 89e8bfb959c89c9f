/**
 * Token follower: the tokens of the database, as this server last read them. It asks for changes
 * every POLL_MS; a change is in effect on all servers within two seconds.
 *
 * - While the database does not answer, the last list holds: what it had revoked stays revoked, what
 *   expires expires, and a token that is revoked meanwhile holds here until the database answers.
 * - A revocation that this process has seen is never taken back, also if the database is set back
 *   to a backup, or to a standby that had not got it yet.
 * - A list that cannot be used (an entry that this version does not know) is not used: the last one
 *   holds, and the operator is notified.
 */

import { repeat, type Time } from "../../core/base/time.ts";
import type { TokenTables } from "./token-tables.ts";
import type { TokenEntry } from "./tokens.ts";

export const POLL_MS = 1000;

interface FollowerOptions {
  readonly tables: Pick<TokenTables, "newer">;
  readonly time: Time;
  readonly onFault: (what: string, cause: unknown) => void;
}

export class TokenFollower {
  readonly #options: FollowerOptions;
  readonly #revokedAt = new Map<string, string>();
  #entries: readonly TokenEntry[] = [];
  #version = -1;
  #isFailing = false;
  #reading: Promise<void> | null = null;
  #stop: () => void = () => {};

  private constructor(options: FollowerOptions) {
    this.#options = options;
  }

  /** Throws if the list cannot be read now. */
  static async open(options: FollowerOptions): Promise<TokenFollower> {
    const follower = new TokenFollower(options);
    await follower.#read();
    follower.#stop = repeat(options.time, POLL_MS, () => {
      follower.#reading ??= follower.#poll();
    });
    return follower;
  }

  /** Another list when anything has changed. */
  get entries(): readonly TokenEntry[] {
    return this.#entries;
  }

  /** Reads now: after a change that this server made. */
  async look(): Promise<void> {
    await this.#reading;
    this.#reading ??= this.#poll();
    await this.#reading;
  }

  async close(): Promise<void> {
    this.#stop();
    await this.#reading;
  }

  async #poll(): Promise<void> {
    try {
      await this.#read();
      this.#isFailing = false;
    } catch (cause) {
      if (!this.#isFailing) this.#options.onFault("reading the tokens of the database", cause);
      this.#isFailing = true; // Reported once, until it works again.
    } finally {
      this.#reading = null;
    }
  }

  async #read(): Promise<void> {
    const newer = await this.#options.tables.newer(this.#version);
    if (newer === null) return;
    this.#version = newer.version;
    this.#entries = newer.entries.map((entry) => this.#stillRevoked(entry));
  }

  #stillRevoked(entry: TokenEntry): TokenEntry {
    const revokedAt = entry.revokedAt ?? this.#revokedAt.get(entry.sha256);
    if (revokedAt === undefined) return entry;
    this.#revokedAt.set(entry.sha256, revokedAt);
    return { ...entry, revokedAt };
  }
}
