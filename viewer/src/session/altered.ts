/** Altered: which ranges of a session are not as they were signed. */

import { signal } from "@preact/signals";

export interface AlteredRange {
  readonly from: number;
  readonly to: number;
}

const found = signal<{ readonly id: string; readonly ranges: readonly AlteredRange[] } | null>(
  null,
);
const NONE: readonly AlteredRange[] = [];

export function alteredRanges(id: string): readonly AlteredRange[] {
  return found.value?.id === id ? found.value.ranges : NONE;
}

/** Called by the proof panel. */
export function showAltered(id: string, ranges: readonly AlteredRange[]): void {
  found.value = { id, ranges };
}
