/**
 * Safe text: makes a transcript harmless on a terminal, or in a pipe that ends at one.
 *
 * A model or a tool can print escape codes that clear the screen, retitle the window, fill the
 * clipboard or hide the text before them, and bidirectional overrides that make one text look like
 * another. All of these become visible: ESC is shown as `\u001b`.
 *
 * SX1  The output has no C0 or C1 control but LF and tab, and no bidirectional control.
 * SX2  The escapes are JSON's, so that an escaped line of JSON is the same JSON.
 */

/** C0 but for tab and LF, DEL and C1, line and paragraph separators, bidirectional controls. */
// biome-ignore lint/suspicious/noControlCharactersInRegex: control characters are what it looks for.
const UNSAFE = /[\u0000-\u0008\u000b-\u001f\u007f-\u009f\u2028-\u202e\u2066-\u2069]/g;
const LINE_BREAKING = /[\t\n]/g;

/** Text of many lines: LF and tab stay. */
export function safeText(text: string): string {
  return text.replace(UNSAFE, escaped);
}

/** For text that must stay on one line, such as a name: LF and tab are escaped too. */
export function safeLine(text: string): string {
  return safeText(text).replace(LINE_BREAKING, escaped);
}

function escaped(character: string): string {
  return `\\u${character.charCodeAt(0).toString(16).padStart(4, "0")}`;
}
