/**
 * Ansi HTML: what a program printed on a terminal, in its colours.
 *
 * AN1  Colours and weights are classes from a fixed set; nothing of the text is in an attribute.
 */

import { outputRuns, plainTerminal, type TextRun } from "../program-output.ts";
import { type Html, html } from "./markup.ts";
import { piecesHtml, textPieces } from "./text-pieces.ts";

const NAMES = ["black", "red", "green", "yellow", "blue", "magenta", "cyan", "white"] as const;

/** The text in its colours, to be put between two tags. */
export function terminalHtml(text: string): Html {
  const plain = plainTerminal(text);
  if (textPieces(plain).length > 1) return piecesHtml(plain);
  const runs = outputRuns(text);
  return runs === null ? html`${plain}` : html`${runs.map(runHtml)}`;
}

function runHtml(run: TextRun): Html {
  const classes = classesOf(run);
  return classes === "" ? html`${run.text}` : html`<span class="${classes}">${run.text}</span>`;
}

/** AN1 */
function classesOf({ marks, front, back }: TextRun): string {
  const colours = [
    front === null ? [] : [`front-${nameOf(front)}`],
    back === null ? [] : [`back-${nameOf(back)}`],
  ];
  return [...marks, ...colours.flat()].join(" ");
}

function nameOf(colour: number): string {
  return `${colour >= 8 ? "bright-" : ""}${NAMES[colour % 8]}`;
}
