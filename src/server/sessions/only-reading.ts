/** Only reading: sessions are not written over HTTP, and whoever tries is told what they may do. */

import type { IncomingMessage, ServerResponse } from "node:http";
import { answer } from "../http/answer.ts";
import { sessionHeaders } from "./wire.ts";

/** Whether the request asks for more than reading; then it has been answered. */
export function isRefusedAsWriting({ method }: IncomingMessage, response: ServerResponse): boolean {
  if (method === "GET" || method === "HEAD") return false;
  const headers = sessionHeaders();
  headers.push("Allow", "GET, HEAD, OPTIONS");
  answer(response, 405, headers);
  return true;
}
