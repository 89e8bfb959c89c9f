/** Broken requests: the answer to what is no HTTP, or comes too slowly or too large. */

import type { Socket } from "node:net";
import { errnoOf } from "../../base/errors.ts";

type Reason = "malformed" | "timeout" | "too-large" | "broken-off";

const ANSWERS: Readonly<Record<Exclude<Reason, "broken-off">, string>> = {
  malformed: "400 Bad Request",
  timeout: "408 Request Timeout",
  "too-large": "431 Request Header Fields Too Large",
};

/** Says what was wrong, where anybody is left to hear it, and lets go of the connection. */
export function answerBroken(error: Error, socket: Socket): Reason {
  const reason = reasonOf(errnoOf(error));
  if (reason === "broken-off" || !socket.writable) {
    socket.destroy();
    return reason;
  }
  // Once an answer was begun, another in the middle of it would be taken for a part of it. Node
  // keeps the answer that is under way here, and looks there itself (20.20).
  const begun = (socket as Socket & { _httpMessage?: { headersSent?: boolean } })._httpMessage;
  if (begun?.headersSent) {
    socket.destroy();
    return reason;
  }
  const head = `HTTP/1.1 ${ANSWERS[reason]}\r\nContent-Length: 0\r\n`;
  socket.end(`${head}X-Content-Type-Options: nosniff\r\nConnection: close\r\n\r\n`);
  socket.destroySoon(); // What it still sends is of no interest.
  return reason;
}

function reasonOf(code: string): Reason {
  if (code === "ERR_HTTP_REQUEST_TIMEOUT") return "timeout";
  if (code === "HPE_HEADER_OVERFLOW" || code === "HPE_CHUNK_EXTENSIONS_OVERFLOW")
    return "too-large";
  return code.startsWith("HPE_") ? "malformed" : "broken-off";
}
