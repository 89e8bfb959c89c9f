/**
 * Router: calls the handler of a request, and answers with what the handler throws.
 *
 * Every request is answered or its connection closed; no request ends the process.
 *
 * Origins: which web pages may use the server.
 *
 * Any page in a browser can send requests to this machine. Without tokens, this check alone stops a
 * page from reading transcripts.
 *
 * A request from a page has an `Origin`. Only pages of this machine and allowed pages may send
 * requests, also appends, which CORS would let through.
 *
 * A foreign domain can resolve to this machine (DNS rebinding), and its pages then send no
 * `Origin`. So `Host` must be a name of this machine or an allowed one. A server that others can
 * reach accepts any name, because it requires tokens.
 */

import type { IncomingMessage, ServerResponse } from "node:http";
import { VerbatimError } from "../../core/base/errors.ts";
import type { Admission } from "../auth/gate.ts";
import { REFUSAL_MS } from "../auth/token-limits.ts";
import type { LimitName } from "../auth/tokens.ts";
import type { ServerContext } from "../context.ts";
import {
  answer,
  answerError,
  answerJson,
  errorBody,
  newHeaders,
  refuseWriting,
} from "../http/answer.ts";
import { answerTooLarge } from "../http/body.ts";
import type { Handler } from "../http/front.ts";
import type { RequestTrack } from "../http/request-track.ts";
import { rawPath, streamPathOf } from "../http/target.ts";
import {
  answerHealth,
  answerMetrics,
  answerOpening,
  answerReady,
  answerWelcome,
} from "../pages/pages.ts";
import { type OpenMounts, ownerOf } from "./mounts.ts";
import { type MountName, OPEN_PATH, OPENAPI_PATH, STREAM_ROOT } from "./paths.ts";

const OWN_HOST = /^(?:localhost|127(?:\.\d{1,3}){3}|\[::1\])(?::\d{1,5})?$/i;
const METHODS = "GET, HEAD, POST, PUT, PATCH, DELETE, OPTIONS";

const REQUEST_HEADERS = [
  "Content-Type",
  "Authorization",
  "If-None-Match",
  "Idempotency-Key",
  "Stream-Seq",
  "Stream-TTL",
  "Stream-Expires-At",
  "Stream-Closed",
  "Producer-Id",
  "Producer-Epoch",
  "Producer-Seq",
  "Stream-Forked-From",
  "Stream-Fork-Offset",
  "Stream-Fork-Sub-Offset",
  "Last-Event-ID",
].join(", ");

const RESPONSE_HEADERS = [
  "Stream-Next-Offset",
  "Stream-Cursor",
  "Stream-Up-To-Date",
  "Stream-Closed",
  "Stream-TTL",
  "Stream-Expires-At",
  "Stream-SSE-Data-Encoding",
  "Producer-Epoch",
  "Producer-Seq",
  "Producer-Expected-Seq",
  "Producer-Received-Seq",
  "ETag",
  "Location",
  "Retry-After",
  "Session-From",
  "Session-To",
  "Session-End",
].join(", ");

const OPERATIONS: ReadonlySet<string> = new Set(["/live", "/health", "/ready", "/metrics"]);

export function requestListener(context: ServerContext, mounts: OpenMounts): Handler {
  const { settings, isLocal } = context;
  const { allowOrigins, allowHosts } = settings;
  const origins = new Origins({ allowOrigins, allowHosts, isLocal });
  return (request, response, track) => {
    if (request.method === "OPTIONS") return origins.preflight(request, response);
    if (context.readers.isStopping) response.shouldKeepAlive = false;
    route(context, mounts, origins, request, response, track).catch((error: unknown) => {
      answerFailure(context, request, response, error, track);
    });
  };
}

async function route(
  context: ServerContext,
  mounts: OpenMounts,
  origins: Origins,
  request: IncomingMessage,
  response: ServerResponse,
  track: RequestTrack,
): Promise<void> {
  origins.check(request, response);
  const path = rawPath(request.url ?? "/");
  const owner = ownerOf(path);
  const stream = owner === "streams" ? streamPathOf(path) : null;
  track.stream = stream;
  if (owner === "subscriptions") track.route = owner;
  else track.route = stream === null ? "other" : "stream";
  const pass = context.gate.admit(request, path, stream);
  track.token = pass === null ? null : pass.token;
  if (pass !== null) context.tokens.limiter.take(pass, request, response);
  const mount = owner === null ? undefined : mounts.byName.get(owner);
  if (await mount?.handle?.({ request, response, path, stream, track, pass })) return;
  if (path === OPEN_PATH && context.browsers !== null) {
    return answerOpening(context.browsers, request, response);
  }
  if (OPERATIONS.has(path)) track.route = "operations";
  const page = pageOf(context, mounts, path, pass);
  if (page === null) throw nothingThere(mounts, owner);
  refuseWriting(request);
  await page(response);
}

type Page = (response: ServerResponse) => Promise<void> | void;

