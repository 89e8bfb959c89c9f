/** Only reading: refuses requests that write sessions over HTTP, with the allowed methods. */

import type { IncomingMessage, ServerResponse } from "node:http";
import { answer } from "../http/answer.ts";
import { sessionHeaders } from "./wire.ts";

/** Whether the request is not a read; it has been answered then. */
export function isRefusedAsWriting({ method }: IncomingMessage, response: ServerResponse): boolean {
  if (method === "GET" || method === "HEAD") return false;
  const headers = sessionHeaders();
  headers.push("Allow", "GET, HEAD, OPTIONS");
  answer(response, 405, headers);
  return true;
}
