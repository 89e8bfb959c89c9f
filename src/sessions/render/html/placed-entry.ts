/** Placed entry: an entry, where it is, and what is known around it. */

import type { Entry } from "../../../core/model/entry.ts";
import type { ToolView } from "../../../core/model/tool-view.ts";

/** What an agent recorded about the result of a call, besides what its model got. */
export interface ResultView {
  readonly callId: string;
  /** Hunks of what it changed. */
  readonly diff: string | null;
  /** Where the text of a file begins in the output. */
  readonly textAt: number;
}

/** An entry and its position in the log. */
export interface PlacedEntry extends Entry {
  readonly start: number;
  /** From 1; null when unknown. */
  readonly line: number | null;
  /** What its tool calls do, in order. Absent: only their names are known. */
  readonly tools?: readonly ToolView[];
  /** About results of calls, in this entry or another. */
  readonly results?: readonly ResultView[];
  /** The last time and model before it: only what differs is shown. */
  readonly before?: { readonly at: string | null; readonly model: string | null };
}

/** The id of an entry in a page: its line number, or its byte offset where that is unknown. */
export function anchorOf(line: number | null, start: number): string {
  return line === null ? `byte-${start}` : `entry-${line}`;
}

/** A file that a call touched, as an outline has it. */
interface EditMark {
  readonly kind: string;
  readonly start: number;
  readonly part: number;
  readonly lines: readonly (number | null)[] | null;
}

/** The first line of each change of a call; none where that is not known. Marks are in order. */
export function editPlaces(
  marks: readonly EditMark[],
  start: number,
  part: number,
): readonly (number | null)[] {
  let low = 0;
  let high = marks.length;
  while (low < high) {
    const middle = (low + high) >> 1;
    if ((marks[middle]?.start ?? 0) < start) low = middle + 1;
    else high = middle;
  }
  const places: (number | null)[] = [];
  for (let mark = marks[low]; mark?.start === start; mark = marks[++low]) {
    if (mark.kind === "edit" && mark.part === part) places.push(...(mark.lines ?? []));
  }
  return places;
}
