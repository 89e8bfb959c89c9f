/** OpenAPI: subscriptions; docs/subscriptions.md says the rest. */

import type { Schema } from "../../client/schema.ts";
import type { SubscriptionRefusal } from "../../core/base/errors.ts";
import { STATUS } from "../http/status.ts";
import { content, FULL, operation, parameter, refusals, SENT, text } from "../openapi/describe.ts";
import type { MountDescription } from "../router/mount.ts";
import { CONTROL_ROOT } from "../router/paths.ts";
import { METHODS, type Route } from "./control-paths.ts";
import { SUBSCRIPTION_STATUS } from "./route.ts";

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

export const SUBSCRIPTIONS: MountDescription = {
  paths: Object.fromEntries(
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
        STATUS.BAD_REQUEST,
        STATUS.TOKEN_REQUIRED,
        FULL,
        ...refused.map((reason) => SUBSCRIPTION_STATUS[reason]),
        ...(hasBody ? SENT : []),
      ];
      const described = { id, summary, parameters, ok, refused: statuses, tag: "subscriptions" };
      const body = content("application/json", { type: "object" }, "docs/subscriptions.md");
      return [method.toLowerCase(), operation(hasBody ? { ...described, body } : described)];
    }),
  );
}
