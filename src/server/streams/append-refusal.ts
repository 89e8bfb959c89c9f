/** Append refusal: the answers that the protocol defines for it. */

import type { ServerResponse } from "node:http";
import { oneLine } from "../../core/base/one-line.ts";
import type { Appended, AppendRequest, StreamHead } from "../../streams/files/stream-store.ts";
import { answerJson, errorBody, type Headers, newHeaders } from "../http/answer.ts";

export type Accepted = Extract<Appended, { readonly outcome: "appended" | "duplicate" }>;
type Refused = Exclude<Appended, Accepted>;

const TYPE_CHARS_SHOWN = 100;

export const REFUSALS = {
  "stale-epoch": [403, "STALE_EPOCH", "a newer epoch of this producer has written"],
  "new-epoch-not-at-0": [400, "BAD_EPOCH", "a new epoch begins with Producer-Seq 0"],
  gap: [409, "SEQUENCE_GAP", "an earlier Producer-Seq is missing; send that first"],
  closed: [409, "STREAM_CLOSED", "the stream is closed: it takes no more appends"],
  "type-differs": [409, "TYPE_DIFFERS", typesDiffer],
  "seq-not-greater": [409, "SEQUENCE_CONFLICT", "Stream-Seq must be greater than the last one"],
} as const;

/** Returns the code of the answer. */
export function answerRefused(
  response: ServerResponse,
  refused: Refused,
  sent: AppendRequest,
): string {
  const headers = newHeaders();
  const { outcome, head } = refused;
  if (outcome === "closed") pushEnd(headers, head);
  if (outcome === "stale-epoch") headers.push("Producer-Epoch", String(refused.epoch));
  if (outcome === "gap") {
    headers.push("Producer-Expected-Seq", String(refused.expected));
    headers.push("Producer-Received-Seq", String(sent.producer?.seq));
  }
  const [status, code, message] = REFUSALS[outcome];
  const text = typeof message === "string" ? message : message(head, sent);
  answerJson(response, status, errorBody(code, text), headers);
  return code;
}

function typesDiffer(head: StreamHead, { contentType = "" }: AppendRequest): string {
  const own = oneLine(head.contentType, TYPE_CHARS_SHOWN);
  const other = oneLine(contentType, TYPE_CHARS_SHOWN);
  return `the stream is ${own}, the request ${other}; send Content-Type: ${own}`;
}

export function pushEnd(headers: Headers, head: StreamHead): void {
  headers.push("Stream-Next-Offset", head.end);
  if (head.isClosed) headers.push("Stream-Closed", "true");
}
