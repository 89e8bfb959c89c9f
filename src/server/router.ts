/**
 * Router: calls the handler of a request, and answers with what the handler throws.
 *
 * Every request is answered or its connection closed; no request ends the process.
 */

import type { IncomingMessage, ServerResponse } from "node:http";
import { VerbatimError } from "../base/errors.ts";
import { handleShares, isShareRoute, SHARE_PATH } from "../share/routes.ts";
import { OPEN_PATH } from "../tokens/browser-keys.ts";
import type { ServerContext } from "./context.ts";
import { answerError, answerJson, errorBody, methodNotAllowed } from "./http/answer.ts";
import { answerTooLarge } from "./http/body.ts";
import type { Handler } from "./http/front.ts";
import { Origins } from "./http/origin.ts";
import type { RequestTrack } from "./http/request-track.ts";
import { rawPath, STREAM_ROOT, streamPathOf } from "./http/target.ts";
import { answerOpenApi, OPENAPI_PATH } from "./openapi.ts";
import { answerOpening } from "./opening.ts";
import { answerDemo, answerHealth, answerMetrics, answerReady, answerWelcome } from "./pages.ts";
import { refuseWriting } from "./sessions/only-reading.ts";
import { handleSessions, SESSIONS_ROOT } from "./sessions/route.ts";
import { handleOverSessions, isOverSessions } from "./sessions/search.ts";
import { handleStream } from "./streams/stream-routes.ts";
import { CONTROL_ROOT } from "./subscriptions/answers.ts";
import { handleSubscriptions } from "./subscriptions/handle.ts";
import { viewerPage } from "./viewer.ts";
import { handleWitness } from "./witness.ts";

const OPERATIONS: ReadonlySet<string> = new Set(["/live", "/health", "/ready", "/metrics"]);

export function requestListener(context: ServerContext): Handler {
  const { settings, isLocal } = context;
  const { allowOrigins, allowHosts } = settings;
  const origins = new Origins({ allowOrigins, allowHosts, isLocal });
  return (request, response, track) => {
    if (request.method === "OPTIONS") return origins.preflight(request, response);
    if (context.readers.isStopping) response.shouldKeepAlive = false;
    route(context, origins, request, response, track).catch((error: unknown) => {
      answerFailure(context, request, response, error, track);
    });
  };
}

async function route(
  context: ServerContext,
  origins: Origins,
  request: IncomingMessage,
  response: ServerResponse,
  track: RequestTrack,
): Promise<void> {
  origins.check(request, response);
  const path = rawPath(request.url ?? "/");
  const isControl = path.startsWith(CONTROL_ROOT) && isEnd(path, CONTROL_ROOT.length);
  const stream = isControl ? null : streamPathOf(path);
  track.stream = stream;
  track.route = isControl ? "subscriptions" : stream === null ? "other" : "stream";
  const pass = context.gate.admit(request, path, stream);
  track.token = pass === null ? null : pass.token;
  if (isControl) {
    if (await handleSubscriptions(request, response, context, track)) return;
    throw nothingThere();
  }
  if (stream !== null) return handleStream(context, stream, request, response, track, pass);
  if (path.startsWith(SESSIONS_ROOT) && isEnd(path, SESSIONS_ROOT.length)) {
    track.route = "sessions";
    return handleSessions(context, request, response, pass);
  }
  if (isOverSessions(path)) {
    track.route = "sessions";
    return handleOverSessions(context, request, response, pass);
  }
  if (isShareRoute(path)) {
    track.route = path === SHARE_PATH ? "live" : "sessions";
    const allowed = await handleShares(context.sharing, path, request, response);
    if (allowed !== null) throw methodNotAllowed(allowed);
    return;
  }
  if (path === OPEN_PATH && context.browsers !== null) {
    return answerOpening(context.browsers, request, response);
  }
  if (context.witness && (await handleWitness(context.witness, path, request, response))) return;
  if (path === "/v1/demo") return answerDemo(context, request, response);
  if (OPERATIONS.has(path)) track.route = "operations";
  const page = viewerPage(path) ?? pageOf(context, path);
  if (page === null) throw nothingThere();
  refuseWriting(request);
  page(request, response);
}

type Page = (request: IncomingMessage, response: ServerResponse) => void;

/** Answers a GET or HEAD; null when there is no such page. */
function pageOf(context: ServerContext, path: string): Page | null {
  if (path === "/") return (_, response) => answerWelcome(response);
  if (path === OPENAPI_PATH) return (_, response) => answerOpenApi(response);
  if (path === "/live") return (_, response) => answerHealth(context, response, true);
  if (path === "/health") return (_, response) => answerHealth(context, response, false);
  if (path === "/ready") return (_, response) => answerReady(context, response);
  if (path === "/metrics") return (_, response) => answerMetrics(context, response);
  return null;
}

/** Whether a path segment ends at this index. */
function isEnd(path: string, at: number): boolean {
  return path.length === at || path[at] === "/";
}

function nothingThere(): VerbatimError {
  const message = `nothing is served at this path; streams are under ${STREAM_ROOT}/`;
  return new VerbatimError("NOT_FOUND", message, { part: "the path" });
}

function answerFailure(
  context: ServerContext,
  request: IncomingMessage,
  response: ServerResponse,
  error: unknown,
  track: RequestTrack,
): void {
  const isOurs = error instanceof VerbatimError;
  const code = isOurs ? error.code : "INTERNAL";
  track.failed(code);
  if (!isOurs) context.onFault(`${request.method} ${rawPath(request.url ?? "")}`, error);
  if (response.headersSent) {
    response.destroy(); // Closing shows the reader that the answer is not complete.
  } else if (!isOurs) {
    const message = "the server failed; the details are in its log";
    answerJson(response, 500, errorBody("INTERNAL", message));
  } else if (error.code === "BODY_TOO_LARGE") {
    answerTooLarge(request, response, error);
  } else {
    // The rest of a body that was refused halfway, or the connection would serve nothing more.
    if (!request.complete) request.resume();
    answerError(response, error);
  }
}
