/**
 * Answers: writes responses.
 *
 * Every answer has headers that stop a browser from guessing its type or embedding it. Head and
 * body are sent in one write. Headers are flat lists (name, value, name, value), which Node accepts
 * directly.
 */

import type { IncomingMessage, ServerResponse } from "node:http";
import type { Socket } from "node:net";
import { type ErrorCode, errnoOf, VerbatimError } from "../../core/base/errors.ts";
import { STATUS } from "./status.ts";

type Reason = "malformed" | "timeout" | "too-large" | "broken-off";

const ANSWERS: Readonly<Record<Exclude<Reason, "broken-off">, string>> = {
  malformed: "400 Bad Request",
  timeout: "408 Request Timeout",
  "too-large": "431 Request Header Fields Too Large",
};

/**
 * Answers to input that is not HTTP, too slow or too large.
 *
 * Answers with the error if the connection is still open, then closes it.
 */
export function answerBroken(error: Error, socket: Socket): Reason {
  const reason = reasonOf(errnoOf(error));
  if (reason === "broken-off" || !socket.writable) {
    socket.destroy();
    return reason;
  }
  // After an answer has begun, another would become part of its body. Node keeps the current answer
  // in this field and checks it the same way (20.20).
  const begun = (socket as Socket & { _httpMessage?: { headersSent?: boolean } })._httpMessage;
  if (begun?.headersSent) {
    socket.destroy();
    return reason;
  }
  const head = `HTTP/1.1 ${ANSWERS[reason]}\r\nContent-Length: 0\r\n`;
  socket.end(`${head}X-Content-Type-Options: nosniff\r\nConnection: close\r\n\r\n`);
  socket.destroySoon(); // Ignore what it still sends.
  return reason;
}

function reasonOf(code: string): Reason {
  if (code === "ERR_HTTP_REQUEST_TIMEOUT") return "timeout";
  if (code === "HPE_HEADER_OVERFLOW" || code === "HPE_CHUNK_EXTENSIONS_OVERFLOW")
    return "too-large";
  return code.startsWith("HPE_") ? "malformed" : "broken-off";
}

/**
 * Limits the bytes of answers held in memory for slow readers.
 *
 * Bytes are released when the answer is sent or its connection closes. Above the limit an answer is
 * refused; if nothing is held, an answer of any size is allowed.
 */
export class AnswerRoom {
  readonly #bytesMax: number;
  #held = 0;

  constructor(bytesMax: number) {
    this.#bytesMax = bytesMax;
  }

  get held(): number {
    return this.#held;
  }

  /**
   * Call it right before sending; throws TOO_MANY_READERS. The returned function releases the bytes
   * early, if they are taken before the answer ends.
   */
  hold(response: ServerResponse, bytes: number): () => void {
    // Nothing to hold, or the reader has left.
    if (bytes === 0 || response.destroyed) return () => {};
    if (this.#held > 0 && this.#held + bytes > this.#bytesMax) {
      throw new VerbatimError(
        "TOO_MANY_READERS",
        "too many answers are waiting to be taken by their readers " +
          `(answersBytesMax is ${this.#bytesMax}); try again later`,
        { readersMax: this.#bytesMax },
      );
    }
    this.#held += bytes;
    const giveBack = () => {
      response.off("close", giveBack);
      this.#held -= bytes;
      bytes = 0;
    };
    response.on("close", giveBack);
    return giveBack;
  }
}

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
export function errorBody(code: string, message: string, more: object = {}): unknown {
  return { error: { code, message, ...more } };
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
  if ("retrySeconds" in error.details) {
    headers.push("Retry-After", String(error.details.retrySeconds));
  }
  if (status === 401) headers.push("WWW-Authenticate", 'Bearer realm="verbatim"');
  if ("allowed" in error.details) headers.push("Allow", error.details.allowed);
  const more = "field" in error.details ? { field: error.details.field } : {};
  answerJson(response, status, errorBody(error.code, error.message, more), headers);
}

const RETRY_LATER: ReadonlySet<ErrorCode> = new Set<ErrorCode>([
  "QUEUE_FULL",
  "TOO_MANY_READERS",
  "STREAM_BUSY",
  "OVERLOADED",
  "RECOVERING",
  "STORE_UNAVAILABLE",
]);

/** A bad request; `part` is the header, the query or the body. */
export function badRequest(part: string, reason: string): VerbatimError {
  return new VerbatimError("BAD_REQUEST", `the request is refused: ${part} ${reason}`, {
    part,
    reason,
  });
}

/** The path is served, but not for this method; `allowed` is the value of `Allow`. */
export function methodNotAllowed(allowed: string): VerbatimError<"METHOD_NOT_ALLOWED"> {
  const message = `this path does not take the request's method; it takes ${allowed}`;
  return new VerbatimError("METHOD_NOT_ALLOWED", message, { allowed });
}

/** For paths that only return something. */
export function refuseWriting({ method }: IncomingMessage, allowed = "GET, HEAD, OPTIONS"): void {
  if (method !== "GET" && method !== "HEAD") throw methodNotAllowed(allowed);
}
