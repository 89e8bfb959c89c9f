/**
 * Hits: what is withheld of a line, from the byte ranges that a finder returned.
 *
 * The unit is the line, or a string of at least `parts` bytes: only these have a hash of their own.
 */

import { findParts, type Part } from "../../trust/proof/leaf.ts";

/** Something to withhold, in the bytes of a line. */
export interface Hit {
  readonly rule: string;
  readonly from: number;
  readonly to: number;
}

/** Finds all that is to be withheld of a line, passed without its LF; `number` counts from 1. */
export type Finder = (line: Uint8Array, number: number) => readonly Hit[];

export interface WithheldPart extends Part {
  readonly rule: string;
  readonly hits: readonly Hit[];
}

export type WithheldContent =
  | { readonly is: "line"; readonly rule: string }
  | { readonly is: "strings"; readonly parts: readonly WithheldPart[] };

/** What the hits of a line take with them. A hit outside its long strings takes the whole line. */
export function withheldBy(
  line: Uint8Array,
  partsMin: number,
  hits: readonly Hit[],
): WithheldContent {
  const strings = findParts(line, partsMin);
  const found = new Map<Part, Hit[]>();
  for (const hit of hits) {
    const part = strings.find(({ at, length }) => at <= hit.from && hit.to <= at + length);
    if (!part) return { is: "line", rule: hit.rule };
    found.set(part, [...(found.get(part) ?? []), hit]);
  }
  const parts = strings.flatMap((part) => {
    const inside = found.get(part);
    return inside?.[0] ? [{ ...part, rule: inside[0].rule, hits: inside }] : [];
  });
  return { is: "strings", parts };
}

export const WITHHELD = "[withheld]";
const decoder = new TextDecoder();

/** The bytes with each hit replaced, for people; only `[withheld]` if something is still found. */
export function maskHits(bytes: Uint8Array, hits: readonly Hit[], finder: Finder): string {
  const ordered = [...hits].sort((one, other) => one.from - other.from);
  let [text, at] = ["", 0];
  for (const { from, to } of ordered) {
    if (from >= at) text += `${decoder.decode(bytes.subarray(at, from))}${WITHHELD}`;
    at = Math.max(at, to);
  }
  text += decoder.decode(bytes.subarray(at));
  // A number of 0 is no entry: only texts are found again.
  return finder(Buffer.from(text), 0).length > 0 ? WITHHELD : text;
}

export function allOf(...finders: readonly Finder[]): Finder {
  return (line, number) => finders.flatMap((find) => find(line, number));
}
