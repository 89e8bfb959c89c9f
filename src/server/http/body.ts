/**
 * Bodies of requests, whole and bounded.
 *
 * BO1  No more than the limit is held. The first byte past it, or a Content-Length that says so,
 *      ends the reading with BODY_TOO_LARGE.
 *      So it is with all bodies that are on their way at once (`BodyRoom`, QUEUE_FULL). Those that
 *      have arrived are the store's to bound.
 * BO2  A sender must be able to read why it was refused. One that is still sending when the
 *      connection closes loses the answer to a reset, so what it sends is read and thrown away
 *      for a while (`answerTooLarge`).
 */

import type { IncomingMessage, ServerResponse } from "node:http";
import { VerbatimError } from "../../base/errors.ts";
import { DISCARDED_BYTES_MAX, DISCARDING_MS_MAX } from "../settings.ts";
import { badRequest, errorBody, newHeaders } from "./answer.ts";
import { STATUS } from "./status.ts";

const EMPTY = new Uint8Array(0);

/** How much of bodies may have come that are not whole yet. */
export class BodyRoom {
  readonly #bytesMax: number;
  #held = 0;

  constructor(bytesMax: number) {
    this.#bytesMax = bytesMax;
  }

  /** False when there is no room for that much. */
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
 * The body; refuses one that is too large, encoded, or not sent to its end. Where `bytesMax` is small,
 * it needs no room of its own.
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
    // Kept as it is, it would be bytes that no reader is told how to read.
    return Promise.reject(badRequest("Content-Encoding", "is not understood; send it plain"));
  }
  if (declared !== undefined && Number(declared) > bytesMax) {
    return Promise.reject(tooLarge(bytesMax));
  }
  return gather(request, bytesMax, room);
}

function gather(request: IncomingMessage, bytesMax: number, room: BodyRoom): Promise<Uint8Array> {
  return new Promise((resolve, reject) => {
    let first: Uint8Array = EMPTY;
    let more: Uint8Array[] | null = null;
    let length = 0;
    const refuse = (error: VerbatimError) => {
      request.removeAllListeners("data");
      request.pause();
      first = EMPTY;
      more = null;
      reject(error);
    };
    request.on("data", (chunk: Uint8Array) => {
      if (length + chunk.length > bytesMax) return refuse(tooLarge(bytesMax));
      if (!room.take(chunk.length)) return refuse(room.refusal);
      length += chunk.length;
      if (first.length === 0) {
        first = chunk; // The common case: one piece, which need not be copied.
      } else {
        more ??= [first];
        more.push(chunk);
      }
    });
    let isOver = false;
    request.on("end", () => {
      isOver = true;
      resolve(more === null ? first : Buffer.concat(more, length));
    });
    // Nobody is left to be answered: the refusal only ends the handler. Made only when it is
    // needed: an error costs a tenth of what an append does.
    const brokenOff = () => {
      if (!isOver) reject(badRequest("the body", "broke off before it was whole"));
      isOver = true;
    };
    request.on("error", brokenOff);
    request.on("close", () => {
      room.giveBack(length);
      brokenOff();
    });
  });
}

/** Node takes the chunks apart, and leaves whatever else was done to the body (20.20). */
function codingRefused(): VerbatimError {
  return new VerbatimError(
    "NOT_IMPLEMENTED",
    "the request is refused: of transfer codings only chunked is understood; send the body plain",
    { part: "Transfer-Encoding" },
  );
}

function tooLarge(bytesMax: number): VerbatimError {
  return new VerbatimError(
    "BODY_TOO_LARGE",
    `the body is larger than the ${bytesMax} bytes that are taken; send it in several appends`,
    { bytesMax },
  );
}

/** Says that the body is too large, and lets go of the connection once that can have been read. */
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
  // Written, not ended: ending would close the connection over what is still being sent.
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
  if (request.headers.expect !== undefined) finish(); // It waits to be asked, and never is.
}
