/**
 * Sender: sends one OTLP/HTTP request at a time, and retries when the collector allows.
 *
 * - Retried are the statuses that the protocol calls retryable (429, 502, 503, 504) and network
 *   failures. Everything else is refused for good. No redirect is followed: headers have secrets.
 * - The collector says how long to wait (Retry-After); otherwise waits double, with a random part,
 *   up to a limit.
 * - Of a response at most ANSWER_BYTES_MAX are read.
 */

import { VerbatimError } from "../../core/base/errors.ts";
import type { Clock } from "../../core/base/host.ts";
import { oneLine } from "../../core/base/one-line.ts";
import type { Endpoint } from "./endpoint.ts";

export const RETRIES_MAX = 5;
export const WAIT_MS_MAX = 30_000;
/** A longer Retry-After is an error instead of a wait. */
export const RETRY_AFTER_MS_MAX = 300_000;
export const ANSWER_BYTES_MAX = 65_536;
const WAIT_MS_FIRST = 1_000;
const TIMEOUT_MS = 10_000;
const MESSAGE_CHARS_MAX = 200;
const RETRYABLE: ReadonlySet<number> = new Set([429, 502, 503, 504]);

/** Network and machine, passed in for tests. */
export interface SenderTools {
  readonly fetch: typeof fetch;
  readonly clock: Pick<Clock, "sleep">;
  readonly random: () => number;
  readonly nowMs: () => number;
}

export interface SpanSenderOptions {
  /** Number of retries; Infinity: until the signal. */
  readonly retriesMax?: number;
  /** Called before each wait. */
  readonly onRetry?: (problem: string, waitMs: number) => void;
}

/** The collector's reply to an accepted request. */
export interface CollectorReply {
  readonly rejectedSpans: number;
  /** Its message, on one line; null when it sent none. */
  readonly message: string | null;
}

interface Problem {
  readonly status: number | null;
  readonly text: string;
  /** Null: a retry would not help. */
  readonly waitMs: "double" | number | null;
}

export class OtlpSender {
  readonly #endpoint: Endpoint;
  readonly #tools: SenderTools;
  readonly #options: SpanSenderOptions;

  constructor(endpoint: Endpoint, tools: SenderTools, options: SpanSenderOptions = {}) {
    this.#endpoint = endpoint;
    this.#tools = tools;
    this.#options = options;
  }

  /** Refuses with EXPORT_FAILED; the signal ends the waiting, not a request in flight. */
  async send(body: string, signal?: AbortSignal): Promise<CollectorReply> {
    const { retriesMax = RETRIES_MAX, onRetry } = this.#options;
    for (let retries = 0; ; retries++) {
      const answer = await this.#try(body);
      if ("rejectedSpans" in answer) return answer;
      const waitMs = this.#waitMs(answer, retries);
      if (waitMs === null || retries >= retriesMax || signal?.aborted) throw this.#failed(answer);
      onRetry?.(answer.text, waitMs);
      try {
        await this.#tools.clock.sleep(waitMs, signal);
      } catch {
        throw this.#failed(answer); // Stopped: the failure is thrown.
      }
    }
  }

  async #try(body: string): Promise<CollectorReply | Problem> {
    const { url } = this.#endpoint;
    const headers = new Headers(this.#endpoint.headers);
    headers.set("content-type", "application/json");
    let response: Response;
    let text: string;
    try {
      response = await this.#tools.fetch(url, {
        method: "POST",
        headers,
        body,
        redirect: "manual",
        signal: AbortSignal.timeout(TIMEOUT_MS),
      });
      text = await boundedText(response);
    } catch (cause) {
      return { status: null, text: this.#reason(cause), waitMs: "double" };
    }
    if (response.ok) return acceptedBy(text, (said) => this.#said(said));
    const { status } = response;
    const retryAfter = retryAfterMs(response.headers.get("retry-after"), this.#tools.nowMs());
    const waitMs = RETRYABLE.has(status) ? (retryAfter ?? "double") : null;
    return { status, text: `it answered ${status}`, waitMs };
  }

  #waitMs({ waitMs }: Problem, retries: number): number | null {
    if (waitMs === "double") {
      const longest = Math.min(WAIT_MS_MAX, WAIT_MS_FIRST * 2 ** Math.min(retries, 20));
      return Math.round(longest * (0.5 + this.#tools.random() / 2));
    }
    return waitMs !== null && waitMs <= RETRY_AFTER_MS_MAX ? waitMs : null;
  }

  /** fetch's error names the address, which may have a secret. */
  #reason(cause: unknown): string {
    const { name, cause: inner } = cause as { name?: unknown; cause?: { code?: unknown } };
    if (name === "TimeoutError") return `it did not answer within ${TIMEOUT_MS / 1000} s`;
    const code = inner?.code;
    return `it cannot be reached${typeof code === "string" ? ` (${oneLine(code, 40)})` : ""}`;
  }

  #said(text: string): string {
    return oneLine(this.#endpoint.redact(text), MESSAGE_CHARS_MAX);
  }

  #failed({ status, text }: Problem): VerbatimError {
    const { shown } = this.#endpoint;
    return new VerbatimError(
      "EXPORT_FAILED",
      `the collector at ${shown} accepted no spans: ${text}; export again, spans keep their ids`,
      { endpoint: shown, status },
    );
  }
}

async function boundedText(response: Response): Promise<string> {
  const chunks: Uint8Array[] = [];
  let bytes = 0;
  for await (const chunk of response.body ?? []) {
    chunks.push(chunk);
    bytes += chunk.length;
    if (bytes >= ANSWER_BYTES_MAX) break;
  }
  return Buffer.concat(chunks).subarray(0, ANSWER_BYTES_MAX).toString("utf8");
}

/** A partial success is a success: rejected spans would be rejected again. */
function acceptedBy(text: string, said: (text: string) => string): CollectorReply {
  const nothing = { rejectedSpans: 0, message: null };
  let answer: unknown;
  try {
    answer = JSON.parse(text);
  } catch {
    return nothing; // Empty, or not JSON: the status was a success.
  }
  const partial = (answer as { partialSuccess?: unknown } | null)?.partialSuccess;
  if (typeof partial !== "object" || partial === null) return nothing;
  const { rejectedSpans, errorMessage } = partial as Record<string, unknown>;
  const rejected = Number(rejectedSpans ?? 0);
  const isCount = Number.isSafeInteger(rejected) && rejected > 0;
  const message = typeof errorMessage === "string" ? said(errorMessage) : "";
  return { rejectedSpans: isCount ? rejected : 0, message: message === "" ? null : message };
}

/** Seconds, or a date; null for anything else. */
function retryAfterMs(header: string | null, nowMs: number): number | null {
  if (header === null) return null;
  if (/^\d{1,9}$/.test(header.trim())) return Number(header) * 1000;
  const at = Date.parse(header);
  return Number.isNaN(at) ? null : Math.max(0, at - nowMs);
}
