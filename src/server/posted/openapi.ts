/** Posted sessions in OpenAPI: creating a session, and appending entries to it. */

import { NEW_SESSION, POSTED, POSTED_ENTRY } from "../../client/posted-shapes.ts";
import { list, ref, type Schema } from "../../client/schema.ts";
import {
  BODY_ERRORS,
  FULL_ERROR,
  json,
  parameter,
  refusals,
  SESSION,
} from "../openapi/describe.ts";

export const POSTED_SCHEMAS = {
  NewSession: NEW_SESSION,
  NewEntry: {
    type: "object",
    properties: { kind: { type: "string" } },
    required: ["kind"],
    description: "An entry without what the server adds: docs/api.md, Write entries",
  },
  PostedEntries: POSTED,
  PostedEntry: POSTED_ENTRY,
};

const KEY = parameter(
  "Idempotency-Key",
  "New for each request: a retry with the same key and the same body writes nothing again",
  { type: "string", minLength: 1, maxLength: 255 },
  "header",
);
const ENTRY = ref("NewEntry");
const REFUSED = [400, 401, 404, 409, 422, 429, ...BODY_ERRORS, FULL_ERROR];

function post(operationId: string, summary: string, more: Schema): Schema {
  const responses = {
    ...refusals(...REFUSED),
    200: json("PostedEntries", "A retry: what the first request wrote"),
    201: json("PostedEntries", "Written and durable"),
  };
  return { operationId, summary, tags: ["sessions"], responses, ...more };
}

export const CREATE_OPERATION = post("createSession", "Create a session that takes entries", {
  parameters: [KEY],
  requestBody: { content: { "application/json": { schema: ref("NewSession") } } },
});

export const APPEND_OPERATION = post("appendEntries", "Append entries, all of them or none", {
  parameters: [SESSION, KEY],
  requestBody: {
    required: true,
    content: {
      "application/json": { schema: { anyOf: [ENTRY, list(ENTRY)] } },
      "application/x-ndjson": { schema: { type: "string", description: "An entry per line" } },
    },
  },
});
