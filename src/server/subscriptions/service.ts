/** Subscription service: runs subscriptions with a clock, webhooks and keys. */

import { randomBytes } from "node:crypto";
import { lookup } from "node:dns/promises";
import type { Host } from "../../base/host.ts";
import { SUBSCRIPTION_LIMITS } from "../../base/limits.ts";
import { nodeTime } from "../../base/time.ts";
import type { StreamStore } from "../../streams/stream-store.ts";
import { LeasedSubscriptions } from "../../subscriptions/leased.ts";
import { Subscriptions } from "../../subscriptions/subscriptions.ts";
import type { Deliver, SubscriptionHost, WakeNotice } from "../../subscriptions/waking.ts";
import {
  callWebhook,
  type Resolve,
  type WebhookOptions,
} from "../../subscriptions/webhooks/webhook.ts";
import { WebhookKeys } from "../../subscriptions/webhooks/webhook-keys.ts";
import { badRequest } from "../http/answer.ts";
import { CONTROL_ROOT, streamJson, subscriptionUrl } from "./answers.ts";

export type Route =
  | { readonly to: "keys" }
  | { readonly to: "subscription" | "streams" | Action; readonly id: string }
  | { readonly to: "stream"; readonly id: string; readonly path: string };

type Action = "callback" | "claim" | "ack" | "release";

const SUBSCRIPTIONS = `${CONTROL_ROOT}/subscriptions/`;

/** The allowed methods of each. */
export const METHODS: Readonly<Record<Route["to"], readonly string[]>> = {
  keys: ["GET"],
  subscription: ["GET", "PUT", "DELETE"],
  streams: ["POST"],
  stream: ["DELETE"],
  callback: ["POST"],
  claim: ["POST"],
  ack: ["POST"],
  release: ["POST"],
};

/**
 * What a URL under `/v1/stream/__ds` names.
 *
 * Null when there is no such route. `path`: as it was sent, without its query.
 */
export function routeOf(path: string): Route | null {
  if (path === `${CONTROL_ROOT}/jwks.json`) return { to: "keys" };
  if (!path.startsWith(SUBSCRIPTIONS)) return null;
  const [first = "", second, ...rest] = path.slice(SUBSCRIPTIONS.length).split("/");
  if (first === "") return null;
  const id = decoded(first);
  if (id.length > SUBSCRIPTION_LIMITS.idCharsMax) {
    const max = SUBSCRIPTION_LIMITS.idCharsMax;
    throw badRequest("the subscription's id", `is longer than ${max} characters`);
  }
  if (second === undefined) return { to: "subscription", id };
  if (second === "streams" && rest.length > 0) {
    // Encoded and plain slashes mean the same.
    const stream = decoded(rest.join("/"));
    return { to: "stream", id, path: stream.startsWith("/") ? stream : `/${stream}` };
  }
  if (rest.length > 0 || !isLast(second)) return null;
  return { to: second, id };
}

function isLast(name: string): name is "streams" | Action {
  return ["streams", "callback", "claim", "ack", "release"].includes(name);
}

function decoded(text: string): string {
  try {
    return decodeURIComponent(text);
  } catch {
    throw badRequest("the path", "is not percent-encoded UTF-8");
  }
}

export interface SubscriptionServiceOptions {
  readonly store: StreamStore;
  readonly host: Host;
  /** Where the webhook keys are stored. */
  readonly dataDirectory: string;
  readonly allowLocalWebhooks: boolean;
  readonly onFault: (what: string, cause: unknown) => void;
  readonly time?: SubscriptionHost;
  readonly resolve?: Resolve;
}

/** The real clock and randomness. */
export const nodeSubscriptionHost: SubscriptionHost = {
  ...nodeTime,
  randomBytes,
  random: Math.random,
};

/** Opened before the server listens, started when it does, stopped before the store is closed. */
export class SubscriptionService {
  readonly #leased: LeasedSubscriptions;
  readonly keys: WebhookKeys;
  readonly allowLocalWebhooks: boolean;
  /** The server's URL, without a slash at the end; empty before it listens. */
  #baseUrl = "";

  /** @example const service = await SubscriptionService.open({ store, host: nodeHost, … }); */
  static async open(options: SubscriptionServiceOptions): Promise<SubscriptionService> {
    const keys = await WebhookKeys.open(options.host, options.dataDirectory);
    const { store, onFault, time: host = nodeSubscriptionHost } = options;
    const webhooks: WebhookOptions = {
      allowLocal: options.allowLocalWebhooks,
      resolve: options.resolve ?? ((name) => lookup(name, { all: true })),
    };
    let service: SubscriptionService | null = null;
    const deliver: Deliver = async (notice, signal) => {
      const body = JSON.stringify(noticeJson(notice, service?.baseUrl ?? ""));
      const signature = await keys.signature(body, host.nowMs());
      const url = notice.subscription.config.webhookUrl ?? "";
      return callWebhook({ url, body, signature }, webhooks, signal);
    };
    const open = () => Subscriptions.open({ store, host, deliver, onFault });
    const leased = await LeasedSubscriptions.open(store, open, onFault);
    service = new SubscriptionService(leased, keys, options.allowLocalWebhooks);
    return service;
  }

  private constructor(leased: LeasedSubscriptions, keys: WebhookKeys, allowLocal: boolean) {
    this.#leased = leased;
    this.keys = keys;
    this.allowLocalWebhooks = allowLocal;
  }

  /** Throws STORE_UNAVAILABLE while another server runs them. */
  get subscriptions(): Subscriptions {
    return this.#leased.current;
  }

  get baseUrl(): string {
    return this.#baseUrl;
  }

  /** Call it when the server listens: waiting deliveries can be sent, with a callback URL. */
  begin(baseUrl: string): void {
    this.#baseUrl = baseUrl;
    this.#leased.begin();
  }

  /** Aborts deliveries in progress; the next start continues them. */
  stop(): Promise<void> {
    return this.#leased.stop();
  }
}

function noticeJson(notice: WakeNotice, baseUrl: string): unknown {
  const { subscription, wakeId, generation, streams, token } = notice;
  return {
    subscription_id: subscription.id,
    wake_id: wakeId,
    generation,
    streams: streams.map(streamJson),
    callback_url: `${subscriptionUrl(baseUrl, subscription.id)}/callback`,
    callback_token: token,
  };
}
