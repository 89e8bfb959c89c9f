/**
 * Bad-line warning: what a reader does with bad lines, and one process warning that counts all bad
 * lines of one read.
 */

import { checkChoice } from "../base/choice.ts";

/** Throw BAD_LINE, skip the line, or skip it and pass it to a function. */
export type OnBadLine<Bad, More extends unknown[] = []> =
  | "throw"
  | "skip"
  | ((bad: Bad, ...more: More) => void);

export function checkOnBadLine(onBadLine: unknown): void {
  if (typeof onBadLine !== "function") checkChoice("onBadLine", onBadLine, ["throw", "skip"]);
}

/** A skipped line and its position. */
export interface PassedOver {
  /** From 1; null when the read did not begin at the start. */
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
      if (reason === "blank") return; // Nothing is lost.
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
