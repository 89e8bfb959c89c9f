/**
 * Bodies of requests, complete and bounded.
 *
 * No more than the limit is held: the first byte above it, or a Content-Length above it, ends the
 * reading with BODY_TOO_LARGE. All bodies being received are limited together (`BodyRoom`,
 * QUEUE_FULL). Received bodies are limited by the store.
 *
 * A sender must be able to read why it was refused. If the connection closes while it sends, a
 * reset destroys the answer; so what it sends is read and discarded for a while (`answerTooLarge`).
 */

import type { IncomingMessage, ServerResponse } from "node:http";
import { VerbatimError } from "../../core/base/errors.ts";
import { DISCARDED_BYTES_MAX, DISCARDING_MS_MAX } from "../settings/limits.ts";
import { badRequest, errorBody, newHeaders } from "./answer.ts";
import { STATUS } from "./status.ts";

const EMPTY = new Uint8Array(0);

/** Limits the bytes of incomplete bodies. */
export class BodyRoom {
  readonly #bytesMax: number;
  #held = 0;

  constructor(bytesMax: number) {
    this.#bytesMax = bytesMax;
  }

  /** False when there is not enough room. */
  take(bytes: number): boolean {
    if (this.#held + bytes > this.#bytesMax) return false;
    this.#held += bytes;
    return true;
  }

  giveBack(bytes: number): void {
    this.#held -= bytes;
  }

  get held(): number {
    return this.#held;
  }

  get refusal(): VerbatimError {
    return new VerbatimError(
      "QUEUE_FULL",
      `more than ${this.#bytesMax} bytes are being sent at once; send it again later`,
      { path: "bodies of requests", queuedBytes: this.#held, bytesMax: this.#bytesMax },
    );
  }
}

/**
 * The complete body; throws if it is too large, encoded or cut short. Pass no `room` for a small
 * `bytesMax`.
 */
export function readBody(
  request: IncomingMessage,
  bytesMax: number,
  room: BodyRoom = new BodyRoom(bytesMax),
): Promise<Uint8Array> {
  const { headers } = request;
  const declared = headers["content-length"];
  if (declared === undefined && headers["transfer-encoding"] === undefined) {
    return Promise.resolve(EMPTY);
  }
  const coding = headers["transfer-encoding"];
  if (coding !== undefined && coding.toLowerCase() !== "chunked") {
    return Promise.reject(codingRefused());
  }
  const encoding = headers["content-encoding"];
  if (encoding !== undefined && encoding.toLowerCase() !== "identity") {
    // Readers of the stream would not know how to decode it.
    return Promise.reject(
      badRequest("Content-Encoding", "is not supported; send the body without it"),
    );
  }
  if (declared !== undefined && Number(declared) > bytesMax) {
    return Promise.reject(tooLarge(bytesMax));
  }
  return gather(request, bytesMax, room);
}

/**
 * Gives the room back as soon as its outcome is known: a request that is answered before its end
 * never emits "close" (20.20).
 */
function gather(request: IncomingMessage, bytesMax: number, room: BodyRoom): Promise<Uint8Array> {
  return new Promise((resolve, reject) => {
    let first: Uint8Array = EMPTY;
    let more: Uint8Array[] | null = null;
    let length = 0;
    let isOver = false;
    const end = () => {
      isOver = true;
      room.giveBack(length);
      first = EMPTY;
      more = null;
      request.off("data", take);
    };
    const refuse = (error: VerbatimError) => {
      end();
      request.pause(); // How the rest is discarded depends on the answer.
      reject(error);
    };
    const take = (chunk: Uint8Array) => {
      if (length + chunk.length > bytesMax) return refuse(tooLarge(bytesMax));
      if (!room.take(chunk.length)) return refuse(room.refusal);
      length += chunk.length;
      if (first.length === 0) {
        first = chunk; // The usual case: one piece, not copied.
      } else {
        more ??= [first];
        more.push(chunk);
      }
    };
    // The sender has left: the error only ends the handler. Created late, because an error costs a
    // tenth of an append.
    const brokenOff = () => {
      if (isOver) return;
      end();
      reject(badRequest("the body", "ended before it was complete"));
    };
    request.on("data", take);
    request.on("end", () => {
      if (isOver) return;
      const body = more === null ? first : Buffer.concat(more, length);
      end();
      resolve(body);
    });
    request.on("error", brokenOff);
    request.on("close", brokenOff);
  });
}

/** The complete body, which must be JSON. `none`: what an empty one means, if it is allowed. */
export async function readJson(
  request: IncomingMessage,
  bytesMax: number,
  none?: unknown,
): Promise<unknown> {
  const bytes = await readBody(request, bytesMax);
  if (bytes.length === 0 && none !== undefined) return none;
  try {
    return JSON.parse(new TextDecoder("utf-8", { fatal: true }).decode(bytes));
  } catch {
    throw badRequest("the body", "is not JSON");
  }
}

/** Node decodes `chunked` and leaves every other coding in the body (20.20). */
function codingRefused(): VerbatimError {
  return new VerbatimError(
    "NOT_IMPLEMENTED",
    "the request is refused: the only supported Transfer-Encoding is chunked",
    { part: "Transfer-Encoding" },
  );
}

function tooLarge(bytesMax: number): VerbatimError {
  return new VerbatimError(
    "BODY_TOO_LARGE",
    `the body is larger than ${bytesMax} bytes; send less, or in several appends`,
    { bytesMax },
  );
}

/** Answers 413, and closes the connection once the sender can have read it. */
export function answerTooLarge(
  request: IncomingMessage,
  response: ServerResponse,
  error: VerbatimError,
): void {
  const body = Buffer.from(JSON.stringify(errorBody(error.code, error.message)));
  const headers = newHeaders();
  headers.push("Content-Type", "application/json", "Content-Length", String(body.length));
  headers.push("Connection", "close");
  response.writeHead(STATUS[error.code], headers);
  // Written, not ended: ending would close the connection while the body is being sent.
  response.write(body);
  let discarded = 0;
  const finish = () => {
    clearTimeout(timer);
    response.end();
  };
  const timer = setTimeout(finish, DISCARDING_MS_MAX);
  request.on("data", (chunk: Uint8Array) => {
    discarded += chunk.length;
    if (discarded > DISCARDED_BYTES_MAX) finish();
  });
  request.on("end", finish);
  request.on("error", finish);
  request.on("close", finish);
  request.resume();
  // The sender waits for a 100 that never comes.
  if (request.headers.expect !== undefined && !request.readableDidRead) finish();
}
