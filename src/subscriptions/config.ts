/**
 * Configuration: what a subscription was asked to be. Fixed for its life; asked for again with
 * another, it is refused.
 *
 * Paths are the store's own, with their slash. What the other kind of delivery would need is left
 * out, so that two requests that mean the same are the same.
 */

import { createHash } from "node:crypto";

export interface SubscriptionConfig {
  readonly type: "webhook" | "pull-wake";
  /** A glob over paths without their slash. */
  readonly pattern: string | null;
  /** Streams by name, sorted, each once. */
  readonly streams: readonly string[];
  /** Where a webhook's requests go; null for pull-wake. */
  readonly webhookUrl: string | null;
  /** Where wakes are written to; null for a webhook. */
  readonly wakeStream: string | null;
  readonly leaseTtlMs: number;
  readonly description: string | null;
}

export const LEASE_TTL_MS = { min: 1000, usual: 30_000, max: 600_000 } as const;

/** Two configurations have one hash if and only if they are the same. */
export function configHash(config: SubscriptionConfig): string {
  const { type, pattern, streams, webhookUrl, wakeStream, leaseTtlMs, description } = config;
  const fields = [type, pattern, streams, webhookUrl, wakeStream, leaseTtlMs, description];
  return createHash("sha256").update(JSON.stringify(fields)).digest("hex");
}
