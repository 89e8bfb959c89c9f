/** Refusals of requests about subscriptions: one error code of ours, with the protocol's reason. */

import { type SubscriptionRefusal, VerbatimError } from "../base/errors.ts";

export function refused(
  subscription: string,
  reason: SubscriptionRefusal["reason"],
  message: string,
  held?: NonNullable<SubscriptionRefusal["held"]>,
): VerbatimError<"SUBSCRIPTION_REFUSED"> {
  const facts = held === undefined ? {} : { held };
  return new VerbatimError("SUBSCRIPTION_REFUSED", message, { subscription, reason, ...facts });
}

export function notFound(id: string): VerbatimError {
  return refused(id, "SUBSCRIPTION_NOT_FOUND", `there is no subscription ${id}; make it with PUT`);
}
