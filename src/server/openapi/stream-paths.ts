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
const STREAM = parameter("path", "The stream's path; it may hold slashes", text, "path");

interface Operation {
  readonly id: string;
  readonly summary: string;
  readonly parameters: readonly Schema[];
  /** What is answered when all is well, with what it means. */
  readonly ok: Readonly<Record<number, string>>;
  readonly refused: readonly number[];
  readonly tag?: string;
}

function operation({ id, summary, parameters, ok, refused, tag = "streams" }: Operation): Schema {
  const answered = Object.entries(ok).map(([status, description]) => {
    return [status, { description }] as const;
  });
  const responses = { ...refusals(...refused), ...Object.fromEntries(answered) };
  return { operationId: id, summary, tags: [tag], parameters, responses };
}

/** Of any request about a stream. */
const ASKED = [STATUS.BAD_STREAM_PATH, STATUS.TOKEN_REQUIRED, STATUS.STREAM_NOT_FOUND];
/** Of one whose stream was deleted and is held by its forks. */
const GONE = STATUS.STREAM_GONE;
/** Of one with a body. */
const SENT = [STATUS.BODY_TOO_LARGE, STATUS.NOT_IMPLEMENTED];
/** Of one that writes. */
const FULL = STATUS.NO_SPACE;

const STREAM_OPERATIONS: Schema = {
  put: operation({
    id: "createStream",
    summary: "Create a stream",
    parameters: [STREAM],
    ok: { 200: "It was there as asked for", 201: "Created" },
    refused: [...ASKED, ...SENT, STATUS.STREAM_CONFLICT, FULL],
  }),
  post: operation({
    id: "appendToStream",
    summary: "Append; answered when it is on the disk",
    parameters: [STREAM],
    ok: { 200: "Appended, by a producer that numbers its appends", 204: "Appended" },
    refused: [...ASKED, ...SENT, STATUS.STREAM_CONFLICT, GONE, STATUS.STREAM_BUSY, FULL],
  }),
  get: operation({
    id: "readStream",
    summary: "Read from an offset, or wait for what comes",
    parameters: [
      STREAM,
      parameter("offset", "Where to begin: -1, now, or an offset that was given", text),
      parameter("live", "How to wait", { enum: ["long-poll", "sse"] }),
      parameter("cursor", "As the last answer gave it", text),
    ],
    ok: { 200: "A chunk, or events", 204: "Nothing came in time", 304: "As it was" },
    refused: [...ASKED, GONE, STATUS.TOO_MANY_READERS],
  }),
  head: operation({
    id: "headOfStream",
    summary: "Where a stream ends",
    parameters: [STREAM],
    ok: { 200: "Its headers say it" },
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
const WOKEN = { 200: "Done; `next_wake` says whether there is more already" };
const OF_A_WAKE: readonly Reason[] = ["TOKEN_INVALID", "SUBSCRIPTION_NOT_FOUND", "FENCED"];

/** By the method and what the URL names: docs/subscriptions.md. */
const CONTROLS: Readonly<Record<string, Control>> = {
  "GET subscription": { ok: { 200: "The subscription" }, refused: ["SUBSCRIPTION_NOT_FOUND"] },
  "PUT subscription": {
    ok: { 200: "It was there as asked for", 201: "Created" },
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
    summary: "The public keys by which webhooks are signed",
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
      return [method.toLowerCase(), operation(described)];
    }),
  );
}
