/**
 * Session glob: which sessions a pattern names. `*` stands for any run of characters but `/`, `**`
 * for any run at all, everything else for itself.
 *
 * SG1  Matching goes through the id once. All places of the glob that it may have come to are kept
 *      together, so nothing is tried twice and no pair of texts takes long.
 */

export const GLOB_CHARS_MAX = 256;

// biome-ignore lint/suspicious/noControlCharactersInRegex: control characters are what it looks for.
const GLOB = /^[^\u0000-\u001f\u007f-\u009f]+$/;

/** Whether a text is a glob that may be kept: not empty, not too long, no control characters. */
export function isGlob(text: string): boolean {
  return text.length <= GLOB_CHARS_MAX && GLOB.test(text);
}

/** Whether the glob names this session. One without an id is named by `**` alone. */
export function globMatches(glob: string, sessionId: string | null): boolean {
  if (sessionId === null) return glob === "**";
  const tokens = glob.match(/\*\*+|[\s\S]/g) ?? [];
  let places = withEmptyRuns(tokens, new Set([0]));
  for (let at = 0; at < sessionId.length && places.size > 0; at++) {
    const character = sessionId[at] ?? "";
    const next = new Set<number>();
    for (const place of places) {
      const token = tokens[place];
      if (token === undefined) continue;
      if (token.startsWith("*")) {
        if (token.length > 1 || character !== "/") next.add(place);
      } else if (token === character) {
        next.add(place + 1);
      }
    }
    places = withEmptyRuns(tokens, next);
  }
  return places.has(tokens.length);
}

/** A star may stand for nothing, so whoever has come to one may also be behind it. */
function withEmptyRuns(tokens: readonly string[], places: Set<number>): Set<number> {
  // A set is walked in the order of adding, what is added on the way included.
  for (const place of places) {
    if (tokens[place]?.startsWith("*")) places.add(place + 1);
  }
  return places;
}
