/** Subscription service: runs subscriptions with a clock, webhooks and keys, and prints them. */

import { randomBytes } from "node:crypto";
import { lookup } from "node:dns/promises";
import type { Host } from "../../core/base/host.ts";
import { nodeTime } from "../../core/base/time.ts";
import type { StreamStore } from "../../streams/files/stream-store.ts";
import { LeasedSubscriptions } from "../../streams/subscriptions/leased-subscriptions.ts";
import type { LinkedStream } from "../../streams/subscriptions/links.ts";
import type { Subscription } from "../../streams/subscriptions/subscription.ts";
import { Subscriptions } from "../../streams/subscriptions/subscriptions.ts";
import type {
  DeliverWebhook,
  SubscriptionHost,
  WakeNotice,
} from "../../streams/subscriptions/wakes.ts";
import { CONTROL_ROOT } from "../router/paths.ts";
import { callWebhook, type Resolve, WebhookKeys, type WebhookOptions } from "./webhooks/webhook.ts";

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
    const deliver: DeliverWebhook = async (notice, signal) => {
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

function subscriptionUrl(baseUrl: string, id: string): string {
  return `${baseUrl}${CONTROL_ROOT}/subscriptions/${encodeURIComponent(id)}`;
}

/** The server's URL, and the key that it signs with. */
interface WebhookSigning {
  readonly baseUrl: string;
  readonly keys: { readonly kid: string };
}

/** In the protocol's fields, as all of these. */
export function subscriptionJson(
  subscription: Subscription,
  { keys, baseUrl }: WebhookSigning,
): unknown {
  const { id, config, links, createdAtMs, phase } = subscription;
  const jwksUrl = `${baseUrl}${CONTROL_ROOT}/jwks.json`;
  const signing = { alg: "ed25519", kid: keys.kid, jwks_url: jwksUrl };
  return {
    id,
    subscription_id: id,
    type: config.type,
    pattern: config.pattern,
    streams: links.paths().map((path) => {
      const { linkType, acked } = links.describe(path);
      return { path: path.slice(1), link_type: linkType, acked_offset: acked };
    }),
    webhook: config.webhookUrl === null ? null : { url: config.webhookUrl, signing },
    wake_stream: config.wakeStream?.slice(1) ?? null,
    lease_ttl_ms: config.leaseTtlMs,
    created_at: new Date(createdAtMs).toISOString(),
    status: phase.retry === null ? "active" : "failed",
    description: config.description,
  };
}

function streamJson({ path, linkType, acked, tail, hasPending }: LinkedStream): unknown {
  return {
    path: path.slice(1),
    link_type: linkType,
    acked_offset: acked,
    tail_offset: tail,
    has_pending: hasPending,
  };
}

/** The answer to a worker that claimed a wake. */
export function claimJson({
  subscription,
  wakeId,
  generation,
  token,
  streams,
}: WakeNotice): unknown {
  return {
    wake_id: wakeId,
    generation,
    token,
    streams: streams.map(streamJson),
    lease_ttl_ms: subscription.config.leaseTtlMs,
  };
}
