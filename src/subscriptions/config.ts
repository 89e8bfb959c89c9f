/**
 * Configuration: the parameters of a subscription. Fixed for its life; a request with other
 * parameters for the same id is refused.
 *
 * Paths are the store's own, with their slash. Fields of the other kind of delivery are left out,
 * so that equivalent requests are equal.
 */

import { createHash } from "node:crypto";

export interface SubscriptionConfig {
  readonly type: "webhook" | "pull-wake";
  /** A glob over paths without their slash. */
  readonly pattern: string | null;
  /** Streams by name, sorted, without duplicates. */
  readonly streams: readonly string[];
  /** URL for webhook requests; null for pull-wake. */
  readonly webhookUrl: string | null;
  /** Stream for wake events; null for a webhook. */
  readonly wakeStream: string | null;
  readonly leaseTtlMs: number;
  readonly description: string | null;
}

export const LEASE_TTL_MS = { min: 1000, usual: 30_000, max: 600_000 } as const;

/** Two configurations have the same hash if and only if they are equal. */
export function configHash(config: SubscriptionConfig): string {
  const { type, pattern, streams, webhookUrl, wakeStream, leaseTtlMs, description } = config;
  const fields = [type, pattern, streams, webhookUrl, wakeStream, leaseTtlMs, description];
  return createHash("sha256").update(JSON.stringify(fields)).digest("hex");
}
