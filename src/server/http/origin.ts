/**
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
import { answer, newHeaders } from "./answer.ts";

const OWN_HOST = /^(?:localhost|127(?:\.\d{1,3}){3}|\[::1\])(?::\d{1,5})?$/i;
const METHODS = "GET, HEAD, POST, PUT, DELETE, OPTIONS";
const REQUEST_HEADERS = [
  "Content-Type",
  "Authorization",
  "If-None-Match",
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

export interface OriginRules {
  readonly allowOrigins: readonly string[];
  readonly allowHosts: readonly string[];
  /** Whether only this machine can reach the server. */
  readonly isLocal: boolean;
}

export class Origins {
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
