/** Wake events: the messages that a pull-wake subscription writes to its wake stream. */

import type { StreamStore } from "../streams/stream-store.ts";
import { isMissing } from "./followed.ts";
import type { Subscription } from "./subscription.ts";

export type WakeStreamStore = Pick<StreamStore, "head" | "append" | "touch">;

/**
 * Appends the event of the current wake, unless it is already there: the generation is the
 * producer's epoch, so retries leave it in the stream once. False if the stream does not exist or
 * is closed; the application creates it.
 */
export async function appendWakeEvent(
  store: WakeStreamStore,
  { id, uid, config, phase, links }: Subscription,
  nowMs: number,
): Promise<boolean> {
  const path = config.wakeStream ?? "";
  const event = JSON.stringify({
    type: "wake",
    subscription_id: id,
    stream: links.firstPending?.slice(1) ?? "",
    generation: phase.generation,
    ts: nowMs,
  });
  try {
    const { isJson, contentType } = await store.head(path);
    const { outcome } = await store.append(path, {
      body: Buffer.from(isJson ? event : `${event}\n`),
      contentType,
      producer: { id: `subscription/${uid}`, epoch: phase.generation, seq: 0 },
      close: false,
    });
    store.touch(path);
    return outcome === "appended" || outcome === "duplicate";
  } catch (cause) {
    if (isMissing(cause)) return false;
    throw cause;
  }
}
