/**
 * Answers: how a response is written, whatever it says.
 *
 * AN1  Every answer carries the headers that keep a browser from guessing its type or embedding it.
 * AN2  Head and body leave in one write. Headers are flat lists (name, value, name, value), which
 *      Node takes as they are.
 */

import type { ServerResponse } from "node:http";
import { type ErrorCode, VerbatimError } from "../../base/errors.ts";
import { STATUS } from "./status.ts";

export type Headers = string[];

/** A new list to add headers to; it begins with those of AN1. */
export function newHeaders(): Headers {
  return ["X-Content-Type-Options", "nosniff", "Cross-Origin-Resource-Policy", "same-site"];
}

/** Answers without a body. */
export function answer(response: ServerResponse, status: number, headers: Headers): void {
  if (status !== 204 && status !== 304) headers.push("Content-Length", "0");
  response.writeHead(status, headers);
  response.end();
}

/** Answers with a body in pieces, which are not copied together. */
export function answerBytes(
  response: ServerResponse,
  headers: Headers,
  pieces: readonly (Uint8Array | string)[],
): void {
  let length = 0;
  for (const piece of pieces) length += piece.length; // Strings here are ASCII.
  headers.push("Content-Length", String(length));
  response.cork();
  response.writeHead(200, headers);
  for (const piece of pieces) if (piece.length > 0) response.write(piece);
  response.end(); // Which lets all of it go.
}

export function answerText(
  response: ServerResponse,
  status: number,
  type: string,
  text: string,
  headers: Headers = newHeaders(),
): void {
  const body = Buffer.from(text);
  headers.push("Content-Type", type, "Content-Length", String(body.length));
  response.writeHead(status, headers);
  response.end(body);
}

export function answerJson(
  response: ServerResponse,
  status: number,
  value: unknown,
  headers?: Headers,
): void {
  answerText(response, status, "application/json", JSON.stringify(value), headers);
}

/** What is told of an error: its code and its message, which hold nothing of what is stored. */
export function errorBody(code: string, message: string): unknown {
  return { error: { code, message } };
}

/** Answers with an error of ours, in the status its code has. */
export function answerError(
  response: ServerResponse,
  error: VerbatimError,
  status: number = STATUS[error.code],
): void {
  const headers = newHeaders();
  headers.push("Cache-Control", "no-store");
  if (RETRY_LATER.has(error.code)) headers.push("Retry-After", "1");
  if (status === 401) headers.push("WWW-Authenticate", 'Bearer realm="verbatim"');
  answerJson(response, status, errorBody(error.code, error.message), headers);
}

const RETRY_LATER: ReadonlySet<ErrorCode> = new Set<ErrorCode>([
  "QUEUE_FULL",
  "TOO_MANY_READERS",
  "STREAM_BUSY",
  "OVERLOADED",
  "RECOVERING",
]);

/** What is wrong with a request, `part` being where: a header, the query, the body. */
export function badRequest(part: string, reason: string): VerbatimError {
  return new VerbatimError("BAD_REQUEST", `the request is refused: ${part} ${reason}`, {
    part,
    reason,
  });
}
