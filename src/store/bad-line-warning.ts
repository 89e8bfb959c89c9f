/** Bad-line warning: one process warning for all the bad lines of one reading, by number. */

import type { BadEntry } from "./session.ts";

const LISTED_MAX = 20;

export function badLineWarning(path: string): {
  readonly add: (bad: BadEntry) => void;
  readonly emit: () => void;
} {
  const listed: string[] = [];
  let count = 0;
  return {
    add({ line, offset, reason }) {
      if (reason === "blank") return; // Nothing was lost in it.
      count++;
      if (count <= LISTED_MAX) listed.push(`${line ?? `at byte ${offset}`} (${reason})`);
    },
    emit() {
      if (count === 0) return;
      const more = count > LISTED_MAX ? ` and ${count - LISTED_MAX} more` : "";
      const lines = `${count} bad line${count === 1 ? "" : "s"}`;
      process.emitWarning(
        `${path}: skipped ${lines}: ${listed.join(", ")}${more}`,
        "VerbatimWarning",
      );
    },
  };
}
