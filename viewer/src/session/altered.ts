/** Altered: which ranges of a session are not as they were signed. */

import { signal } from "@preact/signals";

export interface AlteredBytes {
  readonly from: number;
  readonly to: number;
}

const found = signal<{ readonly id: string; readonly ranges: readonly AlteredBytes[] } | null>(
  null,
);
const NONE: readonly AlteredBytes[] = [];

export function alteredRanges(id: string): readonly AlteredBytes[] {
  return found.value?.id === id ? found.value.ranges : NONE;
}

/** Called by the proof panel. */
export function showAltered(id: string, ranges: readonly AlteredBytes[]): void {
  found.value = { id, ranges };
}
