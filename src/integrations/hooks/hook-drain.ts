/** Hook drain: moves spooled hooks into their sessions, after the last hook of a session. */

import { nodeHost } from "../../core/base/node-host.ts";
import { provideDialect } from "../../dialects/all.ts";
import { claude } from "../../dialects/hooks/dialect.ts";
import { Store } from "../../sessions/store/store.ts";
import { logFailure } from "./hook-log.ts";

/**
 * Hooks that cannot be drained now stay in the spool, and the next reader of the session drains
 * them.
 */
export async function drainAfterHook(root: string, withinMs: number): Promise<void> {
  const onWarning = (warning: string) => void logFailure(new Error(warning), Date.now());
  const store = new Store(nodeHost, { dialect: provideDialect(claude), root, onWarning });
  await store.drainInbox({ lockWaitMs: Math.floor(withinMs / 2) });
}
