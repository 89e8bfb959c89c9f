/**
 * Session finds: what `verbatim scan` finds in the session, by row. A scan reads the whole log, so it
 * runs when the reader asks for marks; the choice is kept for the tab. Switching on scans again.
 */

import { effect, signal } from "@preact/signals";
import type { VerbatimClient } from "../../../src/client/client.ts";
import type { FoundText, SessionFinds as Scan } from "../../../src/client/find-shapes.ts";
import { faultText } from "../fault-text.ts";

const KEY = "verbatim.finds";

export const areFindsMarked = signal(kept());

export function toggleFinds(): void {
  areFindsMarked.value = !areFindsMarked.value;
  try {
    sessionStorage.setItem(KEY, areFindsMarked.value ? "on" : "off");
  } catch {
    // It counts until the page is closed.
  }
}

function kept(): boolean {
  try {
    return sessionStorage.getItem(KEY) === "on";
  } catch {
    return false;
  }
}

export class SessionFinds {
  readonly scan = signal<Scan | null>(null);
  readonly fault = signal<string | null>(null);
  #byStart: ReadonlyMap<number, readonly FoundText[]> = new Map();

  constructor(client: VerbatimClient, id: string, closing: AbortSignal) {
    /** Counts scans: only the answer of the last one is shown. */
    let scans = 0;
    const stop = effect(() => {
      const number = ++scans;
      this.#show(null, null);
      if (!areFindsMarked.value) return;
      const isOver = () => closing.aborted || number !== scans;
      client.sessions.finds(id).then(
        (scan) => isOver() || this.#show(scan, null),
        (cause) => isOver() || this.#show(null, faultText(cause)),
      );
    });
    closing.addEventListener("abort", stop);
  }

  /** Those in the lines that begin at these offsets. */
  at(starts: readonly number[]): readonly FoundText[] {
    return this.scan.value === null ? [] : starts.flatMap((at) => this.#byStart.get(at) ?? []);
  }

  /** "github, email 2"; null if there are none. */
  rulesAt(starts: readonly number[]): string | null {
    const counts = new Map<string, number>();
    for (const { rule } of this.at(starts)) counts.set(rule, (counts.get(rule) ?? 0) + 1);
    const rules = [...counts].map(([rule, count]) => (count === 1 ? rule : `${rule} ${count}`));
    return rules.join(", ") || null;
  }

  /** The line of the first find after an offset; from the end, of the first one. */
  nextAfter(at: number | null): number | null {
    const starts = [...this.#byStart.keys()].sort((one, other) => one - other);
    return starts.find((start) => at !== null && start > at) ?? starts[0] ?? null;
  }

  #show(scan: Scan | null, fault: string | null): void {
    const byStart = new Map<number, FoundText[]>();
    for (const find of scan?.finds ?? []) {
      byStart.set(find.start, [...(byStart.get(find.start) ?? []), find]);
    }
    this.#byStart = byStart;
    this.scan.value = scan;
    this.fault.value = fault;
  }
}
