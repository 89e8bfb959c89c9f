/** Demo route: whether the demo is shown, and the request that removes it. */

import type { IncomingMessage, ServerResponse } from "node:http";
import type { ServerContext } from "../context.ts";
import { answer, answerJson, newHeaders } from "../http/answer.ts";

export function answerDemo(
  { demo }: ServerContext,
  { method }: IncomingMessage,
  response: ServerResponse,
): void {
  const headers = newHeaders();
  headers.push("Cache-Control", "no-store");
  if (method === "GET" || method === "HEAD") {
    answerJson(response, 200, { isShown: demo.isShown }, headers);
  } else if (method === "DELETE") {
    demo.remove();
    answer(response, 204, headers);
  } else {
    headers.push("Allow", "GET, HEAD, DELETE, OPTIONS");
    answer(response, 405, headers);
  }
}
