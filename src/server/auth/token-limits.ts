/**
 * Token limits: how many requests and bytes a token may use each second, and counts per token for
 * metrics. Each server counts its own. Limits of what is stored are in stored-limits.ts; open readers
 * are counted where they wait (streams/live-readers.ts).
 *
 * A second's worth may come at once. Bytes are those on the connection, in both directions, counted
 * when a request ends; while they are more than the rate allows, further requests are refused.
 *
 * A refusal is sent after REFUSAL_MS: a client that does not wait by itself would otherwise keep the
 * server busy with refusals.
 */

import type { IncomingMessage, ServerResponse } from "node:http";
import type { Socket } from "node:net";
import { VerbatimError } from "../../core/base/errors.ts";
import { Counter } from "../metrics/server-metrics.ts";
import type { Admission } from "./gate.ts";
import type { LimitName } from "./tokens.ts";

export const REFUSAL_MS = 100;

export function limitReached(
  token: string,
  limit: LimitName,
  max: number,
  retrySeconds: number,
): VerbatimError<"LIMIT_REACHED"> {
  return new VerbatimError(
    "LIMIT_REACHED",
    `token ${token} has reached its limit (${limit} is ${max}); retry after ${retrySeconds} s`,
    { token, limit, max, retrySeconds },
  );
}

/** What is left of a rate; below 0, it is owed. */
interface Bucket {
  left: number;
  atMs: number;
}

interface TokenRates {
  readonly requests: Bucket;
  readonly bytes: Bucket;
}

export class TokenLimiter {
  readonly #nowMs: () => number;
  readonly #rates = new Map<string, TokenRates>();
  /** Bytes of a connection that were counted. */
  readonly #counted = new WeakMap<Socket, number>();
  readonly #requests = new Counter("verbatim_token_requests_total", "Admitted, by token.");
  readonly #bytes = new Counter("verbatim_token_bytes_total", "In both directions, by token.");
  readonly #refused = new Counter("verbatim_token_refused_total", "By token and limit.");

  constructor(nowMs: () => number) {
    this.#nowMs = nowMs;
  }

  /** Counts a request that was admitted; throws LIMIT_REACHED. */
  take({ token, limits }: Admission, request: IncomingMessage, response: ServerResponse): void {
    const { requestsPerSecond: requestsMax, bytesPerSecond: bytesMax } = limits;
    const { requests, bytes } = this.#ratesOf(token);
    const { socket } = request;
    // Also if it is refused: the next request on the connection may be that of another token.
    response.once("close", () => {
      const count = this.#newBytes(socket);
      if (bytesMax !== undefined) bytes.left -= count;
      this.#bytes.add(count, `{token="${token}"}`);
    });
    if (bytesMax !== undefined && this.#leftOf(bytes, bytesMax) <= 0) {
      throw limitReached(token, "bytesPerSecond", bytesMax, secondsUntil(bytes.left, 1, bytesMax));
    }
    if (requestsMax !== undefined && this.#leftOf(requests, requestsMax) < 1) {
      const seconds = secondsUntil(requests.left, 1, requestsMax);
      throw limitReached(token, "requestsPerSecond", requestsMax, seconds);
    }
    if (requestsMax !== undefined) requests.left--;
    this.#requests.add(1, `{token="${token}"}`);
  }

  refused(token: string, limit: LimitName): void {
    this.#refused.add(1, `{token="${token}",limit="${limit}"}`);
  }

  /** Metrics, with the lines of these tokens. */
  get counters(): readonly Counter[] {
    return [this.#requests, this.#bytes, this.#refused];
  }

  #ratesOf(token: string): TokenRates {
    const none = () => ({ left: 0, atMs: Number.NEGATIVE_INFINITY });
    const rates = this.#rates.get(token) ?? { requests: none(), bytes: none() };
    this.#rates.set(token, rates);
    return rates;
  }

  #leftOf(bucket: Bucket, perSecond: number): number {
    const nowMs = this.#nowMs();
    const passedMs = Math.max(0, nowMs - bucket.atMs); // The clock may have been set back.
    bucket.left = Math.min(perSecond, bucket.left + (passedMs / 1000) * perSecond);
    bucket.atMs = nowMs;
    return bucket.left;
  }

  #newBytes(socket: Socket): number {
    const all = socket.bytesRead + socket.bytesWritten;
    const count = all - (this.#counted.get(socket) ?? 0);
    this.#counted.set(socket, all);
    return count;
  }
}

function secondsUntil(left: number, wanted: number, perSecond: number): number {
  return Math.max(1, Math.ceil((wanted - left) / perSecond));
}
