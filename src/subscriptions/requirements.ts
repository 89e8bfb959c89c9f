/** Requirements: conditions and limits of requests about subscriptions. */

import { SUBSCRIPTION_LIMITS } from "../base/limits.ts";
import type { SubscriptionConfig } from "./config.ts";
import { refused } from "./refusal.ts";
import type { Subscription } from "./subscription.ts";

export function requireType({ id, config }: Subscription, type: SubscriptionConfig["type"]): void {
  if (config.type === type) return;
  throw refused(id, "INVALID_REQUEST", `subscription ${id} is of type ${config.type}, not ${type}`);
}

/** The streams that were not named before; throws for those that cannot be followed. */
export function newlyNamed(
  { id, links, config }: Subscription,
  paths: readonly string[],
): readonly string[] {
  if (config.wakeStream !== null && paths.includes(config.wakeStream)) {
    const message = "the wake stream cannot be followed: each wake would wake again";
    throw refused(id, "INVALID_REQUEST", message);
  }
  const added = paths.filter((path) => !links.isExplicit(path));
  const { explicitStreamsMax } = SUBSCRIPTION_LIMITS;
  if (links.explicitCount + added.length <= explicitStreamsMax) return added;
  const message = `a subscription names at most ${explicitStreamsMax} streams; use a pattern`;
  throw refused(id, "INVALID_REQUEST", message);
}
