/** Wake events: what a pull-wake subscription writes to its wake stream. */

import type { StreamStore } from "../streams/stream-store.ts";
import { isMissing } from "./followed.ts";
import type { Subscription } from "./subscription.ts";

export type WakeStreamStore = Pick<StreamStore, "head" | "append" | "touch">;

/**
 * Appends the event of the current wake, unless it is there already: the generation is the epoch
 * of a producer, so however often it is tried, the stream holds it once. False when there is no
 * such stream, or it takes no more; the stream is the application's to make.
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
