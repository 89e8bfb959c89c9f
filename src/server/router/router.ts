/**
 * Router: calls the handler of a request, and answers with what the handler throws.
 *
 * Every request is answered or its connection closed; no request ends the process.
 */

import type { IncomingMessage, ServerResponse } from "node:http";
import { VerbatimError } from "../../core/base/errors.ts";
import type { ServerContext } from "../context.ts";
import { answerError, answerJson, errorBody, refuseWriting } from "../http/answer.ts";
import { answerTooLarge } from "../http/body.ts";
import type { Handler } from "../http/front.ts";
import { Origins } from "../http/origin.ts";
import type { RequestTrack } from "../http/request-track.ts";
import { rawPath, streamPathOf } from "../http/target.ts";
import {
  answerHealth,
  answerMetrics,
  answerOpening,
  answerReady,
  answerWelcome,
} from "../pages/pages.ts";
import type { MountName } from "./mount-names.ts";
import { type OpenMounts, ownerOf } from "./mounts.ts";
import { OPEN_PATH, OPENAPI_PATH, STREAM_ROOT } from "./paths.ts";

const OPERATIONS: ReadonlySet<string> = new Set(["/live", "/health", "/ready", "/metrics"]);

export function requestListener(context: ServerContext, mounts: OpenMounts): Handler {
  const { settings, isLocal } = context;
  const { allowOrigins, allowHosts } = settings;
  const origins = new Origins({ allowOrigins, allowHosts, isLocal });
  return (request, response, track) => {
    if (request.method === "OPTIONS") return origins.preflight(request, response);
    if (context.readers.isStopping) response.shouldKeepAlive = false;
    route(context, mounts, origins, request, response, track).catch((error: unknown) => {
      answerFailure(context, request, response, error, track);
    });
  };
}

async function route(
  context: ServerContext,
  mounts: OpenMounts,
  origins: Origins,
  request: IncomingMessage,
  response: ServerResponse,
  track: RequestTrack,
): Promise<void> {
  origins.check(request, response);
  const path = rawPath(request.url ?? "/");
  const owner = ownerOf(path);
  const stream = owner === "streams" ? streamPathOf(path) : null;
  track.stream = stream;
  if (owner === "subscriptions") track.route = owner;
  else track.route = stream === null ? "other" : "stream";
  const pass = context.gate.admit(request, path, stream);
  track.token = pass === null ? null : pass.token;
  const mount = owner === null ? undefined : mounts.byName.get(owner);
  if (await mount?.handle?.({ request, response, path, stream, track, pass })) return;
  if (path === OPEN_PATH && context.browsers !== null) {
    return answerOpening(context.browsers, request, response);
  }
  if (OPERATIONS.has(path)) track.route = "operations";
  const page = pageOf(context, mounts, path);
  if (page === null) throw nothingThere(mounts, owner);
  refuseWriting(request);
  await page(response);
}

type Page = (response: ServerResponse) => Promise<void> | void;

/** Pages of the server itself, for GET or HEAD; null when there is no such page. */
function pageOf(context: ServerContext, mounts: OpenMounts, path: string): Page | null {
  if (path === "/") return (response) => answerWelcome(response);
  if (path === OPENAPI_PATH) {
    return async (response) => {
      const { answerOpenApi } = await import("../openapi/document.ts");
      return answerOpenApi(mounts.names, response);
    };
  }
  if (path === "/live") return (response) => answerHealth(context, response, true);
  if (path === "/health") return (response) => answerHealth(context, response, false);
  if (path === "/ready") return (response) => answerReady(context, response);
  if (path === "/metrics") return (response) => answerMetrics(context, response);
  return null;
}

function nothingThere({ names }: OpenMounts, owner: MountName | null): VerbatimError {
  const isLeftOut = owner !== null && !names.includes(owner);
  const message = isLeftOut
    ? `this server was opened without its mount ${owner}, which serves this path`
    : `nothing is served at this path; streams are under ${STREAM_ROOT}/`;
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
