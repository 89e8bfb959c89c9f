/**
 * Stream paths: the Durable Streams protocol in outline. The protocol's own document says all of it,
 * docs/subscriptions.md the rest; this is enough to find a route and to generate a client.
 */

import type { SubscriptionRefusal } from "../../base/errors.ts";
import type { Schema } from "../../client/schema.ts";
import { STATUS } from "../http/status.ts";
import { STREAM_ROOT } from "../http/target.ts";
import { CONTROL_ROOT } from "../subscriptions/answers.ts";
import { SUBSCRIPTION_STATUS } from "../subscriptions/handle.ts";
import { METHODS, type Route } from "../subscriptions/service.ts";
import { content, parameter, refusals } from "./session-paths.ts";

const text: Schema = { type: "string" };
const STREAM = parameter("path", "The stream's path; it may contain slashes", text, "path");

interface Operation {
  readonly id: string;
  readonly summary: string;
  readonly parameters: readonly Schema[];
  readonly body?: Schema;
  /** Successful answers, and what they mean. */
  readonly ok: Readonly<Record<number, string>>;
  readonly refused: readonly number[];
  readonly tag?: string;
}

function operation({ id, summary, parameters, body, ok, refused, tag }: Operation): Schema {
  const answered = Object.entries(ok).map(([status, description]) => {
    return [status, { description }] as const;
  });
  const responses = { ...refusals(...refused), ...Object.fromEntries(answered) };
  const sent = body === undefined ? {} : { requestBody: body };
  return { operationId: id, summary, tags: [tag ?? "streams"], parameters, ...sent, responses };
}

/** Of any request about a stream. */
const ASKED = [STATUS.BAD_STREAM_PATH, STATUS.TOKEN_REQUIRED, STATUS.STREAM_NOT_FOUND];
/** Of one whose stream was deleted and is held by its forks. */
const GONE = STATUS.STREAM_GONE;
/** Of one with a body. */
const SENT = [STATUS.BODY_TOO_LARGE, STATUS.NOT_IMPLEMENTED];
/** Of one that writes. */
const FULL = STATUS.NO_SPACE;

const header = (name: string, description: string, schema = text) =>
  parameter(name, description, schema, "header");
const whole: Schema = { type: "integer", minimum: 0 };

const CLOSED = header("Stream-Closed", "`true` closes the stream: it takes no more appends", {
  enum: ["true"],
});

const CREATE_HEADERS = [
  CLOSED,
  header("Stream-TTL", "Seconds until the stream expires; each use starts them again", whole),
  header("Stream-Expires-At", "When the stream expires (RFC 3339); not with Stream-TTL", text),
  header("Stream-Forked-From", `Path of the stream to fork: ${STREAM_ROOT}/…`),
  header("Stream-Fork-Offset", "Where the fork begins; default: the end of its source"),
  header("Stream-Fork-Sub-Offset", "How many messages (or bytes) after that offset", whole),
];

const APPEND_HEADERS = [
  CLOSED,
  header("Stream-Seq", "Must be greater than that of the last append, as text"),
  header("Producer-Id", "Makes a retry safe, with the next two: a repeated append is stored once"),
  header(
    "Producer-Epoch",
    "Begins at 0; a higher one refuses the producer's earlier epochs",
    whole,
  ),
  header("Producer-Seq", "Number of the append in its epoch, from 0", whole),
];

/** `Content-Type` is its type: OpenAPI has no parameter of that name. */
function body(description: string): Schema {
  const messages = { description: "A message, or an array of messages" };
  return { description, content: { "application/json": { schema: messages }, "*/*": {} } };
}

