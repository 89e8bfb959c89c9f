/** Amounts: how many lines and strings a disclosed copy shows, and how many it withholds, and why. */

import type { Gap, Why } from "./records.ts";

export interface DisclosureCounts {
  /** Lines of the log that are not checkpoints; of a raw stream, stretches. */
  lines: number;
  full: number;
  withheld: number;
  strings: number;
}

interface WithheldAmount {
  readonly lines: number;
  readonly strings: number;
}

export class DisclosedAmounts {
  readonly counts: DisclosureCounts = { lines: 0, full: 0, withheld: 0, strings: 0 };
  /** By the number of the reason. */
  readonly #withheld: { lines: number; strings: number }[] = [];

  /** A line, or a stretch, without the strings in its gaps. */
  addLine(gaps: readonly Gap[]): void {
    this.counts.lines++;
    this.counts.strings += gaps.length;
    if (gaps.length === 0) this.counts.full++;
    for (const { because } of gaps) if (because) this.#count(because, "strings");
  }

  addWithheld(because: Why): void {
    this.counts.lines++;
    this.counts.withheld++;
    this.#count(because, "lines");
  }

  /** Whether just these amounts were withheld, by reason. */
  areWithheld(stated: readonly WithheldAmount[]): boolean {
    const isSame = stated.every(({ lines, strings }, n) => {
      const own = this.#withheld[n] ?? { lines: 0, strings: 0 };
      return own.lines === lines && own.strings === strings;
    });
    return isSame && this.#withheld.length <= stated.length;
  }

  #count({ why }: Why, what: "lines" | "strings"): void {
    while (this.#withheld.length <= why) this.#withheld.push({ lines: 0, strings: 0 });
    const amounts = this.#withheld[why];
    if (amounts) amounts[what]++;
  }
}
