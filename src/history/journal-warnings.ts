/** Journal warnings: what a server acknowledged and no reader of its files sees yet. */

import type { Host } from "../core/base/host.ts";
import { dialectNamed } from "../dialects/all.ts";
import type { FoundStore } from "../sessions/list/find-stores.ts";

/** The data directories among the stores: streams of a server hold anything. */
export function dataDirectoriesAmong(stores: readonly FoundStore[]): readonly string[] {
  const served = stores.filter(({ dialect }) => dialectNamed(dialect).reading.holdsAnything);
  return [...new Set(served.map(({ root }) => root))];
}

export async function warnOfJournals(
  host: Host,
  dataDirectories: readonly string[],
  onWarning: (warning: string) => void,
): Promise<void> {
  if (dataDirectories.length === 0) return;
  const { bytesLeftInJournal } = await import("../streams/journal/journal-remainder.ts");
  for (const root of dataDirectories) {
    const left = await bytesLeftInJournal(host, root);
    if (left === 0) continue;
    onWarning(
      `${left} bytes that a server acknowledged are still in the journal of ${root}, and are not ` +
        `shown; start a server there to recover them: verbatim serve --data ${root}`,
    );
  }
}
