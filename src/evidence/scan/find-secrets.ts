/**
 * Find secrets: which rules match in the bytes of a line, and where. Pure: no files, no clock.
 *
 *     const rules = await allRules();              // ours and those of secretlint
 *     const finder = new SecretFinder(rules);      // or of some: rules.filter(({ id }) => …)
 *     finder.find(lineBytes)                       // [{ rule: "github", start, end, masked, depth }]
 *
 * `start` and `end` are byte offsets in the bytes passed: raw bytes of the log, in which a value may
 * be longer than it is when decoded. Text is decoded before rules see it: the escapes of JSON, base64
 * of text, and again those of JSON inside JSON, DEPTH_MAX levels deep. A value of a form of its own is
 * found also if the end of a line breaks it.
 *
 * SCN1  The value itself is in no result: `masked` has at most five of its characters, and
 *      `valueId` tells equal values from others under a key that is in no result either.
 * SCN2  Linear: a rule sees windows of bounded size around its triggers, and each byte is in at most
 *      a few windows of each rule, however the bytes are chosen.
 */

import { createHmac, randomUUID } from "node:crypto";
import { PERSONAL_RULES } from "./personal-rules.ts";
import { AFTER_BYTES, BEFORE_BYTES, type Match, type Rule, SECRET_RULES } from "./rules.ts";
import { secretlintRules } from "./secretlint.ts";
import { BASE64, base64From, DEPTH_MAX, ESCAPE, TriggerSearch } from "./triggers.ts";
import {
  fromBase64,
  type JoinedLines,
  joinedLines,
  OTHER_CHARACTER,
  unescapeOnce,
} from "./unescape.ts";

/** Changes when the same bytes give other finds. */
export const RULES_VERSION = 2;
/** A value whose literal is hidden by an escape ends at most this many bytes after the escape. */
const HIDDEN_BYTES = 2_048;
const LF = 0x0a;

export interface Find {
  readonly rule: string;
  /** Bytes of the value, in the bytes that were searched. */
  readonly start: number;
  readonly end: number;
  /** The value's first three and last two characters at most. */
  readonly masked: string;
  /** The same for the same value, by the key of the finder. */
  readonly valueId: string;
  /** How many times the value was decoded; 1: it was in the line's own strings. */
  readonly depth: number;
}

/** Names values without telling them: without the key, no guess can be confirmed. */
export type ValueIds = (value: string) => string;

export function valueIdsBy(key: string): ValueIds {
  return (value) => createHmac("sha256", key).update(value, "latin1").digest("hex").slice(0, 16);
}

/** All rules, the most dangerous first, and in the order in which documentation lists them. */
export async function allRules(): Promise<Rule[]> {
  return [...(await secretlintRules()), ...SECRET_RULES, ...PERSONAL_RULES];
}

export class SecretFinder {
  readonly #rules: readonly Rule[];
  readonly #search: TriggerSearch;
  readonly valueIds: ValueIds;

  /** Without `valueIds`, ids are equal in the finds of this process only. */
  constructor(rules: readonly Rule[], valueIds = valueIdsBy(randomUUID())) {
    this.#rules = rules;
    this.#search = new TriggerSearch([ESCAPE, BASE64, ...rules]);
    this.valueIds = valueIds;
  }

  /** Finds in order; one inside another, or of two rules in the same place, is left out. */
  find(given: Uint8Array | string): Find[] {
    return this.#find(typeof given === "string" ? Buffer.from(given) : asBuffer(given), false);
  }

  /** The same for many lines of a log at once, which is faster: no find is of two lines. */
  findInLines(lines: Buffer): Find[] {
    return this.#find(lines, true);
  }

