/**
 * Stream paths: the Durable Streams protocol in outline. The protocol's own document says all of it,
 * docs/subscriptions.md the rest; here stands enough to find one's way and to generate a client.
 */

import { CONTROL_ROOT } from "../subscriptions/answers.ts";
import { METHODS, type Route } from "../subscriptions/route.ts";
import { STREAM_ROOT } from "../target.ts";
import type { Schema } from "./schema.ts";
import { parameter, refusals } from "./session-paths.ts";

const text: Schema = { type: "string" };
const STREAM = parameter("path", "The stream's path; it may hold slashes", text, "path");

function operation(
  operationId: string,
  summary: string,
  parameters: readonly Schema[],
  statuses: Readonly<Record<number, string>>,
  tag = "streams",
): Schema {
  const answered = Object.entries(statuses).map(([status, description]) => {
    return [status, { description }] as const;
  });
  const responses = { ...Object.fromEntries(answered), ...refusals(400, 401, 403, 404) };
  return { operationId, summary, tags: [tag], parameters, responses };
}

const STREAM_OPERATIONS: Schema = {
  put: operation("createStream", "Create a stream", [STREAM], {
    200: "It was there as asked for",
    201: "Created",
    409: "It is there otherwise than asked for",
  }),
  post: operation("appendToStream", "Append; answered when it is on the disk", [STREAM], {
    200: "Appended, by a producer that numbers its appends",
    204: "Appended",
    409: "The stream is closed, or is of another type",
    413: "The body is too large",
  }),
  get: operation(
    "readStream",
    "Read from an offset, or wait for what comes",
    [
      STREAM,
      parameter("offset", "Where to begin: -1, now, or an offset that was given", text),
      parameter("live", "How to wait", { enum: ["long-poll", "sse"] }),
      parameter("cursor", "As the last answer gave it", text),
    ],
    { 200: "A chunk, or events", 204: "Nothing came in time", 304: "As it was" },
  ),
  head: operation("headOfStream", "Where a stream ends", [STREAM], { 200: "Its headers say it" }),
  delete: operation("deleteStream", "Delete a stream", [STREAM], { 204: "Deleted" }),
};

const SUBSCRIPTION = `${CONTROL_ROOT}/subscriptions/{id}`;

const CONTROL_PATHS: Readonly<Record<Route["to"], string>> = {
  keys: `${CONTROL_ROOT}/jwks.json`,
  subscription: SUBSCRIPTION,
  streams: `${SUBSCRIPTION}/streams`,
  stream: `${SUBSCRIPTION}/streams/{path}`,
  callback: `${SUBSCRIPTION}/callback`,
  claim: `${SUBSCRIPTION}/claim`,
  ack: `${SUBSCRIPTION}/ack`,
  release: `${SUBSCRIPTION}/release`,
};

export const STREAM_PATHS: Readonly<Record<string, Schema>> = {
  [`${STREAM_ROOT}/{path}`]: STREAM_OPERATIONS,
  ...Object.fromEntries(
    (Object.keys(CONTROL_PATHS) as Route["to"][]).map((to) => [CONTROL_PATHS[to], controls(to)]),
  ),
};

function controls(to: Route["to"]): Schema {
  const path = CONTROL_PATHS[to];
  const named = [...path.matchAll(/\{(\w+)\}/g)].map(([, name = ""]) => {
    return parameter(name, name === "id" ? "The subscription" : "The stream's path", text, "path");
  });
  return Object.fromEntries(
    METHODS[to].map((method) => {
      const name = `subscriptions_${method.toLowerCase()}_${to}`;
      const summary = `Subscriptions: ${to} (docs/subscriptions.md)`;
      const statuses = { 200: "Done", 204: "Done, with nothing to say" };
      return [method.toLowerCase(), operation(name, summary, named, statuses, "subscriptions")];
    }),
  );
}
