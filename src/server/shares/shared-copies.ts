/**
 * Shared copies: answers requests for the copy of a share.
 *
 * - A share gives its `.vbd` and nothing else. A token that is unknown, expired or revoked has the
 *   same answer.
 * - `after=VERSION` waits for a newer copy: 204 if there is none for a while.
 * - Open requests are checked every LOOK_MS: one of a share that has ended is ended, also in the
 *   middle of its answer.
 * - Requests for one share are limited; each process counts its own.
 */

import type { IncomingMessage, ServerResponse } from "node:http";
import type { Readable } from "node:stream";
import { pipeline } from "node:stream/promises";
import { errnoOf, VerbatimError } from "../../core/base/errors.ts";
import { repeat, type Time } from "../../core/base/time.ts";
import {
  noSuchShare,
  SHARE_LIMITS,
  SHARE_TOKEN,
  type Share,
  type Shares,
  shareHash,
  shareState,
  sharesRefused,
} from "../../evidence/share/share.ts";

export const LOOK_MS = 500;
export const WAIT_MS = 20_000;
const BEARER = /^Bearer +([\x21-\x7e]{1,256}) *$/i;
const HEADERS = [
  ["Cache-Control", "no-store"],
  ["Referrer-Policy", "no-referrer"],
  ["X-Robots-Tag", "noindex"],
  ["X-Content-Type-Options", "nosniff"],
] as const;

export interface SharedCopiesOptions {
  readonly shares: Shares;
  readonly time: Time;
  /** Readers do not see why the shares cannot be read. */
  readonly onFault: (what: string, cause: unknown) => void;
}

/** An open request. */
interface Reader {
  readonly sha256: string;
  /** A newer copy than this ends it; null: it is being answered. */
  readonly after: number | null;
}

export class SharedCopies {
  readonly #options: SharedCopiesOptions;
  readonly #readers = new Map<AbortController, Reader>();
  readonly #buckets = new Map<string, { left: number; atMs: number }>();
  #stopLooking: (() => void) | null = null;
  #isLooking = false;

  constructor(options: SharedCopiesOptions) {
    this.#options = options;
  }

  get readers(): number {
    return this.#readers.size;
  }

