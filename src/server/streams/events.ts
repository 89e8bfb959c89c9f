/**
 * Events: `GET` with `live=sse`. Sends the existing data chunk by chunk, then new data, until the
 * stream is closed, the reader leaves or loses its permission, or its time is over.
 */

import type { ServerResponse } from "node:http";
import type { Chunk, ReadFrom } from "../../streams/stream-store.ts";
import type { Pass } from "../auth/gate.ts";
import type { ServerContext } from "../context.ts";
import { badRequest } from "../http/answer.ts";
import type { ReadQuery } from "../http/target.ts";
import { sharedFrame } from "./event-feed.ts";
import { eventFrame } from "./event-frame.ts";
import { EventReader } from "./event-reader.ts";
import { readChunk, readFrom } from "./reading.ts";

export async function streamEvents(
  context: ServerContext,
  path: string,
  query: ReadQuery,
  response: ServerResponse,
  pass: Pass | null,
): Promise<void> {
  if (query.offset === undefined) throw badRequest("offset", "is missing; a live read needs one");
  const asked = readFrom(query.offset);
  const from = asked === "now" ? (await context.store.head(path)).end : asked;
  // Before the head is written, so that a failed read gets an error status.
  const first = await heldChunk(context, path, from, response);
  const reader = new EventReader(context, response, query.cursor, pass);
  reader.begin(first.chunk.head);
  try {
    await catchUp(context, path, reader, response, first);
  } catch (error) {
    reader.cut();
    throw error;
  }
}

/** A chunk that counts as a held answer until it is released. */
interface HeldChunk {
  readonly chunk: Chunk;
  readonly letGo: () => void;
}

async function heldChunk(
  context: ServerContext,
  path: string,
  from: ReadFrom,
  response: ServerResponse,
): Promise<HeldChunk> {
  const chunk = await readChunk(context, path, from);
  return { chunk, letGo: context.answers.hold(response, chunk.bytes.length) };
}

async function catchUp(
  context: ServerContext,
  path: string,
  reader: EventReader,
  response: ServerResponse,
  first: HeldChunk,
): Promise<void> {
  const { feeds } = context;
  let held = first;
  for (;;) {
    const { chunk, letGo } = held;
    const frame = eventFrame(chunk);
    if (held === first || frame.data.length > 0 || frame.isFinal) {
      reader.send(frame, sharedFrame(frame, context.time.nowMs()));
    }
    // A slow reader holds one chunk at a time.
    await reader.drained();
    letGo();
    if (reader.isOver) return;
    if (chunk.isAtEnd) {
      if (feeds.join(path, reader, chunk.next)) return;
      await feeds.settled(path); // The feed is behind us, or there is more to read.
    }
    held = await heldChunk(context, path, chunk.next, response);
  }
}
