/**
 * Health watch: reports when streams stop and begin to work, as faults of the server.
 *
 * Requests are refused meanwhile with codes that are no faults, so without this the log would say
 * nothing.
 */

import type { StoreHealth, StreamStore } from "../../streams/files/stream-store.ts";

const LOOK_MS = 1000;

export type StoreStatus = "ok" | "read-only" | "unavailable";

export function statusOf(health: StoreHealth): StoreStatus {
  if (health.isWritable) return "ok";
  return health.isReadable === false ? "unavailable" : "read-only";
}

/** Returns the function that ends it. */
export function watchHealth(
  store: StreamStore,
  onFault: (what: string, cause: unknown) => void,
): () => void {
  let status: StoreStatus = "ok";
  let sinceMs = 0;
  const look = () => {
    const health = store.health();
    const now = statusOf(health);
    if (now === status) return;
    status = now;
    if (health.isWritable) {
      const seconds = Math.round((performance.now() - sinceMs) / 1000);
      onFault("streams are available again", `after ${seconds} s`);
    } else {
      sinceMs = performance.now();
      onFault(`streams are ${now}`, health.reason);
    }
  };
  const timer = setInterval(look, LOOK_MS);
  return () => clearInterval(timer);
}
