/**
 * Answers: writes responses.
 *
 * Every answer has headers that stop a browser from guessing its type or embedding it. Head and
 * body are sent in one write. Headers are flat lists (name, value, name, value), which Node accepts
 * directly.
 */

import type { ServerResponse } from "node:http";
import { type ErrorCode, VerbatimError } from "../../base/errors.ts";
import { STATUS } from "./status.ts";

export type Headers = string[];

/** A new list of headers, with those that every answer has. */
export function newHeaders(): Headers {
  return ["X-Content-Type-Options", "nosniff", "Cross-Origin-Resource-Policy", "same-site"];
}

/** Answers without a body. */
export function answer(response: ServerResponse, status: number, headers: Headers): void {
  if (status !== 204 && status !== 304) headers.push("Content-Length", "0");
  response.writeHead(status, headers);
  response.end();
}

/** Answers with a body in pieces, without concatenating them. */
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
  response.end(); // Sends all of it.
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

/** The JSON of an error. Code and message never contain stored content. */
export function errorBody(code: string, message: string): unknown {
  return { error: { code, message } };
}

/** Answers with an error and the status of its code. */
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

/** A bad request; `part` is the header, the query or the body. */
export function badRequest(part: string, reason: string): VerbatimError {
  return new VerbatimError("BAD_REQUEST", `the request is refused: ${part} ${reason}`, {
    part,
    reason,
  });
}