  /** Answers a GET or HEAD; `after`: the version that the reader has. */
  async answer(
    request: IncomingMessage,
    response: ServerResponse,
    after: number | null,
  ): Promise<void> {
    for (const [name, value] of HEADERS) response.setHeader(name, value);
    const token = BEARER.exec(request.headers.authorization ?? "")?.[1] ?? "";
    if (!SHARE_TOKEN.test(token)) throw noSuchShare();
    const sha256 = shareHash(token);
    let share = await this.#valid(sha256);
    this.#take(share);
    if (after !== null && share.version <= after) {
      await this.#during({ sha256, after }, response, (signal) => this.#wait(signal));
      share = await this.#valid(sha256);
    }
    if (share.version <= (after ?? 0)) {
      response.writeHead(204, versionOf(share));
      response.end();
      return;
    }
    const { shares } = this.#options;
    let copy = await shares.copyOf(share);
    if (copy === null) {
      share = await this.#valid(sha256); // A newer copy has taken its place.
      copy = await shares.copyOf(share);
    }
    if (copy === null) throw noSuchShare();
    const found = { share, copy };
    await this.#during({ sha256, after: null }, response, async (signal) => {
      signal.addEventListener("abort", () => response.destroy());
      await send(found.share, found.copy, request, response);
    });
  }

  /** Ends requests that wait for a newer copy. */
  stop(): void {
    for (const [ending, { after }] of this.#readers) if (after !== null) ending.abort();
  }

  async #valid(sha256: string): Promise<Share> {
    const { shares, time, onFault } = this.#options;
    const share = await shares.byHash(sha256).catch((cause: unknown) => {
      onFault("reading the shares", cause);
      throw sharesRefused("the list of shares", "it cannot be used; the reason is in the log");
    });
    if (share === null || shareState(share, time.nowMs()) !== "valid") throw noSuchShare();
    return share;
  }

  /** Resolves after WAIT_MS, or when the signal says so. */
  #wait(signal: AbortSignal): Promise<void> {
    return new Promise((resolve) => {
      const cancel = this.#options.time.setTimer(WAIT_MS, resolve);
      signal.addEventListener("abort", () => {
        cancel();
        resolve();
      });
    });
  }

  /** Counts a request of the share, or refuses it. */
  #take({ id, sha256 }: Share): void {
    const { burst, perSecond, readersMax } = SHARE_LIMITS;
    const nowMs = this.#options.time.nowMs();
    const bucket = this.#buckets.get(id) ?? { left: burst, atMs: nowMs };
    const refilled = bucket.left + (Math.max(0, nowMs - bucket.atMs) / 1000) * perSecond;
    const left = Math.min(burst, refilled) - 1;
    const open = [...this.#readers.values()].filter((each) => each.sha256 === sha256).length;
    if (left < 0 || open >= readersMax) {
      const message = "this share has too many requests; try again later";
      throw new VerbatimError("TOO_MANY_READERS", message, { readersMax });
    }
    this.#buckets.delete(id);
    this.#buckets.set(id, { left, atMs: nowMs });
    const [oldest] = this.#buckets.keys();
    if (this.#buckets.size > SHARE_LIMITS.sharesMax && oldest) this.#buckets.delete(oldest);
  }

  /** Does the work; the signal says that the share has ended, or that there is a newer copy. */
  async #during(
    reader: Reader,
    response: ServerResponse,
    work: (signal: AbortSignal) => Promise<void>,
  ): Promise<void> {
    const ending = new AbortController();
    const close = () => ending.abort();
    this.#readers.set(ending, reader);
    this.#stopLooking ??= repeat(this.#options.time, LOOK_MS, () => void this.#lookOnce());
    response.once("close", close);
    try {
      await work(ending.signal);
    } finally {
      response.off("close", close);
      this.#readers.delete(ending);
      if (this.#readers.size === 0) {
        this.#stopLooking?.();
        this.#stopLooking = null;
      }
    }
  }

  /** One at a time: a database may be slow to answer. */
  async #lookOnce(): Promise<void> {
    if (this.#isLooking) return;
    this.#isLooking = true;
    await this.#look();
    this.#isLooking = false;
  }

  async #look(): Promise<void> {
    const hashes = new Set([...this.#readers.values()].map(({ sha256 }) => sha256));
    for (const sha256 of hashes) {
      let version = Number.POSITIVE_INFINITY; // Ended, or its end cannot be ruled out.
      let hasEnded = true;
      try {
        version = (await this.#valid(sha256)).version;
        hasEnded = false;
      } catch {
        // The request itself says why.
      }
      for (const [ending, reader] of this.#readers) {
        if (reader.sha256 !== sha256) continue;
        if (hasEnded || (reader.after !== null && version > reader.after)) ending.abort();
      }
    }
  }
}

async function send(
  share: Share,
  copy: Readable,
  request: IncomingMessage,
  response: ServerResponse,
): Promise<void> {
  response.writeHead(200, {
    ...versionOf(share),
    "Content-Type": "application/octet-stream",
    "Content-Length": share.bytes,
    "Content-Disposition": 'attachment; filename="shared.vbd"',
  });
  if (request.method === "HEAD") {
    copy.destroy();
    response.end();
    return;
  }
  await pipeline(copy, response).catch((cause) => {
    if (errnoOf(cause) !== "ERR_STREAM_PREMATURE_CLOSE") throw cause; // Else the reader has left.
  });
}

function versionOf({ version, isLive }: Share): Record<string, string> {
  return { "Share-Version": String(version), "Share-Live": isLive ? "yes" : "no" };
}
