/**
 * Bad-line warning: what a reader can be told to do with bad lines, and one process warning for all
 * the bad lines of one reading, by number.
 */

import { checkChoice } from "../base/choice.ts";

/** A bad line is an error (BAD_LINE), or is skipped, or is skipped and given to a function. */
export type OnBadLine<Bad, More extends unknown[] = []> =
  | "throw"
  | "skip"
  | ((bad: Bad, ...more: More) => void);

/** Refuses with BAD_SETTING what is none of these. */
export function checkOnBadLine(onBadLine: unknown): void {
  if (typeof onBadLine !== "function") checkChoice("onBadLine", onBadLine, ["throw", "skip"]);
}

/** A line that was passed over, and where it is. */
export interface PassedOver {
  /** Counted from 1; null when the reading did not begin at the start. */
  readonly line: number | null;
  readonly offset: number | string;
  readonly reason: string;
}

const LISTED_MAX = 20;

export function badLineWarning(path: string): {
  readonly add: (bad: PassedOver) => void;
  readonly emit: () => void;
} {
  const listed: string[] = [];
  let count = 0;
  return {
    add({ line, offset, reason }) {
      if (reason === "blank") return; // Nothing was lost in it.
      count++;
      const place = typeof offset === "number" ? `at byte ${offset}` : `at ${offset}`;
      if (count <= LISTED_MAX) listed.push(`${line ?? place} (${reason})`);
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
