/** Producer turn: the headers with which a writer numbers its appends, so that retries are known. */

import type { IncomingHttpHeaders } from "node:http";
import type { ProducerTurn } from "../../streams/files/stream-store.ts";
import { badRequest } from "../http/answer.ts";

/** Limited, because it is stored with every append. */
const PRODUCER_ID_CHARS_MAX = 256;

/** Identify a writer's retry. All three or none. */
export function producerTurn(headers: IncomingHttpHeaders): ProducerTurn | undefined {
  const id = headers["producer-id"];
  const epoch = headers["producer-epoch"];
  const seq = headers["producer-seq"];
  if (id === undefined && epoch === undefined && seq === undefined) return undefined;
  if (typeof id !== "string" || epoch === undefined || seq === undefined) {
    throw badRequest("Producer-Id, -Epoch, -Seq", "must be sent together or not at all");
  }
  if (id === "") throw badRequest("Producer-Id", "is empty");
  if (id.length > PRODUCER_ID_CHARS_MAX) {
    throw badRequest("Producer-Id", `is longer than ${PRODUCER_ID_CHARS_MAX} characters`);
  }
  return { id, epoch: count("Producer-Epoch", epoch), seq: count("Producer-Seq", seq) };
}

function count(header: string, text: string | string[]): number {
  const number = typeof text === "string" && /^\d{1,16}$/.test(text) ? Number(text) : Number.NaN;
  if (!Number.isSafeInteger(number)) {
    throw badRequest(header, "must be a whole number from 0 to 2^53-1");
  }
  return number;
}
