/** Head: what is known of a stream. Does not begin its lifetime anew, and is never cached. */

import type { ServerResponse } from "node:http";
import type { ServerContext } from "../context.ts";
import { newHeaders } from "../http/answer.ts";
import { entityTag } from "./reading.ts";

export async function headOfStream(
  { store }: ServerContext,
  path: string,
  response: ServerResponse,
): Promise<void> {
  const head = await store.head(path);
  const headers = newHeaders();
  headers.push("Content-Type", head.contentType, "Stream-Next-Offset", head.end);
  headers.push("Cache-Control", "no-store");
  headers.push("ETag", entityTag(head, head.start, head.end, head.isClosed));
  if (head.isClosed) headers.push("Stream-Closed", "true");
  const { lifetime } = head;
  if (lifetime.kind === "ttl") headers.push("Stream-TTL", String(lifetime.seconds));
  if (lifetime.kind === "until") headers.push("Stream-Expires-At", lifetime.text);
  // No Content-Length: it would be that of a GET, which is made of chunks.
  response.writeHead(200, headers);
  response.end();
}
