/** Store notes: that no store was found, and that a journal waits which a killed server left. */

import { dataDirectoriesAmong, warnOfJournals } from "../../history/journal-warnings.ts";
import type { FoundStore } from "../../sessions/list/find-stores.ts";
import type { Io } from "../command/command.ts";

export const NO_STORES =
  "no session store was found from here, and no agent's sessions in your home; name a store " +
  "with --root, or see where `verbatim agents` looks";

/** Warns once for each data directory among the stores. */
export async function warnOfJournal(stores: readonly FoundStore[], io: Io): Promise<void> {
  const roots = dataDirectoriesAmong(stores);
  if (roots.length === 0) return;
  const { nodeHost } = await import("../../core/base/node-host.ts");
  await warnOfJournals(nodeHost, roots, (warning) => io.err(`warning: ${warning}`));
}
