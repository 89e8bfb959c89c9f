/**
 * Plain text: removes terminal escapes from a text, so that the words next to them can be found.
 *
 * - Linear time: what one match read and did not take has no start of another.
 */

// biome-ignore-start lint/suspicious/noControlCharactersInRegex: they are what it looks for.
/**
 * CSI; the strings (OSC, DCS, SOS, PM, APC), whose text must end in the same line, else only their
 * start is removed; and the short ones.
 */
const ESCAPES =
  /(?:\x1b\[|\x9b)[0-?]*[ -/]*[@-~]?|(?:\x1b[\]PX^_]|\x9d)(?:[^\x07\n\x1b\x9b-\x9d]*(?:\x07|\x1b\\|\x9c))?|\x1b[ -/]*[0-~]?/g;
/** Movements of the cursor: text before and after them is not one word. */
const MOVE = /^(?:\x1b\[|\x9b)[0-?]*[A-I`adef]$|^\x1b[DEM]$/;
// biome-ignore-end lint/suspicious/noControlCharactersInRegex: as above.

/** ESC; and CSI and OSC in one character. */
const STARTS = ["\u001b", "\u009b", "\u009d"];

/** The text without escapes; a space for those that move the cursor. */
export function withoutEscapes(text: string): string {
  if (!STARTS.some((start) => text.includes(start))) return text;
  return text.replace(ESCAPES, (found) => (MOVE.test(found) ? " " : ""));
}
