/** Inbox findings: recorded lines that wait in a store's inbox and are not in a log yet. */

import { dialectNamed } from "../dialects/all.ts";
import { type Finding, finding } from "../findings/finding.ts";
import type { FoundStore } from "../listing/find-stores.ts";

/** One finding for each session with waiting lines, or only for one session. */
export function* inboxFindings({ dialect, root }: FoundStore, only?: string): Generator<Finding> {
  const { inbox } = dialectNamed(dialect);
  if (!inbox?.mayWait(root)) return;
  for (const [session, count] of inbox.waiting(root)) {
    if (only !== undefined && session !== only) continue;
    const hooks = count === 1 ? "1 recorded hook waits" : `${count} recorded hooks wait`;
    const at = { session, path: inbox.directory(root) };
    yield finding("HOOKS_WAITING", at, `${hooks}; drain with \`verbatim ls\``);
  }
}
