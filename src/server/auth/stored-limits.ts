/**
 * Stored limits: how many streams and bytes may be stored below the paths of a token.
 *
 * What is stored is counted, not remembered: deleting makes room, and nothing drifts. A write claims
 * its part before it begins and gives it back when it is stored, so writes at the same time do not
 * pass a limit together, also on several servers: those share their claims in the database.
 *
 * Claims of one token are gathered while one is being made: many writes are one count. Where each
 * claim counts all streams, a server also claims a part of what is left for the next COUNT_MS:
 * appends that fit in there need no count.
 */

import { randomBytes } from "node:crypto";
import type { VerbatimError } from "../../core/base/errors.ts";
import type { Time } from "../../core/base/time.ts";
import { parseOffset } from "../../streams/files/offset-token.ts";
import type { StreamHead, StreamStore } from "../../streams/files/stream-store.ts";
import { Glob, segmentsOf } from "../../streams/subscriptions/glob.ts";
import type { Admission } from "./gate.ts";
import { limitReached } from "./token-limits.ts";

export interface StoredUse {
  readonly streams: number;
  readonly bytes: number;
}

export interface ClaimOwner {
  readonly token: string;
  readonly server: string;
  /** Globs of its paths. */
  readonly patterns: readonly string[];
}

export interface StoredClaims {
  /** Whether each claim counts all streams. */
  readonly countsEach: boolean;
  /** `decide`: from what is stored, or claimed by others, to all that this server claims. */
  claim(of: ClaimOwner, decide: (used: StoredUse) => StoredUse): Promise<void>;
  /** Claims no more than this. */
  release(of: ClaimOwner, claimed: StoredUse): Promise<void>;
}

interface ClaimRequest {
  readonly pass: Admission;
  readonly want: StoredUse;
  readonly settle: (refusal: unknown) => void;
}

interface TokenWrites {
  /** Of writes that run, and the reserve. */
  claimed: StoredUse;
  /** Bytes that are claimed for appends to come. */
  reserve: number;
  hasTimer: boolean;
  requests: ClaimRequest[];
  /** Called when what was given back is known to other servers. */
  releases: (() => void)[];
  isRunning: boolean;
  /** As it was last counted. */
  used: StoredUse | null;
}

const NONE: StoredUse = { streams: 0, bytes: 0 };
/** Of what is left; the rest is for other servers. */
const RESERVE_PART = 1 / 8;
/** Where less is left, each byte is counted. */
const RESERVE_BYTES_MIN = 1024 * 1024;

export class StoredLimits {
  readonly #claims: StoredClaims;
  readonly #time: Pick<Time, "setTimer">;
  readonly #server = randomBytes(8).toString("hex");
  readonly #tokens = new Map<string, TokenWrites>();

  constructor(claims: StoredClaims, time: Pick<Time, "setTimer">) {
    this.#claims = claims;
    this.#time = time;
  }

  /** Writes if it fits; throws LIMIT_REACHED. Without such a limit, it only writes. */
  async write<T>(pass: Admission | null, want: StoredUse, work: () => Promise<T>): Promise<T> {
    if (pass === null || !isLimited(pass, want)) return work();
    const writes = this.#writesOf(pass.token);
    const isReserved = want.streams === 0 && want.bytes <= writes.reserve;
    if (isReserved) writes.reserve -= want.bytes;
    else await this.#granted(pass, want, writes);
    try {
      return await work();
    } finally {
      writes.claimed = plus(writes.claimed, want, -1);
      if (!isReserved) await this.#released(pass, writes); // Else together, by the timer.
    }
  }

  /** What was last counted for each token. */
  *counted(): Iterable<readonly [token: string, used: StoredUse]> {
    for (const [token, { used }] of this.#tokens) if (used !== null) yield [token, used];
  }

  #writesOf(token: string): TokenWrites {
    const none = { claimed: NONE, requests: [], releases: [], isRunning: false, used: null };
    const writes = this.#tokens.get(token) ?? { ...none, reserve: 0, hasTimer: false };
    this.#tokens.set(token, writes);
    return writes;
  }