  #find(bytes: Buffer, areLines: boolean): Find[] {
    const finds: Placed[] = [];
    this.#collect({ bytes, depth: 0, areLines, at: (index) => index }, finds);
    return withoutOverlaps(finds);
  }

  #collect(searched: Searched, finds: Placed[]): void {
    const { bytes, depth } = searched;
    /** Which places the last window of each trigger covers. */
    const covered = new Map<number, { readonly from: number; readonly to: number }>();
    this.#search.each(bytes, (trigger, place) => {
      const last = covered.get(trigger);
      if (last && place >= last.from && place < last.to) return;
      if (trigger === 0) covered.set(trigger, this.#collectEscaped(searched, place, finds));
      else if (trigger === 1) covered.set(trigger, this.#collectBase64(searched, place, finds));
      else {
        const rule = this.#rules[trigger - 2] as Rule;
        const after = rule.after ?? AFTER_BYTES;
        const window = windowIn(searched, place - BEFORE_BYTES, place, place + 2 * after);
        covered.set(trigger, { from: place, to: Math.min(place + after, window.end) });
        this.#match(rule, trigger, window, depth, finds);
      }
    });
  }

  /** What is behind an escape that may hide a literal. Returns what it looked at. */
  #collectEscaped(searched: Searched, place: number, finds: Placed[]) {
    const { bytes, depth } = searched;
    // Decoded bytes are a window already.
    const isAll = depth > 0;
    const after = isAll ? bytes.length : HIDDEN_BYTES;
    const from = isAll ? 0 : place - BEFORE_BYTES;
    const window = windowIn(searched, from, place, place + 2 * after);
    if (depth < DEPTH_MAX) {
      const { text, at } = unescaped(window);
      const decoded = Buffer.from(text, "latin1");
      this.#collect({ bytes: decoded, depth: depth + 1, areLines: false, at }, finds);
    }
    return { from: place, to: Math.min(place + after, window.end) };
  }

  #collectBase64({ bytes, depth, at: outer }: Searched, place: number, finds: Placed[]) {
    const start = base64From(bytes, place);
    const { text, end, at } = fromBase64(bytes, start);
    if (depth < DEPTH_MAX) {
      const decoded = Buffer.from(text.replace(/[\x80-\xff]/g, OTHER_CHARACTER), "latin1");
      const inside = (index: number, isEnd?: boolean) => outer(at(index, isEnd), isEnd);
      this.#collect({ bytes: decoded, depth: depth + 1, areLines: false, at: inside }, finds);
    }
    return { from: place, to: end };
  }

  /** Adds the rule's matches at every level of the window; `depth` levels are decoded already. */
  #match(rule: Rule, order: number, window: Window, depth: number, finds: Placed[]): void {
    let level = depth === 0 ? unescaped(window) : window;
    for (let deep = Math.max(1, depth); ; deep++) {
      for (const match of rule.find(level.text)) {
        const find = this.#findOf(rule, match, level);
        if (find) finds.push({ ...find, depth: deep, order });
      }
      for (const find of rule.isBreakable ? this.#broken(rule, level) : []) {
        finds.push({ ...find, depth: deep, order });
      }
      if (deep >= DEPTH_MAX) return;
      const inner = unescaped(level);
      if (inner.text === level.text) return; // Nothing was left to decode.
      level = inner;
    }
  }

  /** Values that the end of a line breaks. */
  #broken(rule: Rule, { text, at, isCut }: Window): FindOfRule[] {
    const finds: FindOfRule[] = [];
    for (const pair of joinedLines(text)) {
      const place = (index: number, isEnd?: boolean) => {
        return at(isEnd ? pair.at(index - 1) + 1 : pair.at(index), isEnd);
      };
      const cut = [isCut[0] && pair.isFirst, isCut[1] && pair.isLast] as const;
      for (const match of rule.find(pair.text)) {
        const window = { text: pair.text, at: place, isCut: cut };
        const find = isBroken(rule, match, pair) ? this.#findOf(rule, match, window) : null;
        if (find) finds.push(find);
      }
    }
    return finds;
  }

  /** Null: the window cuts it, so it is whole in the window of its own trigger. */
  #findOf({ id }: Rule, { start, end }: Match, { text, at, isCut }: Window): FindOfRule | null {
    if ((isCut[0] && start === 0) || (isCut[1] && end === text.length)) return null;
    const value = text.slice(start, end);
    const valueId = this.valueIds(value);
    return { rule: id, start: at(start), end: at(end, true), masked: mask(value), valueId };
  }
}

