/** Claude hooks: recorded hooks that wait in a store's spool and are lines of no log yet. */

import { waitingHooks } from "../dialects/claude/files/drain-spool.ts";
import { spoolDirectory } from "../dialects/claude/files/hooks-waiting.ts";
import { type Finding, finding } from "../findings/finding.ts";
import type { FoundStore } from "../listing/find-stores.ts";

/** One finding for each session that has some. */
export async function* lookAtHooks(_: unknown, { root }: FoundStore): AsyncGenerator<Finding> {
  for (const [session, count] of waitingHooks(root)) yield hooksWait(root, session, count);
}

/** The finding for one session, if it has some. */
export function* hooksOf(root: string, session: string): Generator<Finding> {
  const count = waitingHooks(root).get(session) ?? 0;
  if (count > 0) yield hooksWait(root, session, count);
}

function hooksWait(root: string, session: string, count: number): Finding {
  const at = { session, path: spoolDirectory(root) };
  const hooks = count === 1 ? "1 recorded hook waits" : `${count} recorded hooks wait`;
  return finding("HOOKS_WAITING", at, `${hooks}; drain with \`verbatim ls\``);
}
