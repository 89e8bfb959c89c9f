/** Only reading: refuses requests that write sessions over HTTP, with the allowed methods. */

import type { IncomingMessage } from "node:http";
import { methodNotAllowed } from "../http/answer.ts";

export function refuseWriting({ method }: IncomingMessage): void {
  if (method !== "GET" && method !== "HEAD") throw methodNotAllowed("GET, HEAD, OPTIONS");
}
