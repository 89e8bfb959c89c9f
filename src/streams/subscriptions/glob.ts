/**
 * Globs: which streams a subscription's pattern matches.
 *
 * `*` matches one segment of a path, `**` any number of segments, including none; every other
 * segment matches itself. `%2A` in a segment is a literal star.
 *
 * Matching takes at most pattern times path steps: on a mismatch only the last `**` is tried again,
 * because an earlier one could match nothing that the last cannot.
 */

import { SUBSCRIPTION_LIMITS } from "../../core/base/limits.ts";

/** A parsed pattern. */
export class Glob {
  readonly #segments: readonly Segment[];

  /** The pattern must be valid (`globFault`). */
  constructor(pattern: string) {
    this.#segments = pattern.split("/").map(segmentOf);
  }

  /** Whether it matches the stream with these segments (`segmentsOf`). */
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
        at = lastRun + 1; // The last `**` takes one segment more.
        read = ++runEnd;
      } else {
        return false;
      }
    }
    while (segments[at] === ANY_RUN) at++;
    return at === segments.length;
  }
}

/** What the paths of all streams that a pattern matches begin with. */
export function globPrefix(pattern: string): string {
  const segments = pattern.split("/");
  const star = segments.findIndex((segment) => typeof segmentOf(segment) === "symbol");
  if (star === -1) return `/${segments.map((each) => String(segmentOf(each))).join("/")}`;
  const fixed = segments.slice(0, star).map((each) => `/${String(segmentOf(each))}`);
  // `a/**` also matches /a itself.
  return segments[star] === "**" ? fixed.join("") || "/" : `${fixed.join("")}/`;
}

/** The segments of a stream's path, which begins with a slash. */
export function segmentsOf(path: string): readonly string[] {
  return path.slice(1).split("/");
}

/** Why a text is not a valid pattern; null if it is. */
export function globFault(pattern: string): string | null {
  if (pattern === "") return "it is empty";
  if (pattern.length > SUBSCRIPTION_LIMITS.patternCharsMax) return "it is too long";
  if (!pattern.isWellFormed()) return "it is not well-formed Unicode";
  for (const segment of pattern.split("/")) {
    if (segment === "") return "it has an empty segment";
    // As a part of a segment it would be literal, and silently match nothing.
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
