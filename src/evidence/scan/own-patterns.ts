/**
 * Own patterns: expressions that the user gives, matched in decoded text.
 *
 * They may be of any shape, also one that takes exponential time. Each line has a time limit, which
 * interrupts the expression itself: `vm` is the only way to do that without a second thread and
 * copies of all text. A pattern that exceeds it on OVERRUNS_MAX lines is no longer used. Whatever
 * was not searched is reported.
 */

import { isUtf8 } from "node:buffer";
import { randomUUID } from "node:crypto";
import { createContext, Script } from "node:vm";
import { type Find, mask, type ValueIds, valueIdsBy } from "./find-secrets.ts";
import { DEPTH_MAX } from "./triggers.ts";
import { unescapeOnce } from "./unescape.ts";

/** For all patterns on one level of one line. */
export const LINE_MS = 500;
export const OVERRUNS_MAX = 3;
export const PATTERNS_MAX = 100;
const FINDS_MAX = 10_000;

export interface OwnPattern {
  readonly name: string;
  readonly source: string;
  readonly flags: string;
}

const NAME = /^[A-Za-z0-9][\w.-]{0,39}$/;

/** `NAME=REGEX` or `NAME=/REGEX/flags`; a text that says what is wrong, if it is. */
export function parseOwnPattern(text: string): OwnPattern | string {
  const equals = text.indexOf("=");
  const name = text.slice(0, Math.max(0, equals));
  if (!NAME.test(name)) {
    return "a pattern is NAME=REGEX, with a name of at most 40 letters, digits, dots and hyphens";
  }
  const given = text.slice(equals + 1);
  const slashed = /^\/(?<source>.{1,10000})\/(?<flags>[imsu]{0,4})$/s.exec(given)?.groups;
  const source = slashed?.source ?? given;
  const flags = slashed?.flags ?? "";
  if (source === "") return `the pattern ${name} is empty`;
  try {
    new RegExp(source, flags);
  } catch {
    return `the pattern ${name} is not a regular expression of JavaScript`;
  }
  return { name, source, flags };
}

const SCRIPT = new Script(`
  found = [];
  for (at = from; at < patterns.length; at++) {
    if (patterns[at] === null) continue;
    const expression = new RegExp(patterns[at].source, patterns[at].flags + "g");
    for (let match; found.length < most && (match = expression.exec(text)) !== null; ) {
      if (match[0] === "") expression.lastIndex++;
      else found.push([at, match.index, match.index + match[0].length]);
    }
  }
`);

interface Sandbox {
  text: string;
  from: number;
  at: number;
  found: [number, number, number][];
  patterns: (OwnPattern | null)[];
  most: number;
}

export class OwnPatterns {
  readonly #names: readonly string[];
  readonly #valueIds: ValueIds;
  readonly #box: Sandbox;
  readonly #overruns = new Map<number, number>();

  constructor(patterns: readonly OwnPattern[], valueIds = valueIdsBy(randomUUID())) {
    this.#names = patterns.map(({ name }) => name);
    this.#valueIds = valueIds;
    const box = { text: "", from: 0, at: 0, found: [], patterns: [...patterns], most: FINDS_MAX };
    this.#box = createContext(box) as unknown as Sandbox;
  }

  /** Finds in a line, and the names of patterns that were not matched with all of it. */
  find(bytes: Buffer): { readonly finds: Find[]; readonly missed: readonly string[] } {
    const encoding = isUtf8(bytes) ? "utf8" : "latin1";
    const raw = bytes.toString(encoding);
    const finds = new Map<string, Find>();
    const missed = new Set<number>();
    const byteAt = bytesUpTo(raw, encoding);
    let level = unescapeOnce(raw, false);
    for (let depth = 1; ; depth++) {
      for (const [pattern, from, to] of this.#match(level.text, missed)) {
        const start = byteAt(level.at(from));
        const end = byteAt(level.at(to));
        const find = { rule: `own:${this.#names[pattern]}`, start, end, depth };
        const key = `${pattern} ${start} ${end}`;
        const value = level.text.slice(from, to);
        const valueId = this.#valueIds(value);
        if (!finds.has(key)) finds.set(key, { ...find, masked: mask(value), valueId });
      }
      if (depth >= DEPTH_MAX || !level.text.includes("\\")) break;
      const outer = level;
      const inner = unescapeOnce(outer.text, false);
      level = { text: inner.text, at: (index) => outer.at(inner.at(index)) };
      if (inner.text === outer.text) break;
    }
    return { finds: [...finds.values()], missed: [...missed].map((n) => this.#names[n] ?? "") };
  }

  #match(text: string, missed: Set<number>): [number, number, number][] {
    const box = this.#box;
    const all: [number, number, number][] = [];
    box.text = text;
    box.from = 0;
    box.patterns.forEach((pattern, n) => {
      if (pattern === null) missed.add(n);
    });
    for (;;) {
      try {
        SCRIPT.runInContext(box, { timeout: LINE_MS });
        all.push(...box.found);
        return all;
      } catch (cause) {
        if ((cause as { code?: unknown }).code !== "ERR_SCRIPT_EXECUTION_TIMEOUT") throw cause;
        const slow = box.at;
        all.push(...box.found);
        missed.add(slow);
        const overruns = (this.#overruns.get(slow) ?? 0) + 1;
        this.#overruns.set(slow, overruns);
        if (overruns >= OVERRUNS_MAX) box.patterns[slow] = null;
        box.from = slow + 1;
      }
    }
  }
}

/** How many bytes the characters before an index have; cheap for indexes in order. */
function bytesUpTo(text: string, encoding: "utf8" | "latin1"): (index: number) => number {
  let last = { index: 0, bytes: 0 };
  return (index) => {
    if (index < last.index) last = { index: 0, bytes: 0 };
    const bytes = last.bytes + Buffer.byteLength(text.slice(last.index, index), encoding);
    last = { index, bytes };
    return bytes;
  };
}