  async #granted(pass: Admission, want: StoredUse, writes: TokenWrites): Promise<void> {
    const refusal = await new Promise((settle) => {
      writes.requests.push({ pass, want, settle });
      void this.#run(pass, writes);
    });
    if (refusal !== null) throw refusal;
  }

  #released(pass: Admission, writes: TokenWrites): Promise<void> {
    return new Promise((done) => {
      writes.releases.push(done);
      void this.#run(pass, writes);
    });
  }

  #endReserve(writes: TokenWrites): void {
    writes.claimed = plus(writes.claimed, bytesOf(writes.reserve), -1);
    writes.reserve = 0;
  }

  #reserve(pass: Admission, writes: TokenWrites, bytes: number): void {
    writes.claimed = plus(writes.claimed, bytesOf(bytes));
    writes.reserve = bytes;
    if (bytes === 0 || writes.hasTimer) return;
    writes.hasTimer = true;
    this.#time.setTimer(COUNT_MS, () => {
      writes.hasTimer = false;
      this.#endReserve(writes);
      void this.#released(pass, writes);
    });
  }

  /** One statement for a token at a time, with all that wait for it. */
  async #run({ token, entry }: Admission, writes: TokenWrites): Promise<void> {
    if (writes.isRunning) return;
    writes.isRunning = true;
    const of = { token, server: this.#server, patterns: entry.paths };
    while (writes.requests.length + writes.releases.length > 0) {
      const requests = writes.requests.splice(0);
      const releases = writes.releases.splice(0);
      if (requests.length > 0) await this.#claim(of, writes, requests);
      // One that cannot be given back ends by itself.
      else await this.#claims.release(of, writes.claimed).catch(() => {});
      for (const done of releases) done();
    }
    writes.isRunning = false;
  }

  async #claim(of: ClaimOwner, writes: TokenWrites, requests: readonly ClaimRequest[]) {
    const refusals: (VerbatimError | null)[] = [];
    let granted = NONE;
    let reserve = 0;
    this.#endReserve(writes);
    // As it is now: what is stored while the count runs is not in it.
    const { claimed } = writes;
    const { pass } = requests[0] as ClaimRequest;
    const decide = (used: StoredUse): StoredUse => {
      for (const { pass, want } of requests) {
        const total = plus(plus(used, claimed), plus(granted, want));
        const refusal = refusalOf(pass, want, total);
        refusals.push(refusal);
        if (refusal === null) granted = plus(granted, want);
      }
      writes.used = used;
      const all = plus(claimed, granted);
      if (this.#claims.countsEach) reserve = reserveOf(pass, plus(used, all));
      return plus(all, bytesOf(reserve));
    };
    try {
      await this.#claims.claim(of, decide);
      writes.claimed = plus(writes.claimed, granted);
      this.#reserve(pass, writes, reserve);
      for (const [at, { settle }] of requests.entries()) settle(refusals[at] ?? null);
    } catch (cause) {
      for (const { settle } of requests) settle(cause);
    }
  }
}

function isLimited({ limits: { streams, storedBytes } }: Admission, want: StoredUse): boolean {
  return (
    (want.streams > 0 && streams !== undefined) || (want.bytes > 0 && storedBytes !== undefined)
  );
}

function reserveOf({ limits: { storedBytes = 0 } }: Admission, total: StoredUse): number {
  const bytes = Math.floor((storedBytes - total.bytes) * RESERVE_PART);
  return bytes < RESERVE_BYTES_MIN ? 0 : bytes;
}

function refusalOf({ limits, token }: Admission, want: StoredUse, total: StoredUse) {
  const { streams, storedBytes } = limits;
  if (want.streams > 0 && streams !== undefined && total.streams > streams) {
    return limitReached(token, "streams", streams, RETRY_SECONDS);
  }
  if (want.bytes > 0 && storedBytes !== undefined && total.bytes > storedBytes) {
    return limitReached(token, "storedBytes", storedBytes, RETRY_SECONDS);
  }
  return null;
}

function bytesOf(bytes: number): StoredUse {
  return { streams: 0, bytes };
}

function plus(a: StoredUse, b: StoredUse, times = 1): StoredUse {
  return { streams: a.streams + times * b.streams, bytes: a.bytes + times * b.bytes };
}

/** A guess: room is made when streams are deleted or expire. */
const RETRY_SECONDS = 10;
const COUNT_MS = 1000;
const PAGE_STREAMS = 1000;

interface TokenCount {
  readonly atMs: number;
  readonly listed: StoredUse;
  /** What this server wrote since. */
  written: StoredUse;
  claimed: StoredUse;
}

/**
 * Claims of one server alone. Listing streams takes a while, so a list counts for a second, with
 * what the token wrote since then. What others delete or write counts within that second.
 */
export class ListedClaims implements StoredClaims {
  readonly countsEach = false;
  readonly #store: StreamStore;
  readonly #time: Time;
  readonly #counts = new Map<string, TokenCount>();

  constructor(store: StreamStore, time: Time) {
    this.#store = store;
    this.#time = time;
  }

  async claim(of: ClaimOwner, decide: (used: StoredUse) => StoredUse): Promise<void> {
    let count = this.#counts.get(of.token);
    const nowMs = this.#time.nowMs();
    if (count === undefined || Math.abs(nowMs - count.atMs) >= COUNT_MS) {
      const claimed = count?.claimed ?? NONE;
      count = { atMs: nowMs, listed: await this.#list(of.patterns), written: NONE, claimed };
      this.#counts.set(of.token, count);
    }
    count.claimed = decide(plus(count.listed, count.written));
  }

  async release({ token }: ClaimOwner, claimed: StoredUse): Promise<void> {
    const count = this.#counts.get(token);
    if (count === undefined) return;
    count.written = plus(count.written, plus(count.claimed, claimed, -1));
    count.claimed = claimed;
  }

  async #list(patterns: readonly string[]): Promise<StoredUse> {
    const globs = patterns.map((each) => new Glob(each));
    let used = NONE;
    for (let after = ""; ; ) {
      const heads = await this.#store.list({ after, limit: PAGE_STREAMS });
      for (const head of heads) {
        const segments = segmentsOf(head.path);
        if (!globs.some((glob) => glob.matches(segments))) continue;
        used = plus(used, { streams: 1, bytes: ownBytes(head) });
      }
      if (heads.length < PAGE_STREAMS) return used;
      after = heads.at(-1)?.path ?? "";
    }
  }
}

/** Without those of the stream that it was forked from. */
function ownBytes({ end, fork }: StreamHead): number {
  return (parseOffset(end)?.byteOffset ?? 0) - (parseOffset(fork?.at ?? "")?.byteOffset ?? 0);
}