/** Pages of the server itself, for GET or HEAD; null when there is no such page. */
function pageOf(
  context: ServerContext,
  mounts: OpenMounts,
  path: string,
  pass: Admission | null,
): Page | null {
  if (path === "/") return (response) => answerWelcome(response);
  if (path === OPENAPI_PATH) {
    return async (response) => {
      const { answerOpenApi } = await import("../openapi/document.ts");
      return answerOpenApi(mounts.names, response);
    };
  }
  if (path === "/live") return (response) => answerHealth(context, response, true);
  if (path === "/health") return (response) => answerHealth(context, response, false);
  if (path === "/ready") return (response) => answerReady(context, response);
  if (path === "/metrics") return (response) => answerMetrics(context, response, pass);
  return null;
}

function nothingThere({ names }: OpenMounts, owner: MountName | null): VerbatimError {
  const isLeftOut = owner !== null && !names.includes(owner);
  const message = isLeftOut
    ? `this server was opened without its mount ${owner}, which serves this path`
    : `nothing is served at this path; streams are under ${STREAM_ROOT}/`;
  return new VerbatimError("NOT_FOUND", message, { part: "the path" });
}

function answerFailure(
  context: ServerContext,
  request: IncomingMessage,
  response: ServerResponse,
  error: unknown,
  track: RequestTrack,
): void {
  const isOurs = error instanceof VerbatimError;
  const code = isOurs ? error.code : "INTERNAL";
  track.failed(code);
  if (!isOurs) context.onFault(`${request.method} ${rawPath(request.url ?? "")}`, error);
  if (response.headersSent) {
    response.destroy(); // Closing shows the reader that the answer is not complete.
  } else if (!isOurs) {
    const message = "the server failed; the details are in its log";
    answerJson(response, 500, errorBody("INTERNAL", message));
  } else if (error.code === "BODY_TOO_LARGE") {
    answerTooLarge(request, response, error);
  } else if ("retrySeconds" in error.details) {
    const { token, limit } = error.details;
    context.tokens.limiter.refused(token, limit as LimitName);
    // Later, and the body is not read before: a client that never waits is slowed down.
    context.time.setTimer(REFUSAL_MS, () => {
      if (!request.complete) request.resume();
      if (!response.destroyed) answerError(response, error);
    });
  } else {
    // The rest of a body that was refused halfway, or the connection would serve nothing more.
    if (!request.complete) request.resume();
    answerError(response, error);
  }
}

export interface OriginRules {
  readonly allowOrigins: readonly string[];
  readonly allowHosts: readonly string[];
  /** Whether only this machine can reach the server. */
  readonly isLocal: boolean;
}

class Origins {
  readonly #allowed: ReadonlySet<string>;
  readonly #hosts: ReadonlySet<string>;
  readonly #isOpen: boolean;
  readonly #isLocal: boolean;

  constructor({ allowOrigins, allowHosts, isLocal }: OriginRules) {
    this.#isOpen = allowOrigins.includes("*");
    this.#isLocal = isLocal;
    this.#allowed = new Set(allowOrigins);
    this.#hosts = new Set([...allowHosts, ...allowOrigins.map(hostOf)].map(lowerCase));
  }

  /** Throws ORIGIN_REFUSED, or allows the page to read the response. */
  check(request: IncomingMessage, response: ServerResponse): void {
    const { host, origin } = request.headers;
    if (!this.#isOpen && !this.#isOurs(host ?? "")) {
      throw refused(
        "Host",
        "is not a name of this machine; use localhost, or allow it with --allow-host",
      );
    }
    if (origin === undefined) return;
    if (!this.#isAllowed(origin, host)) {
      throw refused("Origin", "is not an allowed web page; allow it with --allow-origin");
    }
    response.setHeader("Access-Control-Allow-Origin", origin);
    response.setHeader("Access-Control-Expose-Headers", RESPONSE_HEADERS);
    response.setHeader("Vary", "Origin");
  }

  /** Answers a preflight. The allowed origin is in the header that `check` sets. */
  preflight(request: IncomingMessage, response: ServerResponse): void {
    const { host, origin } = request.headers;
    const headers = newHeaders();
    headers.push("Access-Control-Allow-Methods", METHODS);
    headers.push("Access-Control-Allow-Headers", REQUEST_HEADERS);
    headers.push("Access-Control-Max-Age", "600", "Vary", "Origin");
    if (origin !== undefined && this.#isAllowed(origin, host)) {
      headers.push("Access-Control-Allow-Origin", origin);
    }
    answer(response, 204, headers);
  }

  #isOurs(host: string): boolean {
    // A server that others can reach may have any name; tokens protect it.
    return !this.#isLocal || OWN_HOST.test(host) || this.#hosts.has(host.toLowerCase());
  }

  #isAllowed(origin: string, host: string | undefined): boolean {
    if (this.#isOpen || this.#allowed.has(origin)) return true;
    const page = hostOf(origin);
    if (this.#hosts.has(page.toLowerCase())) return true;
    return this.#isLocal ? OWN_HOST.test(page) : page === host;
  }
}

function hostOf(origin: string): string {
  return origin.replace(/^https?:\/\//, "");
}

function lowerCase(text: string): string {
  return text.toLowerCase();
}

function refused(header: "Origin" | "Host", reason: string): VerbatimError {
  return new VerbatimError("ORIGIN_REFUSED", `the request is refused: ${header} ${reason}`, {
    header,
  });
}