const STREAM_OPERATIONS: Schema = {
  put: operation({
    id: "createStream",
    summary: "Create a stream",
    parameters: [STREAM, ...CREATE_HEADERS],
    body: body("The first messages, if any. Its Content-Type becomes that of the stream"),
    ok: { 200: "It exists already, with the same settings", 201: "Created" },
    refused: [...ASKED, ...SENT, STATUS.STREAM_CONFLICT, FULL],
  }),
  post: operation({
    id: "appendToStream",
    summary: "Append; answered when it is on the disk",
    parameters: [STREAM, ...APPEND_HEADERS],
    body: body("Messages, with the stream's Content-Type; may be empty only with Stream-Closed"),
    ok: { 200: "Appended, by a producer that numbers its appends", 204: "Appended" },
    refused: [...ASKED, ...SENT, STATUS.STREAM_CONFLICT, GONE, STATUS.STREAM_BUSY, FULL],
  }),
  get: operation({
    id: "readStream",
    summary: "Read from an offset, or wait for new data",
    parameters: [
      STREAM,
      parameter("offset", "Where to begin: -1 (start), now (end), or an offset of an answer", text),
      parameter("live", "Wait for new data at the end: once, or as Server-Sent Events", {
        enum: ["long-poll", "sse"],
      }),
      parameter("cursor", "`Stream-Cursor` of the last live answer", text),
      header("If-None-Match", "`ETag` of an earlier answer"),
    ],
    ok: { 200: "A chunk, or events", 204: "No new data in time", 304: "Not modified" },
    refused: [...ASKED, GONE, STATUS.TOO_MANY_READERS],
  }),
  head: operation({
    id: "headOfStream",
    summary: "Where a stream ends, its type and its lifetime",
    parameters: [STREAM],
    ok: { 200: "In the headers" },
    refused: [...ASKED, GONE],
  }),
  delete: operation({
    id: "deleteStream",
    summary: "Delete a stream",
    parameters: [STREAM],
    ok: { 204: "Deleted" },
    refused: [...ASKED, GONE, FULL],
  }),
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

type Reason = SubscriptionRefusal["reason"];

interface Control {
  readonly ok: Readonly<Record<number, string>>;
  /** Why it can be refused; what any request about a subscription can be refused for is added. */
  readonly refused: readonly Reason[];
  readonly hasBody?: boolean;
}

const DONE = { 204: "Done" };
const WOKEN = { 200: "Done; `next_wake`: whether there is more" };
const OF_A_WAKE: readonly Reason[] = ["TOKEN_INVALID", "SUBSCRIPTION_NOT_FOUND", "FENCED"];

/** By the method and what the URL names: docs/subscriptions.md. */
const CONTROLS: Readonly<Record<string, Control>> = {
  "GET subscription": { ok: { 200: "The subscription" }, refused: ["SUBSCRIPTION_NOT_FOUND"] },
  "PUT subscription": {
    ok: { 200: "It exists already, with the same settings", 201: "Created" },
    refused: ["WEBHOOK_URL_REJECTED", "SUBSCRIPTION_ALREADY_EXISTS", "TOO_MANY_SUBSCRIPTIONS"],
    hasBody: true,
  },
  "DELETE subscription": { ok: DONE, refused: [] },
  "POST streams": { ok: DONE, refused: ["SUBSCRIPTION_NOT_FOUND"], hasBody: true },
  "DELETE stream": { ok: DONE, refused: ["SUBSCRIPTION_NOT_FOUND"] },
  "POST claim": {
    ok: { 200: "Claimed: the wake, its token and its streams" },
    refused: ["SUBSCRIPTION_NOT_FOUND", "ALREADY_CLAIMED", "NO_PENDING_WORK"],
    hasBody: true,
  },
  "POST callback": { ok: WOKEN, refused: [...OF_A_WAKE, "INVALID_OFFSET"], hasBody: true },
  "POST ack": { ok: WOKEN, refused: [...OF_A_WAKE, "INVALID_OFFSET"], hasBody: true },
  "POST release": { ok: DONE, refused: OF_A_WAKE, hasBody: true },
};

const KEYS: Schema = {
  get: {
    operationId: "getWebhookKeys",
    summary: "The public keys that verify webhooks",
    tags: ["subscriptions"],
    parameters: [],
    responses: {
      200: content("application/jwk-set+json", { type: "object" }, "A JSON Web Key Set"),
      ...refusals(),
    },
  },
};

export const STREAM_PATHS: Readonly<Record<string, Schema>> = {
  [`${STREAM_ROOT}/{path}`]: STREAM_OPERATIONS,
  ...Object.fromEntries(
    (Object.keys(CONTROL_PATHS) as Route["to"][]).map((to) => {
      return [CONTROL_PATHS[to], to === "keys" ? KEYS : controls(to)];
    }),
  ),
};

function controls(to: Route["to"]): Schema {
  const path = CONTROL_PATHS[to];
  const parameters = [...path.matchAll(/\{(\w+)\}/g)].map(([, name = ""]) => {
    return parameter(name, name === "id" ? "The subscription" : "The stream's path", text, "path");
  });
  return Object.fromEntries(
    METHODS[to].map((method) => {
      const { ok, refused, hasBody = false } = CONTROLS[`${method} ${to}`] as Control;
      const id = `subscriptions_${method.toLowerCase()}_${to}`;
      const summary = `Subscriptions: ${to} (docs/subscriptions.md)`;
      const statuses = [
        ...[STATUS.BAD_REQUEST, STATUS.TOKEN_REQUIRED, FULL],
        ...refused.map((reason) => SUBSCRIPTION_STATUS[reason]),
        ...(hasBody ? SENT : []),
      ];
      const described = { id, summary, parameters, ok, refused: statuses, tag: "subscriptions" };
      const body = content("application/json", { type: "object" }, "docs/subscriptions.md");
      return [method.toLowerCase(), operation(hasBody ? { ...described, body } : described)];
    }),
  );
}
