/** Create: `PUT` of a stream. Idempotent: 201 when it is new, 200 when it was there as asked for. */

import type { IncomingMessage, ServerResponse } from "node:http";
import { VerbatimError } from "../../base/errors.ts";
import type { Created } from "../../streams/stream-store.ts";
import type { ServerContext } from "../context.ts";
import { answer, newHeaders } from "../http/answer.ts";
import { readBody } from "../http/body.ts";
import { rawPath } from "../http/target.ts";
import { contentTypeOf, forkOf, isClosing, lifetimeOf } from "./create-request.ts";

export async function createStream(
  context: ServerContext,
  path: string,
  request: IncomingMessage,
  response: ServerResponse,
): Promise<void> {
  const { headers } = request;
  const wanted = {
    contentType: contentTypeOf(headers),
    lifetime: lifetimeOf(headers),
    fork: forkOf(headers),
    isClosed: isClosing(headers),
  };
  const body = await readBody(request, context.settings.bodyBytesMax, context.bodies);
  const { isNew, head } = await created(context, path, { ...wanted, body });
  const told = newHeaders();
  told.push("Content-Type", head.contentType, "Stream-Next-Offset", head.end);
  if (head.isClosed) told.push("Stream-Closed", "true");
  if (isNew) {
    const scheme = context.subscriptions.baseUrl.startsWith("https:") ? "https" : "http";
    told.push("Location", `${scheme}://${headers.host}${rawPath(request.url ?? "")}`);
  }
  answer(response, isNew ? 201 : 200, told);
}

/** A source that is gone makes the fork impossible; it is not the new stream's path that is gone. */
async function created(
  { store }: ServerContext,
  path: string,
  wanted: Parameters<typeof store.create>[1],
): Promise<Created> {
  try {
    return await store.create(path, wanted);
  } catch (error) {
    if (!(error instanceof VerbatimError) || error.code !== "STREAM_GONE") throw error;
    throw new VerbatimError(
      "STREAM_CONFLICT",
      `${path} cannot be made: a deleted stream is held by its forks; use another path or source`,
      { stream: path, reason: "a deleted stream is held by its forks" },
      { cause: error },
    );
  }
}
