/** Long-poll: a `GET` that waits for new data when there is none. */

import type { IncomingMessage, ServerResponse } from "node:http";
import type { OffsetToken } from "../../streams/files/offset-token.ts";
import type { Chunk, ReadFrom, StreamHead } from "../../streams/files/stream-store.ts";
import type { Admission } from "../auth/gate.ts";
import type { ServerContext } from "../context.ts";
import { answer, badRequest, newHeaders } from "../http/answer.ts";
import type { ReadQuery } from "../http/target.ts";
import { cursorAfter } from "./cursor.ts";
import { keepTouched, LiveWait } from "./live-wait.ts";
import { answerFresh, readChunk, readFrom, type TagFrom } from "./reads.ts";

export async function longPoll(
  context: ServerContext,
  path: string,
  query: ReadQuery,
  request: IncomingMessage,
  response: ServerResponse,
  pass: Admission | null,
): Promise<void> {
  if (query.offset === undefined) throw badRequest("offset", "is missing; a live read needs one");
  const asked = readFrom(query.offset);
  const from: ReadFrom = asked === "now" ? (await context.store.head(path)).end : asked;
  const wait = new LiveWait(context, path, response, pass);
  let untouch: (() => void) | null = null;
  try {
    for (;;) {
      const chunk = await readChunk(context, path, from);
      untouch ??= keepTouched(context.store, chunk.head, context.time);
      if (chunk.bytes.length > 0) {
        return answerData(context, chunk, asked === "now" ? null : from, query, request, response);
      }
      if (chunk.head.isClosed)
        return answerNothing(context, chunk.head, chunk.next, query, response);
      const woken = await wait.next();
      if (woken === "left") return;
      if (woken === "over") return answerNothing(context, chunk.head, chunk.next, query, response);
    }
  } finally {
    untouch?.();
    wait.end();
  }
}

function answerData(
  context: ServerContext,
  chunk: Chunk,
  from: TagFrom,
  { cursor }: ReadQuery,
  request: IncomingMessage,
  response: ServerResponse,
): void {
  const headers = newHeaders();
  const next = cursorAfter(cursor, context.time.nowMs(), context.random);
  headers.push("Stream-Cursor", String(next));
  answerFresh(context, response, headers, chunk, from, request);
}

/** No new data. Not cached, because the next reader would not wait. */
function answerNothing(
  context: ServerContext,
  head: StreamHead,
  next: OffsetToken,
  { cursor }: ReadQuery,
  response: ServerResponse,
): void {
  const headers = newHeaders();
  headers.push("Stream-Next-Offset", next, "Stream-Up-To-Date", "true");
  headers.push("Cache-Control", "no-store");
  if (head.isClosed) headers.push("Stream-Closed", "true");
  else {
    const after = cursorAfter(cursor, context.time.nowMs(), context.random);
    headers.push("Stream-Cursor", String(after));
  }
  answer(response, 204, headers);
}
