/**
 * Paint: text for a terminal, harmless and in colours.
 *
 * PT1  All that is printed has passed `safeText`, but for our own SGR codes: colours and weights.
 * PT2  Each line is painted by itself, so that a pager may begin anywhere.
 * PT3  No text has its background's colour.
 */

import { isTerminalText, outputRuns, plainTerminal, type TextRun } from "./program-output.ts";
import { safeText } from "./text.ts";

export const LOOKS = {
  speaker: "1;36",
  verb: "1;33",
  strong: "1",
  faint: "2",
  failed: "31",
  gone: "31",
  new: "32",
  same: "",
  place: "36",
} as const;

export type Look = keyof typeof LOOKS;

const MARKS = { bold: 1, faint: 2, italic: 3, underline: 4, inverse: 7, struck: 9 } as const;

export class Paint {
  readonly #hasColour: boolean;

  constructor(hasColour: boolean) {
    this.#hasColour = hasColour;
  }

  /** Text of a transcript in a look of ours. */
  text(text: string, look: Look = "same"): string {
    return this.#painted(text, LOOKS[look]);
  }

  /** What a program printed, in its own colours. */
  output(given: string): string {
    const text = given.replaceAll("\r\n", "\n");
    if (!isTerminalText(text)) return safeText(text);
    const runs = this.#hasColour ? outputRuns(text) : null;
    if (runs === null) return safeText(plainTerminal(text));
    return runs.map((run) => this.#painted(run.text, codesOf(run))).join("");
  }

  #painted(text: string, codes: string): string {
    const safe = safeText(text); // PT1
    if (!this.#hasColour || codes === "") return safe;
    return safe.replace(/[^\n]+/g, (line) => `\u001b[${codes}m${line}\u001b[0m`); // PT2
  }
}

function codesOf({ marks, front, back }: TextRun): string {
  const isReadable = front !== back; // PT3
  const colours = [
    front === null || !isReadable ? [] : [front < 8 ? 30 + front : 82 + front],
    back === null || !isReadable ? [] : [back < 8 ? 40 + back : 92 + back],
  ];
  return [...marks.map((mark) => MARKS[mark]), ...colours.flat()].join(";");
}
