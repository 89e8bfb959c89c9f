/** Answers about subscriptions, in the protocol's fields. */

import type { LinkedStream } from "../../streams/subscriptions/links.ts";
import type { Subscription } from "../../streams/subscriptions/subscription.ts";
import type { WakeNotice } from "../../streams/subscriptions/wakes.ts";
import { CONTROL_ROOT } from "../router/paths.ts";

export function subscriptionUrl(baseUrl: string, id: string): string {
  return `${baseUrl}${CONTROL_ROOT}/subscriptions/${encodeURIComponent(id)}`;
}

/** The server's URL, and the key that it signs with. */
export interface WebhookSigning {
  readonly baseUrl: string;
  readonly keys: { readonly kid: string };
}

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

export function streamJson({ path, linkType, acked, tail, hasPending }: LinkedStream): unknown {
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
