/**
 * Globs: which streams a subscription's pattern names.
 *
 * `*` stands for one segment of a path, `**` for any number of them, none included; every other
 * segment for itself. `%2A` in a segment is a star that means itself.
 *
 * GL1  Matching never takes longer than pattern times path: on a mismatch only the last `**` is
 *      tried again, because an earlier one could reach nothing that it does not.
 */

import { SUBSCRIPTION_LIMITS } from "../base/limits.ts";

/** A pattern, taken apart once. */
export class Glob {
  readonly #segments: readonly Segment[];

  /** The pattern must have no fault (`globFault`). */
  constructor(pattern: string) {
    this.#segments = pattern.split("/").map(segmentOf);
  }

  /** Whether it names the stream with these segments (`segmentsOf`). */
  matches(given: readonly string[]): boolean {
    const segments = this.#segments;
    let at = 0;
    let read = 0;
    let lastRun = -1;
    let runEnd = 0;
    while (read < given.length) {
      const segment = segments[at];
      if (segment === ANY_RUN) {
        lastRun = at++;
        runEnd = read;
      } else if (segment !== undefined && (segment === ANY_ONE || segment === given[read])) {
        at++;
        read++;
      } else if (lastRun >= 0) {
        at = lastRun + 1; // GL1: the run takes one segment more.
        read = ++runEnd;
      } else {
        return false;
      }
    }
    while (segments[at] === ANY_RUN) at++;
    return at === segments.length;
  }
}

/** The segments of a stream's path, which begins with a slash. */
export function segmentsOf(path: string): readonly string[] {
  return path.slice(1).split("/");
}

/** Why a text is no pattern; null when it is one. */
export function globFault(pattern: string): string | null {
  if (pattern === "") return "it is empty";
  if (pattern.length > SUBSCRIPTION_LIMITS.patternCharsMax) return "it is too long";
  if (!pattern.isWellFormed()) return "it is not well-formed Unicode";
  for (const segment of pattern.split("/")) {
    if (segment === "") return "it has an empty segment";
    // As a part of a segment it would stand for itself, and silently match nothing.
    if (segment !== "*" && segment !== "**" && segment.includes("*")) {
      return "a star must be a whole segment; write %2A for a star that means itself";
    }
  }
  return null;
}

const ANY_ONE = Symbol("one segment");
const ANY_RUN = Symbol("any number of segments");

type Segment = string | typeof ANY_ONE | typeof ANY_RUN;

function segmentOf(text: string): Segment {
  if (text === "*") return ANY_ONE;
  if (text === "**") return ANY_RUN;
  return text.replace(/%2a/gi, "*");
}
