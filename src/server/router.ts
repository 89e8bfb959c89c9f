/**
 * Router: from a request to the handler that answers it, and from what a handler throws to an answer.
 *
 * RO1  Every request is answered or its connection is closed; nothing that a request brings about
 *      ends the process.
 */

import type { IncomingMessage, RequestListener, ServerResponse } from "node:http";
import { VerbatimError } from "../base/errors.ts";
import { checkStreamPath } from "../streams/stream-path.ts";
import { answer, answerError, answerJson, errorBody, newHeaders } from "./answer.ts";
import { appendToStream } from "./append.ts";
import { answerTooLarge } from "./body.ts";
import type { ServerContext } from "./context.ts";
import { createStream } from "./create.ts";
import { streamEvents } from "./events.ts";
import { headOfStream } from "./head.ts";
import { longPoll } from "./long-poll.ts";
import { Origins } from "./origin.ts";
import { answerHealth, answerWelcome } from "./pages.ts";
import { readStream } from "./read.ts";
import { removeStream } from "./remove.ts";
import { CONTROL_ROOT } from "./subscriptions/answers.ts";
import { handleSubscriptions } from "./subscriptions/handle.ts";
import { rawPath, readQuery, STREAM_ROOT, streamPathOf } from "./target.ts";

export function requestListener(context: ServerContext): RequestListener {
  const origins = new Origins(context.settings.allowOrigins);
  return (request, response) => {
    if (request.method === "OPTIONS") return origins.preflight(request, response);
    if (context.readers.isStopping) response.shouldKeepAlive = false;
    route(context, origins, request, response).catch((error: unknown) => {
      answerFailure(context, request, response, error);
    });
  };
}

async function route(
  context: ServerContext,
  origins: Origins,
  request: IncomingMessage,
  response: ServerResponse,
): Promise<void> {
  origins.check(request, response);
  const path = rawPath(request.url ?? "/");
  if (path.startsWith(CONTROL_ROOT) && isEnd(path, CONTROL_ROOT.length)) {
    if (await handleSubscriptions(request, response, context)) return;
    return answerUnknown(response);
  }
  const stream = streamPathOf(path);
  if (stream !== null) return routeStream(context, stream, request, response);
  if (request.method !== "GET" && request.method !== "HEAD") return answerUnknown(response);
  if (path === "/") return answerWelcome(response);
  if (path === "/health") return answerHealth(context, response);
  answerUnknown(response);
}

function routeStream(
  context: ServerContext,
  path: string,
  request: IncomingMessage,
  response: ServerResponse,
): Promise<void> | void {
  checkStreamPath(path);
  switch (request.method) {
    case "POST":
      return appendToStream(context, path, request, response);
    case "GET":
      return routeRead(context, path, request, response);
    case "PUT":
      return createStream(context, path, request, response);
    case "HEAD":
      return headOfStream(context, path, response);
    case "DELETE":
      return removeStream(context, path, response);
    default: {
      const headers = newHeaders();
      headers.push("Allow", "GET, HEAD, POST, PUT, DELETE, OPTIONS");
      answer(response, 405, headers);
    }
  }
}

function routeRead(
  context: ServerContext,
  path: string,
  request: IncomingMessage,
  response: ServerResponse,
): Promise<void> {
  const query = readQuery(request.url ?? "/");
  if (query.live === "long-poll") return longPoll(context, path, query, request, response);
  if (query.live === "sse") return streamEvents(context, path, query, response);
  return readStream(context, path, query, request, response);
}

/** Whether a segment of a path ends there. */
function isEnd(path: string, at: number): boolean {
  return path.length === at || path[at] === "/";
}

function answerUnknown(response: ServerResponse): void {
  const message = `there is nothing here; streams are below ${STREAM_ROOT}/`;
  answerJson(response, 404, errorBody("NOT_FOUND", message));
}

function answerFailure(
  context: ServerContext,
  request: IncomingMessage,
  response: ServerResponse,
  error: unknown,
): void {
  const isOurs = error instanceof VerbatimError;
  if (!isOurs) context.onFault(`${request.method} ${rawPath(request.url ?? "")}`, error);
  if (response.headersSent) {
    response.destroy(); // A begun answer cannot be taken back; broken off, nobody takes it for whole.
  } else if (!isOurs) {
    const message = "the server failed; its operator finds more in its log";
    answerJson(response, 500, errorBody("INTERNAL", message));
  } else if (error.code === "BODY_TOO_LARGE") {
    answerTooLarge(request, response, error);
  } else {
    answerError(response, error);
  }
}
