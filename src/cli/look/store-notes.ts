/** Store notes: that no store was found, and that a journal waits which a killed server left. */

import { dialectNamed } from "../../dialects/all.ts";
import type { FoundStore } from "../../sessions/list/find-stores.ts";
import type { Io } from "../command/command.ts";

export const NO_STORES =
  "no session store was found from here, and no agent's sessions in your home; name a store " +
  "with --root, or see where `verbatim agents` looks";

/** Warns once for each data directory among the stores. */
export async function warnOfJournal(stores: readonly FoundStore[], io: Io): Promise<void> {
  const roots = new Set(stores.filter(isOfServer).map(rootOf));
  if (roots.size === 0) return;
  const { nodeHost } = await import("../../core/base/node-host.ts");
  const { bytesLeftInJournal } = await import("../../streams/journal/journal-remainder.ts");
  for (const root of roots) {
    const left = await bytesLeftInJournal(nodeHost, root);
    if (left === 0) continue;
    io.err(
      `warning: ${left} bytes that a server acknowledged are still in the journal of ${root}, and ` +
        `are not shown; start a server there to recover them: verbatim serve --data ${root}`,
    );
  }
}

/** Streams of a server hold anything. */
function isOfServer({ dialect }: FoundStore): boolean {
  return dialectNamed(dialect).reading.holdsAnything ?? false;
}

function rootOf({ root }: FoundStore): string {
  return root;
}
