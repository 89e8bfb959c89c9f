/** Read: `GET` of what is there, a chunk at a time. */

import type { IncomingMessage, ServerResponse } from "node:http";
import type { Chunk } from "../../streams/stream-store.ts";
import type { ServerContext } from "../context.ts";
import { newHeaders } from "../http/answer.ts";
import type { ReadQuery } from "../http/target.ts";
import { answerFresh, readChunk, readFrom } from "./reading.ts";

const NOTHING = new Uint8Array(0);

export async function readStream(
  context: ServerContext,
  path: string,
  query: ReadQuery,
  request: IncomingMessage,
  response: ServerResponse,
): Promise<void> {
  const from = readFrom(query.offset);
  const chunk = from === "now" ? await endOf(context, path) : await readChunk(context, path, from);
  if (chunk.head.lifetime.kind === "ttl") context.store.touch(path);
  const tagFrom = from === "now" ? null : from;
  answerFresh(context, response, newHeaders(), chunk, tagFrom, request);
}

/** The end, without what stands before it. */
async function endOf({ store }: ServerContext, path: string): Promise<Chunk> {
  const head = await store.head(path);
  return { head, bytes: NOTHING, from: head.end, next: head.end, isAtEnd: true };
}
