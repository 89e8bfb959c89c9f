/**
 * Session glob: which sessions a pattern matches. `*` matches any run of characters except `/`,
 * `**` any run at all; all other characters match themselves.
 *
 * Matching reads the id once and keeps the set of all possible glob positions, so there is no
 * backtracking and no input takes long.
 */

export const GLOB_CHARS_MAX = 256;

// biome-ignore lint/suspicious/noControlCharactersInRegex: control characters are what it looks for.
const GLOB = /^[^\u0000-\u001f\u007f-\u009f]+$/;

/** Whether a text is a valid glob: not empty, not too long, no control characters. */
export function isGlob(text: string): boolean {
  return text.length <= GLOB_CHARS_MAX && GLOB.test(text);
}

/** Whether the glob matches this session. A session without an id is matched by `**` alone. */
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

/** A star may match nothing, so a position at a star is also a position after it. */
function withEmptyRuns(tokens: readonly string[], places: Set<number>): Set<number> {
  // A set is iterated in insertion order, including elements added during the iteration.
  for (const place of places) {
    if (tokens[place]?.startsWith("*")) places.add(place + 1);
  }
  return places;
}
