/** Broken requests: answers to input that is not HTTP, too slow or too large. */

import type { Socket } from "node:net";
import { errnoOf } from "../../base/errors.ts";

type Reason = "malformed" | "timeout" | "too-large" | "broken-off";

const ANSWERS: Readonly<Record<Exclude<Reason, "broken-off">, string>> = {
  malformed: "400 Bad Request",
  timeout: "408 Request Timeout",
  "too-large": "431 Request Header Fields Too Large",
};

/** Answers with the error if the connection is still open, then closes it. */
export function answerBroken(error: Error, socket: Socket): Reason {
  const reason = reasonOf(errnoOf(error));
  if (reason === "broken-off" || !socket.writable) {
    socket.destroy();
    return reason;
  }
  // After an answer has begun, another would become part of its body. Node keeps the current answer
  // in this field and checks it the same way (20.20).
  const begun = (socket as Socket & { _httpMessage?: { headersSent?: boolean } })._httpMessage;
  if (begun?.headersSent) {
    socket.destroy();
    return reason;
  }
  const head = `HTTP/1.1 ${ANSWERS[reason]}\r\nContent-Length: 0\r\n`;
  socket.end(`${head}X-Content-Type-Options: nosniff\r\nConnection: close\r\n\r\n`);
  socket.destroySoon(); // Ignore what it still sends.
  return reason;
}

function reasonOf(code: string): Reason {
  if (code === "ERR_HTTP_REQUEST_TIMEOUT") return "timeout";
  if (code === "HPE_HEADER_OVERFLOW" || code === "HPE_CHUNK_EXTENSIONS_OVERFLOW")
    return "too-large";
  return code.startsWith("HPE_") ? "malformed" : "broken-off";
}
