/**
 * Find secrets: which rules match in the bytes of a line, and where. Pure: no files, no clock.
 *
 *     const rules = await allRules();              // ours and those of secretlint
 *     const finder = new SecretFinder(rules);      // or of some: rules.filter(({ id }) => …)
 *     finder.find(lineBytes)                       // [{ rule: "github", start, end, masked, depth }]
 *
 * `start` and `end` are byte offsets in the bytes passed: raw bytes of the log, in which a value may
 * be longer than it is when decoded. Text is decoded before rules see it: the escapes of JSON, and
 * again those of JSON inside JSON, DEPTH_MAX levels deep.
 *
 * SCN1  The value itself is in no result: `masked` has at most five of its characters.
 * SCN2  Linear: a rule sees windows of bounded size around its triggers, and each byte is in at most
 *      a few windows of each rule, however the bytes are chosen.
 */

import { AFTER_BYTES, BEFORE_BYTES, OUR_RULES, type Rule } from "./rules.ts";
import { secretlintRules } from "./secretlint.ts";
import { DEPTH_MAX, ESCAPE, TriggerSearch } from "./triggers.ts";
import { OTHER, unescapeOnce } from "./unescape.ts";

/** Changes when the same bytes give other finds. */
export const RULES_VERSION = 1;
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
  /** How many times the value was decoded; 1: it was in the line's own strings. */
  readonly depth: number;
}

/** All rules, in the order in which documentation lists them. */
export async function allRules(): Promise<Rule[]> {
  return [...(await secretlintRules()), ...OUR_RULES];
}

export class SecretFinder {
  readonly #rules: readonly Rule[];
  readonly #search: TriggerSearch;

  constructor(rules: readonly Rule[]) {
    this.#rules = rules;
    this.#search = new TriggerSearch([ESCAPE, ...rules]);
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

  #collect({ bytes, depth, areLines, at }: Searched, finds: Placed[]): void {
    /** Which places the last window of each rule covers. */
    const covered = new Map<number, { readonly from: number; readonly to: number }>();
    this.#search.each(bytes, (trigger, place) => {
      const last = covered.get(trigger);
      if (last && place >= last.from && place < last.to) return;
      const rule = this.#rules[trigger - 1];
      // Decoded bytes are a window already.
      const isAll = !rule && depth > 0;
      const after = isAll ? bytes.length : rule ? (rule.after ?? AFTER_BYTES) : HIDDEN_BYTES;
      const from = isAll ? 0 : place - BEFORE_BYTES;
      const window = windowIn({ bytes, depth, areLines, at }, from, place, place + 2 * after);
      covered.set(trigger, { from: place, to: Math.min(place + after, window.end) });
      if (rule) this.#match(rule, trigger, window, depth, finds);
      else if (depth < DEPTH_MAX) {
        const { text, at } = unescaped(window);
        const decoded = {
          bytes: Buffer.from(text, "latin1"),
          depth: depth + 1,
          areLines: false,
          at,
        };
        this.#collect(decoded, finds);
      }
    });
  }

  /** Adds the rule's matches at every level of the window; `depth` levels are decoded already. */
  #match(rule: Rule, order: number, window: Window, depth: number, finds: Placed[]): void {
    let level = depth === 0 ? unescaped(window) : window;
    for (let deep = Math.max(1, depth); ; deep++) {
      const { text, at, isCut } = level;
      for (const { start, end } of rule.find(text)) {
        // What a window cuts is whole in the window of its own trigger.
        if ((isCut[0] && start === 0) || (isCut[1] && end === text.length)) continue;
        const masked = mask(text.slice(start, end));
        finds.push({ rule: rule.id, start: at(start), end: at(end), masked, depth: deep, order });
      }
      if (deep >= DEPTH_MAX) return;
      level = unescaped(level);
      if (level.text === text) return; // Nothing was left to decode.
    }
  }
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
  readonly at: (index: number) => number;
}

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
  return { text, at: (index: number) => at(start + index), isCut, end };
}

interface Window {
  readonly text: string;
  /** Where a character is in the bytes that were passed. */
  readonly at: (index: number) => number;
  /** Whether there is more before and after it. */
  readonly isCut: readonly [boolean, boolean];
}

function unescaped({ text, at, isCut }: Window): Window {
  const decoded = unescapeOnce(text);
  return { text: decoded.text, at: (index) => at(decoded.at(index)), isCut };
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
  return bytes.toString("latin1").replace(/[\x80-\xff]/g, OTHER);
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
