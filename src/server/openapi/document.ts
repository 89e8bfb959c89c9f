/**
 * OpenAPI: every route of a server, assembled from its mounts. test/server/openapi.test.ts compares
 * it with real answers.
 */

import type { ServerResponse } from "node:http";
import {
  count,
  describeSchema,
  object,
  partly,
  ref,
  type Schema,
  string,
} from "../../client/schema.ts";
import { packageVersion } from "../../core/package-file.ts";
import { COOKIE_PREFIX } from "../auth/browser-keys.ts";
import { answerText, newHeaders } from "../http/answer.ts";
import { MOUNTS } from "../router/mounts.ts";
import { MOUNT_NAMES, type MountName, OPEN_PATH, OPENAPI_PATH } from "../router/paths.ts";
import { content, json, page, parameter, refusals, text } from "./describe.ts";

/** Without names: the document of a server that has every mount. */
export async function openApiDocument(names: readonly MountName[] = MOUNT_NAMES) {
  const paths: Record<string, Schema> = {};
  const schemas: Record<string, Schema> = { ...OWN_SCHEMAS };
  const securitySchemes: Record<string, Schema> = {
    bearer: { type: "http", scheme: "bearer" },
    browser: BROWSER,
  };
  for (const name of names) {
    const part = await MOUNTS[name].describe?.();
    Object.assign(paths, part?.paths);
    Object.assign(schemas, part?.schemas);
    Object.assign(securitySchemes, part?.securitySchemes);
  }
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
    paths: { ...paths, ...OWN_PATHS },
    components: { schemas, securitySchemes },
  };
}

/** By the names of the mounts. */
const texts = new Map<string, string>();

export async function answerOpenApi(
  names: readonly MountName[],
  response: ServerResponse,
): Promise<void> {
  const key = names.join();
  const body = texts.get(key) ?? JSON.stringify(await openApiDocument(names));
  texts.set(key, body);
  const headers = newHeaders();
  headers.push("Cache-Control", "no-cache");
  answerText(response, 200, "application/json", body, headers);
}

/** Sessions only, where they are private (docs/server.md). */
const BROWSER = {
  type: "apiKey",
  in: "cookie",
  name: `${COOKIE_PREFIX}ID`,
  description: "Set by `/open`; ID depends on the server. Allows requests about sessions only.",
};

const OWN_SCHEMAS = {
  Error: object({
    error: partly(
      {
        code: string,
        message: string,
        field: describeSchema(
          string,
          "INVALID_ENTRY: the field that is wrong, as a path in the body",
        ),
        current_holder: describeSchema(string, "Subscriptions: who has the claim"),
        generation: describeSchema(count, "Subscriptions: which claim it is"),
      },
      ["code", "message"],
    ),
  }),
  Health: {
    type: "object",
    properties: {
      status: string,
      reason: string,
      durability: describeSchema(string, "Streams in PostgreSQL: memory, disk or standby"),
    },
    required: ["status"],
  },
};

const health = (description: string) => json("Health", description);
const unwell = (description: string) =>
  content("application/json", { anyOf: [ref("Health"), ref("Error")] }, description);

const OWN_PATHS = {
  "/": page("getViewer", "The viewer: read, watch and check sessions in a browser", {
    200: content("text/html", text, "For people; its files are below `/assets/`"),
  }),
  [OPEN_PATH]: {
    get: {
      operationId: "openViewer",
      summary:
        "Where a link leads: exchanges its key for a cookie; only where sessions are private",
      tags: ["server"],
      parameters: [parameter("key", "The key in a link of `verbatim open`; works once", text)],
      responses: {
        ...refusals(),
        303: { description: "To the viewer, with the cookie" },
        401: content("text/html", text, "The key was used, or is too old"),
      },
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
    200: content("text/plain", text, "The text format"),
    ...refusals(401),
  }),
};
