/**
 * File lines: the lines of files that a session has shown so far, to number the lines of edits.
 *
 * KF1  A number is never guessed: a text that is not in the known lines of its file, or is there
 *      more than once, has none. A file that was changed in an unknown place is forgotten.
 * KF2  Memory is bounded by CHARS_MAX; the file that was used least recently is forgotten first.
 */

import type { TextChange } from "./file-edits.ts";

export const CHARS_MAX = 2 * 1024 * 1024;
const PIECES_MAX = 16;

/** Consecutive lines of a file. */
interface Piece {
  /** The number of the first line. */
  first: number;
  text: string;
}

export class FileLines {
  readonly #files = new Map<string, Piece[]>();

  /** Lines that a tool has read. */
  read(file: string, first: number, text: string): void {
    const name = this.#nameOf(file) ?? file;
    const last = first + lineBreaks(text);
    const others = (this.#files.get(name) ?? []).filter((piece) => {
      return piece.first > last || piece.first + lineBreaks(piece.text) < first;
    });
    this.#keep(name, [...others.slice(-PIECES_MAX + 1), { first, text }]);
  }

  /** Makes changes, one after the other. Returns the first line of each; null: not known (KF1). */
  change(file: string, changes: readonly TextChange[]): (number | null)[] {
    const name = this.#nameOf(file) ?? file;
    let isKnown: boolean = true;
    const lineNumbers = changes.map((change) => {
      if (change.isWhole) {
        this.#keep(name, [{ first: 1, text: change.now }]);
        return 1;
      }
      const line = isKnown ? this.#replace(name, change) : null;
      isKnown = line !== null;
      return line;
    });
    if (!isKnown) this.#keep(name, []);
    return lineNumbers;
  }

  #replace(name: string, { old, now, isLines = false }: TextChange): number | null {
    const pieces = this.#files.get(name) ?? [];
    const places = pieces.flatMap((piece) => placesOf(old, piece.text, isLines, piece));
    const [place] = places;
    if (old === "" || place === undefined || places.length > 1) return null;
    const { piece, at } = place;
    const line = piece.first + lineBreaks(piece.text.slice(0, at));
    const [before, after] = [piece.text.slice(0, at), piece.text.slice(at + old.length)];
    // Without the lines' own end, a removed line would leave an empty one.
    const rest = isLines && now === "" ? after.replace(/^\n/, "") : after;
    const more = lineBreaks(before + now + rest) - lineBreaks(piece.text);
    for (const other of pieces) if (other.first > line) other.first += more;
    piece.text = before + now + rest;
    this.#keep(name, pieces);
    return line;
  }

  /** Something ran that may have changed any file. */
  forgetAll(): void {
    this.#files.clear();
  }

  /** A file may be named by its whole path once and by a part of it later; null: not known. */
  #nameOf(file: string): string | null {
    const short = file.replace(/^\.\//, "");
    if (this.#files.has(short)) return short;
    const alike = [...this.#files.keys()].filter((name) => {
      return name.endsWith(`/${short}`) || short.endsWith(`/${name}`);
    });
    return alike.length === 1 ? (alike[0] ?? null) : null;
  }

  /** KF2 */
  #keep(name: string, pieces: Piece[]): void {
    this.#files.delete(name);
    if (pieces.length > 0) this.#files.set(name, pieces);
    let chars = 0;
    for (const piece of this.#files.values()) chars += charsOf(piece);
    for (const [oldest, known] of this.#files) {
      if (chars <= CHARS_MAX) break;
      chars -= charsOf(known);
      this.#files.delete(oldest);
    }
  }
}

function charsOf(pieces: readonly Piece[]): number {
  return pieces.reduce((sum, { text }) => sum + text.length, 0);
}

/** Where a text is: two places are enough to know that it is not the only one. */
function placesOf(old: string, text: string, isLines: boolean, piece: Piece) {
  const [needle, hay] = isLines ? [`\n${old}\n`, `\n${text}\n`] : [old, text];
  const at = hay.indexOf(needle);
  if (at === -1) return [];
  const isTwice = hay.indexOf(needle, at + 1) !== -1;
  return isTwice
    ? [
        { piece, at },
        { piece, at },
      ]
    : [{ piece, at }];
}

function lineBreaks(text: string): number {
  let count = 0;
  for (let at = text.indexOf("\n"); at !== -1; at = text.indexOf("\n", at + 1)) count++;
  return count;
}

/** A line with its number, as tools print files: `  12→text`. */
const PRINTED = /^ *(\d{1,9})(?:→|\t|\| )/;
/** What tools say instead of lines that they leave out. */
const LEFT_OUT = /truncated|omitted|\d+ more lines/i;

/**
 * The lines in what a tool printed of a file: by their printed numbers, or else, where the tool is
 * known to print a file as it is, from `first` on.
 */
export function piecesIn(
  text: string,
  first: number,
  isPlain: boolean,
): { readonly first: number; readonly text: string }[] {
  const pieces: { first: number; lines: string[] }[] = [];
  for (const line of text.split("\n")) {
    const [mark = "", number] = PRINTED.exec(line) ?? [];
    if (number === undefined) continue;
    const last = pieces.at(-1);
    if (last && Number(number) === last.first + last.lines.length) {
      last.lines.push(line.slice(mark.length));
    } else pieces.push({ first: Number(number), lines: [line.slice(mark.length)] });
  }
  if (pieces.length > 0) {
    return pieces.map((piece) => ({ first: piece.first, text: piece.lines.join("\n") }));
  }
  return isPlain && !LEFT_OUT.test(text) ? [{ first, text: text.replace(/\n$/, "") }] : [];
}
