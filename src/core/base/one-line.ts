/**
 * One line: untrusted text as one line that is safe to print.
 *
 * No control character, terminal escape, line separator or bidirectional control is left, runs of
 * white space become one space, and the result is well-formed Unicode.
 */

/** Input characters examined per output character: escapes and blanks may use some up. */
const LOOKED_AT_FACTOR = 20;

// biome-ignore-start lint/suspicious/noControlCharactersInRegex: they are what it looks for.
/** CSI, the strings (OSC, DCS, SOS, PM, APC) up to their end or the text's, and the short ones. */
const ESCAPES =
  /(?:\x1b\[|\x9b)[0-?]*[ -/]*[@-~]?|(?:\x1b[\]PX^_]|[\x90\x98\x9d-\x9f])[^\x07\x1b\x9c]*(?:\x07|\x1b\\|\x9c)?|\x1b[ -/]*[0-~]?/g;
/** Controls, line and paragraph separators, and bidirectional controls. */
const UNPRINTABLE =
  /[\x00-\x1f\x7f-\x9f\u2028\u2029\u200e\u200f\u061c\u202a-\u202e\u2066-\u2069]+/g;
// biome-ignore-end lint/suspicious/noControlCharactersInRegex: as above.

/** The start of the text as one line of at most `charsMax` characters; "" when nothing is left. */
export function oneLine(text: string, charsMax: number): string {
  const clean = text
    .trimStart()
    .slice(0, LOOKED_AT_FACTOR * charsMax)
    .toWellFormed()
    .replace(ESCAPES, "")
    .replace(UNPRINTABLE, " ")
    .replace(/\s+/g, " ")
    .trim();
  const characters = Array.from(clean);
  if (characters.length <= charsMax) return clean;
  const start = characters.slice(0, charsMax - 1).join("");
  return `${start.trimEnd()}…`;
}
