/**
 * Append: `POST` to a stream. What the store decided about it is answered after the store's sync.
 *
 * This is the path that must be short: one body, one call of the store, one write.
 */

import type { IncomingMessage, ServerResponse } from "node:http";
import type { Appended, ProducerTurn, StreamHead } from "../../streams/stream-store.ts";
import type { ServerContext } from "../context.ts";
import {
  answer,
  answerJson,
  badRequest,
  errorBody,
  type Headers,
  newHeaders,
} from "../http/answer.ts";
import { readBody } from "../http/body.ts";
import { isClosing } from "./create-request.ts";
import { producerTurn } from "./producer-headers.ts";

export async function appendToStream(
  context: ServerContext,
  path: string,
  request: IncomingMessage,
  response: ServerResponse,
): Promise<void> {
  const { headers } = request;
  const producer = producerTurn(headers);
  const close = isClosing(headers);
  const contentType = headers["content-type"];
  const streamSeq = headers["stream-seq"] as string | undefined;
  const body = await readBody(request, context.settings.bodyBytesMax, context.bodies);
  if (body.length === 0) {
    if (!close) throw badRequest("the body", "is empty; only closing needs none");
  } else if (!contentType) {
    throw badRequest("Content-Type", "is missing");
  }
  const { store, shares } = context;
  let appended: Appended;
  shares.take(path, body.length);
  try {
    appended = await store.append(path, { body, contentType, streamSeq, producer, close });
  } finally {
    shares.giveBack(path, body.length);
  }
  if (appended.outcome === "appended") context.front.metrics.appended(body.length);
  if (appended.head.lifetime.kind === "ttl") store.touch(path);
  answerAppended(response, appended, producer, body.length > 0);
}

/** What is refused, and why: no errors, but the protocol's answers to what a writer did. */
const REFUSALS = {
  "stale-epoch": [403, "STALE_EPOCH", "a newer epoch of this producer has written"],
  "new-epoch-not-at-0": [400, "BAD_EPOCH", "a new epoch begins with Producer-Seq 0"],
  gap: [409, "SEQUENCE_GAP", "an earlier Producer-Seq is missing; send that first"],
  closed: [409, "STREAM_CLOSED", "the stream is closed: it takes no more appends"],
  "type-differs": [409, "TYPE_DIFFERS", "the stream has another Content-Type"],
  "seq-not-greater": [409, "SEQUENCE_CONFLICT", "Stream-Seq must be greater than the last one"],
} as const;

function answerAppended(
  response: ServerResponse,
  appended: Appended,
  producer: ProducerTurn | undefined,
  hasBody: boolean,
): void {
  const headers = newHeaders();
  if (appended.outcome === "appended" || appended.outcome === "duplicate") {
    tellPlace(headers, appended.head);
    tellProducer(headers, producer, appended.lastSeq);
    // A producer that appended is told so with 200, to tell it from a repetition.
    const isNews = producer !== undefined && hasBody && appended.outcome === "appended";
    answer(response, isNews ? 200 : 204, headers);
    return;
  }
  if (appended.outcome === "closed") tellPlace(headers, appended.head);
  if (appended.outcome === "stale-epoch") headers.push("Producer-Epoch", String(appended.epoch));
  if (appended.outcome === "gap") {
    headers.push("Producer-Expected-Seq", String(appended.expected));
    headers.push("Producer-Received-Seq", String(producer?.seq));
  }
  const [status, code, message] = REFUSALS[appended.outcome];
  answerJson(response, status, errorBody(code, message), headers);
}

function tellPlace(headers: Headers, head: StreamHead): void {
  headers.push("Stream-Next-Offset", head.end);
  if (head.isClosed) headers.push("Stream-Closed", "true");
}

function tellProducer(
  headers: Headers,
  producer: ProducerTurn | undefined,
  lastSeq: number | null,
): void {
  if (producer === undefined) return;
  headers.push("Producer-Epoch", String(producer.epoch));
  headers.push("Producer-Seq", String(lastSeq ?? producer.seq));
}