type FindOfRule = Omit<Find, "depth">;

/** Whether the match is of both lines. A word that follows a whole value is none of it: it has no digits. */
function isBroken(rule: Rule, { start, end }: Match, { text, gap }: JoinedLines): boolean {
  if (start >= gap || end <= gap) return false;
  const isWhole = [...rule.find(text.slice(0, gap))].some((match) => match.end === gap);
  return !isWhole || /\d/.test(text.slice(gap, end));
}

interface Placed extends Find {
  /** Of its rule. */
  readonly order: number;
}

/** Bytes, and where they were in the bytes that were passed. */
interface Searched {
  readonly bytes: Buffer;
  /** How many times they were decoded. */
  readonly depth: number;
  readonly areLines: boolean;
  readonly at: PlaceOf;
}

/** Where a character is in the bytes that were passed, or where the one before it ends. */
type PlaceOf = (index: number, isEnd?: boolean) => number;

/** The part of the bytes from `from` to `to`; of lines, only that of the line at `place`. */
function windowIn({ bytes, areLines, at }: Searched, from: number, place: number, to: number) {
  const least = Math.max(0, from);
  const most = Math.min(bytes.length, to);
  const before = areLines ? bytes.subarray(least, place).lastIndexOf(LF) : -1;
  const after = areLines ? bytes.subarray(place, most).indexOf(LF) : -1;
  const start = before === -1 ? least : least + before + 1;
  const end = after === -1 ? most : place + after;
  const isCut = [before === -1 && start > 0, after === -1 && end < bytes.length] as const;
  const text = asciiOf(bytes.subarray(start, end));
  return { text, at: placeFrom(at, (index) => start + index), isCut, end };
}

interface Window {
  readonly text: string;
  readonly at: PlaceOf;
  /** Whether there is more before and after it. */
  readonly isCut: readonly [boolean, boolean];
}

function unescaped({ text, at, isCut }: Window): Window {
  const decoded = unescapeOnce(text);
  return { text: decoded.text, at: placeFrom(at, decoded.at), isCut };
}

function placeFrom(outer: PlaceOf, inner: (index: number) => number): PlaceOf {
  return (index, isEnd) => outer(inner(index), isEnd);
}

/** At most five characters of a value, and at most a quarter of them. */
export function mask(value: string): string {
  const shown = value.length >= 20 ? [3, 2] : value.length >= 12 ? [2, 1] : [1, 0];
  const [first = 0, last = 0] = value.length >= 4 ? shown : [0, 0];
  return `${value.slice(0, first)}…${last === 0 ? "" : value.slice(-last)}`;
}

function asBuffer(bytes: Uint8Array): Buffer {
  return Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength);
}

/** One character per byte; those outside ASCII are not letters to any rule. */
function asciiOf(bytes: Buffer): string {
  return bytes.toString("latin1").replace(/[\x80-\xff]/g, OTHER_CHARACTER);
}

/** Of finds that overlap, one is kept, over all their bytes; of equal ones, the first rule's. */
function withoutOverlaps(finds: readonly Placed[]): Find[] {
  const sorted = [...finds].sort((a, b) => a.start - b.start || b.end - a.end || a.order - b.order);
  const kept: Find[] = [];
  for (const { order: _, ...find } of sorted) {
    const last = kept.at(-1);
    if (last === undefined || find.start >= last.end) kept.push(find);
    else if (find.end > last.end) kept[kept.length - 1] = { ...last, end: find.end };
  }
  return kept;
}
