/** Hook drain: puts the hooks of a spool into their sessions, after the last hook of a session. */

import { nodeHost } from "../../../base/node-host.ts";
import { Store } from "../../../store/store.ts";
import { logFailure } from "./hook-log.ts";

/** What cannot be drained now is still recorded, and drained by whoever reads the session. */
export async function drainAfterHook(root: string, withinMs: number): Promise<void> {
  const onWarning = (warning: string) => void logFailure(new Error(warning), Date.now());
  const store = new Store(nodeHost, { dialect: "claude", root, onWarning });
  await store.drainInbox({ lockWaitMs: Math.floor(withinMs / 2) });
}
