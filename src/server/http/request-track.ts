/**
 * Request track: what metrics and the request log know of a request.
 *
 * Only ids, counts and durations: never a query, a header or a body; of a token, its id.
 */

import { randomBytes } from "node:crypto";
import type { IncomingMessage, ServerResponse } from "node:http";
import type { RouteName, ServerMetrics } from "../metrics/server-metrics.ts";

/** One line of the request log. */
export interface RequestRecord {
  /** Random; in what is reported about the request, too. */
  readonly id: string;
  readonly time: string;
  readonly method: string;
  readonly route: RouteName;
  /** The stream's path, if the request is about a stream. */
  readonly stream: string | null;
  /** Null: the connection closed before the answer began. */
  readonly status: number | null;
  /** The code of the error. */
  readonly code: string | null;
  readonly ms: number;
  /** Length of the body according to Content-Length; null without one. */
  readonly bytesIn: number | null;
  readonly bytesOut: number;
  /** The id of the token that allowed it. */
  readonly token: string | null;
}

export class RequestTrack {
  route: RouteName = "other";
  stream: string | null = null;
  token: string | null = null;
  #code: string | null = null;
  #id: string | null = null;
  readonly #request: IncomingMessage;
  readonly #metrics: ServerMetrics;
  readonly #startedMs: number;
  /** Bytes sent on the connection before this answer; only read if requests are logged. */
  readonly #writtenBefore: number;

  constructor(request: IncomingMessage, metrics: ServerMetrics, nowMs: number, isLogged: boolean) {
    this.#request = request;
    this.#metrics = metrics;
    this.#startedMs = nowMs;
    this.#writtenBefore = isLogged ? request.socket.bytesWritten : 0;
  }

  get id(): string {
    this.#id ??= randomBytes(8).toString("hex");
    return this.#id;
  }

  /** Counts an error of the request; `code` is the one in its answer. */
  failed(code: string): void {
    this.#code = code;
    this.#metrics.error(code);
  }

  /** Counts the request and calls `onRequest`. */
  finish(
    response: ServerResponse,
    nowMs: number,
    onRequest: ((record: RequestRecord) => void) | null,
  ): void {
    const { method = "", socket, headers } = this.#request;
    const ms = nowMs - this.#startedMs;
    const status = response.headersSent ? response.statusCode : null;
    if (status === null) this.#metrics.broken("broken-off");
    else this.#metrics.request(this.route, method, status, ms / 1000);
    if (onRequest === null) return;
    const length = headers["content-length"];
    onRequest({
      id: this.id,
      time: new Date(Date.now() - ms).toISOString(),
      method,
      route: this.route,
      stream: this.stream,
      status,
      code: this.#code,
      ms: Math.round(ms * 1000) / 1000,
      bytesIn: length === undefined ? null : Number(length),
      bytesOut: Math.max(0, socket.bytesWritten - this.#writtenBefore),
      token: this.token,
    });
  }
}
