/**
 * Hits: what is withheld of a line, from the byte ranges that a finder returned.
 *
 * The unit is the line, or a string of at least `parts` bytes: only these have a hash of their own.
 */

import { RULE_CHARS_MAX } from "../../trust/proof/disclosure/statement.ts";
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
    if (!part) return { is: "line", rule: rulesOf(hits) };
    found.set(part, [...(found.get(part) ?? []), hit]);
  }
  const parts = strings.flatMap((part) => {
    const inside = found.get(part);
    return inside ? [{ ...part, rule: rulesOf(inside), hits: inside }] : [];
  });
  return { is: "strings", parts };
}

/** Every rule that hit, as far as a statement has room for their names. */
export function rulesOf(hits: readonly Hit[]): string {
  const names = [...new Set(hits.map(({ rule }) => rule))];
  for (let count = names.length; count > 1; count--) {
    const rest = names.length - count;
    const text = `${names.slice(0, count).join(", ")}${rest === 0 ? "" : ` and ${rest} more`}`;
    if (text.length <= RULE_CHARS_MAX) return text;
  }
  return names[0] ?? "";
}

export const WITHHELD = "[withheld]";
const decoder = new TextDecoder();

const PERSONAL: ReadonlySet<string> = new Set(["email", "phone", "card", "iban"]);
/** Rules of what a person chose: it may be anything. */
const CHOSEN: ReadonlySet<string> = new Set(["match", "entry", "spill"]);

/** What a value is replaced by, so that its text can be read. */
export function labelOf(rule: string): string {
  if (PERSONAL.has(rule)) return `[${rule}]`;
  if (rule.startsWith("own:")) return `[${rule.slice("own:".length)}]`;
  return CHOSEN.has(rule) ? WITHHELD : "[key]";
}

/** A value in a string of a line, and the hits in it. */
export interface MaskedValue {
  readonly from: number;
  readonly to: number;
  readonly hits: readonly Hit[];
}

/**
 * A line with each value replaced by its label, so that all other words of its strings stay. Null if
 * that cannot be: a hit is in no string, something is still found, or the line would not be JSON.
 */
export function maskedLine(
  line: Uint8Array,
  hits: readonly Hit[],
  finder: Finder,
): { readonly bytes: Uint8Array; readonly values: readonly MaskedValue[] } | null {
  const strings = findParts(line, 1);
  const values = joinedHits(hits);
  const isInString = ({ from, to }: MaskedValue) =>
    strings.some(({ at, length }) => at <= from && to <= at + length);
  if (!values.every(isInString)) return null;
  const pieces: Uint8Array[] = [];
  let at = 0;
  for (const { from, to, hits } of values) {
    pieces.push(line.subarray(at, from), Buffer.from(labelOf(hits[0]?.rule ?? "")));
    at = to;
  }
  const bytes = Buffer.concat([...pieces, line.subarray(at)]);
  // A number of 0 is no entry: only texts are found again.
  if (finder(bytes, 0).length > 0 || (isJson(line) && !isJson(bytes))) return null;
  return { bytes, values };
}

/** In order; hits that overlap are one value. */
function joinedHits(hits: readonly Hit[]): MaskedValue[] {
  const values: MaskedValue[] = [];
  for (const hit of [...hits].sort((one, other) => one.from - other.from)) {
    const last = values.at(-1);
    if (last === undefined || hit.from >= last.to) values.push({ ...hit, hits: [hit] });
    else {
      const to = Math.max(last.to, hit.to);
      values[values.length - 1] = { from: last.from, to, hits: [...last.hits, hit] };
    }
  }
  return values;
}

function isJson(bytes: Uint8Array): boolean {
  try {
    JSON.parse(decoder.decode(bytes));
    return true;
  } catch {
    return false;
  }
}

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
