/** OpenAPI: every route of the server; test/server/openapi.test.ts compares it with real answers. */

import type { ServerResponse } from "node:http";
import { packageVersion } from "../base/package-file.ts";
import { ref } from "../client/schema.ts";
import { SHARE_PATHS, SHARE_SECURITY } from "../share/openapi.ts";
import { COOKIE_PREFIX, OPEN_PATH } from "../tokens/browser-keys.ts";
import { WITNESS_PATHS } from "../witness/openapi.ts";
import { answerText, newHeaders } from "./http/answer.ts";
import { SCHEMAS } from "./openapi/schemas.ts";
import { content, parameter, refusals, SESSION_PATHS } from "./openapi/session-paths.ts";
import { STREAM_PATHS } from "./openapi/stream-paths.ts";

export const OPENAPI_PATH = "/v1/openapi.json";

export function openApiDocument() {
  return {
    openapi: "3.1.0",
    info: {
      title: "Verbatim",
      version: packageVersion(),
      description:
        "Durable streams, and sessions of every dialect to read. What was stored is served as " +
        "data. Errors are `{ error: { code, message } }`; codes are stable.",
      license: { name: "MIT", identifier: "MIT" },
    },
    security: [{}, { bearer: [] }, { browser: [] }],
    paths: { ...SESSION_PATHS, ...STREAM_PATHS, ...SHARE_PATHS, ...WITNESS_PATHS, ...OWN_PATHS },
    components: {
      schemas: SCHEMAS,
      securitySchemes: {
        ...{ bearer: { type: "http", scheme: "bearer" }, browser: BROWSER, ...SHARE_SECURITY },
      },
    },
  };
}

let text: string | null = null;

export function answerOpenApi(response: ServerResponse): void {
  text ??= JSON.stringify(openApiDocument());
  const headers = newHeaders();
  headers.push("Cache-Control", "no-cache");
  answerText(response, 200, "application/json", text, headers);
}

function page(operationId: string, summary: string, responses: Record<number, unknown>) {
  const all = { ...refusals(), ...responses };
  return { get: { operationId, summary, tags: ["server"], responses: all } };
}

/** Sessions only, where they are private (docs/server.md). */
const BROWSER = {
  type: "apiKey",
  in: "cookie",
  name: `${COOKIE_PREFIX}ID`,
  description: "Set by `/open`; ID depends on the server. Allows requests about sessions only.",
};

const health = (description: string) => content("application/json", ref("Health"), description);
const unwell = (description: string) =>
  content("application/json", { anyOf: [ref("Health"), ref("Error")] }, description);

const OWN_PATHS = {
  "/": page("getViewer", "The viewer: read, watch and check sessions in a browser", {
    200: content("text/html", { type: "string" }, "For people; its files are below `/assets/`"),
  }),
  [OPEN_PATH]: {
    get: {
      operationId: "openViewer",
      summary:
        "Where a link leads: exchanges its key for a cookie; only where sessions are private",
      tags: ["server"],
      parameters: [
        parameter("key", "The key in a link of `verbatim open`; works once", { type: "string" }),
      ],
      responses: {
        ...refusals(),
        303: { description: "To the viewer, with the cookie" },
        401: content("text/html", { type: "string" }, "The key was used, or is too old"),
      },
    },
  },
  "/v1/demo": {
    ...page("getDemo", "Whether example sessions are shown", {
      200: content("application/json", ref("Demo"), "Whether they are shown"),
      ...refusals(401),
    }),
    delete: {
      operationId: "removeDemo",
      summary: "Remove the example sessions permanently",
      tags: ["server"],
      responses: { 204: { description: "Removed" }, ...refusals(401) },
    },
  },
  [OPENAPI_PATH]: page("getOpenApi", "This document", {
    200: content("application/json", { type: "object" }, "OpenAPI 3.1"),
  }),
  "/live": page("getLive", "Liveness: whether a restart would help", {
    200: health("No: the server is running or recovering"),
    503: unwell("A sync failed: no appends until a restart; reads may still work"),
  }),
  "/health": page("getHealth", "Whether appends are accepted", {
    200: health("They are"),
    503: unwell("Not accepted, or not yet; reads may still work, unless `status` is unavailable"),
  }),
  "/ready": page("getReady", "Whether to send it requests", {
    200: health("Ready for requests"),
    503: unwell("Stopping, recovering, or accepting no appends"),
  }),
  "/metrics": page("getMetrics", "Counts and times, for Prometheus", {
    200: content("text/plain", { type: "string" }, "The text format"),
    ...refusals(401),
  }),
};
