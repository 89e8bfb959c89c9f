/** Edit places: the numbers of the lines that a call changed, found in a session's outline. */

/** A file that a call touched, as an outline has it. */
export interface EditMark {
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
