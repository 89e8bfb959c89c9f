/**
 * Program output: what a program printed on a terminal, as runs of text in one look each.
 *
 * PO1  Every other escape is dropped: movements of the cursor, titles, links, queries. None is printed.
 * PO2  A line that was written over (CR, a progress bar) is shown in its last state.
 * - A look is colours and weights from a fixed set; nothing of the text is in it.
 * - The work is bounded: a text with more than RUNS_MAX changes of colour is shown without any.
 */

export const RUNS_MAX = 20_000;

/** Text in one look. */
export interface TextRun {
  readonly text: string;
  readonly marks: readonly Mark[];
  /** Numbers of the sixteen colours; null for the terminal's own. */
  readonly front: number | null;
  readonly back: number | null;
}

/** Escapes by their shapes: with parameters (CSI), with a text (OSC, DCS …), and of two letters. */
const ESCAPE = new RegExp(
  [
    "(?:\\u001b\\[|\\u009b)([0-?]{0,200})[ -/]{0,10}([@-~])",
    "(?:\\u001b[\\]PX^_]|[\\u009d\\u0090\\u0098\\u009e\\u009f])[^\\u0007\\u001b\\u009c\\n]{0,4096}(?:\\u0007|\\u001b\\\\|\\u009c)?",
    "\\u001b[ -/]{0,10}[0-~]?",
    "[\\u0080-\\u009f]",
  ].join("|"),
  "g",
);
// biome-ignore lint/suspicious/noControlCharactersInRegex: control characters are what it looks for.
const ACTS = /[\u001b\u0080-\u009f\b]|\r(?!\n)/;

/** Whether a text has something that only a terminal understands. */
export function isTerminalText(text: string): boolean {
  return ACTS.test(text);
}

/** The text alone, in its last state. */
export function plainTerminal(text: string): string {
  if (!isTerminalText(text)) return text;
  return lastState(text).replace(ESCAPE, "");
}

/** The text in its last state as runs; null when there are too many. */
export function outputRuns(text: string): TextRun[] | null {
  const state = lastState(text);
  const runs: TextRun[] = [];
  const look = new Look();
  const push = (piece: string) => {
    if (piece !== "") runs.push({ text: piece, ...look.now() });
  };
  let from = 0;
  for (const sequence of state.matchAll(ESCAPE)) {
    if (runs.length >= RUNS_MAX) return null;
    push(state.slice(from, sequence.index));
    from = sequence.index + sequence[0].length;
    if (sequence[2] === "m") look.apply(sequence[1] ?? "");
  }
  push(state.slice(from));
  return runs;
}

/** PO2. A letter that was struck over is replaced; colours of what was written over stay. */
function lastState(text: string): string {
  const lines = text.replaceAll("\r\n", "\n").split("\n");
  return lines.map((line) => withoutBackspaces(overwritten(line))).join("\n");
}

function overwritten(line: string): string {
  if (!line.includes("\r")) return line;
  const states = line.split("\r");
  while (states.length > 1 && (states.at(-1) ?? "").replace(ESCAPE, "") === "") states.pop();
  const last = states.pop() ?? "";
  return `${looksIn(states.join(""))}${last}`;
}

const LOOKS_MAX = 10;

/** The last changes of the look in a text: in front of what follows it, that keeps its colours. */
export function looksIn(text: string): string {
  const escapes = isTerminalText(text) ? (text.match(ESCAPE) ?? []) : [];
  return escapes
    .filter((each) => each.endsWith("m"))
    .slice(-LOOKS_MAX)
    .join("");
}

function withoutBackspaces(line: string): string {
  if (!line.includes("\b")) return line;
  const lines: string[] = [];
  for (const character of line) {
    if (character === "\b") lines.pop();
    else lines.push(character);
  }
  return lines.join("");
}

export type Mark = "bold" | "faint" | "italic" | "underline" | "inverse" | "struck";

const MARKS: Readonly<Record<number, Mark>> = {
  1: "bold",
  2: "faint",
  3: "italic",
  4: "underline",
  7: "inverse",
  9: "struck",
};
const ENDS: Readonly<Record<number, readonly Mark[]>> = {
  22: ["bold", "faint"],
  23: ["italic"],
  24: ["underline"],
  27: ["inverse"],
  29: ["struck"],
};

/** The look that is set at a place (SGR). */
class Look {
  readonly #marks = new Set<Mark>();
  /** Numbers of the sixteen colours. */
  #front: number | null = null;
  #back: number | null = null;

  apply(parameters: string): void {
    if (/[<=>?]/.test(parameters)) return; // A program's own, not a look.
    const codes = parameters.split(/[;:]/).map((code) => (code === "" ? 0 : Number(code)));
    for (let at = 0; at < codes.length; at++) {
      const code = codes[at] ?? 0;
      if (code !== 38 && code !== 48) {
        this.#set(code);
        continue;
      }
      const [colour, length] = colourIn(codes.slice(at + 1, at + 5));
      if (code === 38) this.#front = colour;
      else this.#back = colour;
      at += length;
    }
  }

  #set(code: number): void {
    const mark = MARKS[code];
    if (code === 0) this.#reset();
    else if (mark !== undefined) this.#marks.add(mark);
    else if (code >= 30 && code <= 37) this.#front = code - 30;
    else if (code >= 90 && code <= 97) this.#front = code - 90 + 8;
    else if (code >= 40 && code <= 47) this.#back = code - 40;
    else if (code >= 100 && code <= 107) this.#back = code - 100 + 8;
    else if (code === 39) this.#front = null;
    else if (code === 49) this.#back = null;
    else for (const end of ENDS[code] ?? []) this.#marks.delete(end);
  }

  #reset(): void {
    this.#marks.clear();
    this.#front = null;
    this.#back = null;
  }

  now(): Omit<TextRun, "text"> {
    return { marks: [...this.#marks], front: this.#front, back: this.#back };
  }
}

/** One of 256 colours, or red, green and blue, as the nearest of the sixteen; and its length. */
function colourIn([kind, ...values]: readonly number[]): [number | null, number] {
  if (kind === 2) return [nearest(values[0] ?? 0, values[1] ?? 0, values[2] ?? 0), 4];
  if (kind !== 5) return [null, 1];
  const colour = values[0] ?? 0;
  if (!(colour >= 0 && colour <= 255)) return [null, 2];
  if (colour < 16) return [colour, 2];
  if (colour >= 232) {
    const grey = (colour - 232) * 10 + 8;
    return [nearest(grey, grey, grey), 2];
  }
  const step = (part: number) => Math.round(((Math.floor((colour - 16) / part) % 6) * 255) / 5);
  return [nearest(step(36), step(6), step(1)), 2];
}

function nearest(red: number, green: number, blue: number): number {
  const most = Math.max(red, green, blue);
  const least = Math.min(red, green, blue);
  if (most < 64) return 0;
  if (most - least < 48) return most > 200 ? 15 : most > 140 ? 7 : 8; // Grey.
  const isOn = (part: number) => part > (most + least) / 2;
  const hue = (isOn(red) ? 1 : 0) + (isOn(green) ? 2 : 0) + (isOn(blue) ? 4 : 0);
  return most > 200 ? hue + 8 : hue;
}
