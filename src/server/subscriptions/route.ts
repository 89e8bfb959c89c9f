/**
 * Subscriptions over HTTP: everything under `/v1/stream/__ds`.
 *
 * Tokens are accepted in `Authorization` only, never in a URL or a body, where logs would keep
 * them.
 */

import type { IncomingMessage, ServerResponse } from "node:http";
import type { Schema } from "../../client/schema.ts";
import { type SubscriptionRefusal, VerbatimError } from "../../core/base/errors.ts";
import { SUBSCRIPTION_LIMITS } from "../../core/base/limits.ts";
import { nodeHost } from "../../core/base/node-host.ts";
import { subscriptionRefusal } from "../../streams/subscriptions/subscription.ts";
import type { ServerContext } from "../context.ts";
import { answer, answerJson, answerText, methodNotAllowed, newHeaders } from "../http/answer.ts";
import { readBody } from "../http/body.ts";
import { STATUS } from "../http/status.ts";
import {
  BODY_ERRORS,
  content,
  FULL_ERROR,
  operation,
  parameter,
  refusals,
  text,
} from "../openapi/describe.ts";
import type { MountDescription, MountRequest, OpenMount } from "../router/mount.ts";
import { CONTROL_ROOT } from "../router/paths.ts";
import { METHODS, type Route, routeOf } from "./control-paths.ts";
import { SubscriptionRequest } from "./requests.ts";
import { claimJson, SubscriptionService, subscriptionJson } from "./service.ts";

export const SUBSCRIPTION_STATUS: Readonly<Record<SubscriptionRefusal["reason"], number>> = {
  INVALID_REQUEST: 400,
  WEBHOOK_URL_REJECTED: 400,
  TOKEN_INVALID: 401,
  TOKEN_EXPIRED: 401,
  SUBSCRIPTION_NOT_FOUND: 404,
  SUBSCRIPTION_ALREADY_EXISTS: 409,
  FENCED: 409,
  ALREADY_CLAIMED: 409,
  NO_PENDING_WORK: 409,
  INVALID_OFFSET: 409,
  TOO_MANY_SUBSCRIPTIONS: 429,
};

export async function subscriptions(context: ServerContext): Promise<OpenMount> {
  const { store, options, settings, baseUrl, onFault } = context;
  const { allowLocalWebhooks } = settings;
  const { dataDirectory } = options;
  const service = await SubscriptionService.open({
    store,
    host: nodeHost,
    dataDirectory,
    allowLocalWebhooks,
    onFault,
  });
  return {
    handle: (asked) => handle(asked, service),
    begin: () => service.begin(baseUrl),
    close: () => service.stop(),
  };
}

async function handle(
  { request, response, path, track }: MountRequest,
  service: SubscriptionService,
): Promise<boolean> {
  const route = routeOf(path);
  if (route === null) return false;
  const methods = METHODS[route.to];
  if (!methods.includes(request.method ?? "")) throw methodNotAllowed(methods.join(", "));
  try {
    await carryOut(route, request, response, service);
  } catch (error) {
    const isRefusal = error instanceof VerbatimError && error.code === "SUBSCRIPTION_REFUSED";
    if (!isRefusal) throw error;
    track.failed((error as VerbatimError<"SUBSCRIPTION_REFUSED">).details.reason);
    answerRefusal(response, error as VerbatimError<"SUBSCRIPTION_REFUSED">);
  }
  return true;
}

async function carryOut(
  route: Route,
  request: IncomingMessage,
  response: ServerResponse,
  service: SubscriptionService,
): Promise<void> {
  const { subscriptions, keys } = service;
  switch (route.to) {
    case "keys": {
      const headers = newHeaders();
      headers.push("Cache-Control", "public, max-age=300");
      const text = JSON.stringify(keys.jwks);
      return answerText(response, 200, "application/jwk-set+json", text, headers);
    }
    case "subscription":
      return aboutSubscription(route.id, request, response, service);
    case "streams":
      await subscriptions.addStreams(route.id, (await body(route.id, request)).addedStreams());
      return answer(response, 204, privateHeaders());
    case "stream":
      await subscriptions.removeStream(route.id, route.path);
      return answer(response, 204, privateHeaders());
    case "claim": {
      const notice = await subscriptions.claim(route.id, (await body(route.id, request)).worker());
      return answerJson(response, 200, claimJson(notice), privateHeaders());
    }
    case "callback":
    case "ack": {
      const token = bearerToken(route.id, request);
      const type = route.to === "ack" ? "pull-wake" : "webhook";
      const ack = (await body(route.id, request)).ack(token);
      const { isWokenAgain } = await subscriptions.ack(route.id, type, ack);
      return answerJson(response, 200, { ok: true, next_wake: isWokenAgain }, privateHeaders());
    }
    case "release": {
      const token = bearerToken(route.id, request);
      await subscriptions.release(route.id, (await body(route.id, request)).fence(token));
      return answer(response, 204, privateHeaders());
    }
  }
}

async function aboutSubscription(
  id: string,
  request: IncomingMessage,
  response: ServerResponse,
  service: SubscriptionService,
): Promise<void> {
  const { subscriptions, allowLocalWebhooks } = service;
  if (request.method === "DELETE") {
    await subscriptions.remove(id);
    return answer(response, 204, privateHeaders());
  }
  if (request.method === "GET") {
    const found = subscriptionJson(subscriptions.get(id), service);
    return answerJson(response, 200, found, privateHeaders());
  }
  const config = (await body(id, request)).config(allowLocalWebhooks);
  const { isNew, subscription } = await subscriptions.create(id, config);
  const made = subscriptionJson(subscription, service);
  answerJson(response, isNew ? 201 : 200, made, privateHeaders());
}

async function body(id: string, request: IncomingMessage): Promise<SubscriptionRequest> {
  return new SubscriptionRequest(id, await readBody(request, SUBSCRIPTION_LIMITS.requestBytesMax));
}

function bearerToken(id: string, { headers }: IncomingMessage): string {
  const token = /^Bearer +([\x21-\x7e]+) *$/i.exec(headers.authorization ?? "")?.[1];
  if (token !== undefined) return token;
  throw subscriptionRefusal(
    id,
    "TOKEN_INVALID",
    "the request needs Authorization: Bearer and its token",
  );
}

function answerRefusal(
  response: ServerResponse,
  error: VerbatimError<"SUBSCRIPTION_REFUSED">,
): void {
  const { reason, held } = error.details;
  const holder = held && { current_holder: held.by, generation: held.generation };
  const told = { error: { code: reason, message: error.message, ...holder } };
  const headers = privateHeaders();
  if (SUBSCRIPTION_STATUS[reason] === 401) headers.push("WWW-Authenticate", "Bearer");
  answerJson(response, SUBSCRIPTION_STATUS[reason], told, headers);
}

/** Headers of answers that must not be cached. */
function privateHeaders(): string[] {
  const headers = newHeaders();
  headers.push("Cache-Control", "no-store");
  return headers;
}

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
        FULL_ERROR,
        ...refused.map((reason) => SUBSCRIPTION_STATUS[reason]),
        ...(hasBody ? BODY_ERRORS : []),
      ];
      const described = { id, summary, parameters, ok, refused: statuses, tag: "subscriptions" };
      const body = content("application/json", { type: "object" }, "docs/subscriptions.md");
      return [method.toLowerCase(), operation(hasBody ? { ...described, body } : described)];
    }),
  );
}
