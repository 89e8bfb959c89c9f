/**
 * Searchable: the text of an entry that can be found, in its order.
 *
 * Messages and thinking; of tools the name, and every string of input and output. Terminal escapes
 * are removed: they would be parts of words.
 *
 * - Removing escapes takes linear time: what one match read and did not take has no start of another.
 * - At most SEARCHABLE_CHARS_MAX characters: text after them cannot be found. Values are walked
 *   without recursion: a line can be nested deeper than a stack.
 *
 * Words: splits a text like the full-text index does.
 *
 * The index does it itself (FTS5's unicode61, accents removed). It is repeated here where a
 * position in the text is needed, to mark hits. And unicode61 cannot split writing without spaces,
 * so that is split into characters before, to make its words searchable.
 *
 * - Text and query go through the same `spelt`, so that they are split alike.
 * - The output of `spelt` is well-formed and has no NUL, at which SQLite would end a text.
 */

import type { Entry, Part } from "../../core/model/entry.ts";

/** Scripts without spaces, such as Chinese characters and kana. */
const UNSPACED = "\\p{Script=Han}\\p{Script=Hiragana}\\p{Script=Katakana}";
const UNSPACED_ONE = new RegExp(`[${UNSPACED}]`, "gu");
/** A quick test: text without any of these needs no splitting. */
const MAYBE_UNSPACED = /[\u2e80-\u9fff\uf900-\ufaff\uff66-\uff9f\ud81b-\ud883]/;

const WORD = new RegExp(
  `[${UNSPACED}]|(?:(?![${UNSPACED}])[\\p{L}\\p{N}\\p{Co}])(?:(?![${UNSPACED}])[\\p{L}\\p{N}\\p{Co}\\p{M}])*`,
  "gu",
);

// biome-ignore lint/suspicious/noControlCharactersInRegex: it is what it looks for.
const NULS = /\u0000/g;

/** Per entry. A line may hold 16 MiB; a tool's longest output is seldom searched for. */
export const SEARCHABLE_CHARS_MAX = 65_536;

/** The texts of an entry as one, in lines. */
export function searchableText({ parts, error }: Entry): string {
  const texts = new Texts();
  for (const part of parts) {
    if (texts.isFull) break;
    addPart(texts, part);
  }
  if (error !== null) {
    texts.add(error.code);
    texts.add(error.detail);
  }
  return texts.text();
}

function addPart(texts: Texts, part: Part): void {
  switch (part.type) {
    case "text":
    case "reasoning":
      texts.add(part.text);
      break;
    case "tool_call":
      texts.add(part.tool);
      addStrings(texts, part.input);
      break;
    case "tool_result":
      texts.add(part.error ?? "");
      addStrings(texts, part.output);
      break;
    case "child":
      texts.add(part.session);
      texts.add(part.agent ?? "");
      break;
    case "image":
    case "file":
      for (const text of [part.name, part.path, part.url]) texts.add(text ?? "");
      break;
    case "other": // Kept and not understood: bytes in base64, as like as not.
      break;
  }
}

/** Every string in a value, in order. */
function addStrings(texts: Texts, value: unknown): void {
  const rest: unknown[] = [value];
  while (rest.length > 0 && !texts.isFull) {
    const next = rest.pop();
    if (typeof next === "string") texts.add(next);
    else if (typeof next === "object" && next !== null) {
      const inside = Object.values(next);
      for (let at = inside.length - 1; at >= 0; at--) rest.push(inside[at]);
    }
  }
}

class Texts {
  readonly #texts: string[] = [];
  #room = SEARCHABLE_CHARS_MAX;

  get isFull(): boolean {
    return this.#room <= 0;
  }

  add(text: string): void {
    if (this.isFull || text === "") return;
    this.#texts.push(withoutEscapes(text.slice(0, this.#room)));
    this.#room -= text.length + 1;
  }

  text(): string {
    return this.#texts.join("\n");
  }
}

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
  return text.replace(ESCAPES, (sequence) => (MOVE.test(sequence) ? " " : ""));
}

/** A word of a text, and its position. */
export interface PlacedWord {
  /** Without case and accents. */
  readonly word: string;
  readonly start: number;
  readonly end: number;
}

/** A text as the index gets it. */
export function spelt(text: string): string {
  const clean = text.toWellFormed().replace(NULS, " ");
  return MAYBE_UNSPACED.test(clean) ? clean.replace(UNSPACED_ONE, " $& ") : clean;
}

export function* wordsOf(text: string): Generator<PlacedWord> {
  for (const { 0: found, index } of text.matchAll(WORD)) {
    yield { word: folded(found), start: index, end: index + found.length };
  }
}

/** Only non-ASCII needs folding. */
function folded(word: string): string {
  const lower = word.toLowerCase();
  // biome-ignore lint/suspicious/noControlCharactersInRegex: all of ASCII.
  if (/^[\u0000-\u007f]*$/.test(lower)) return lower;
  return lower.normalize("NFD").replace(/\p{M}/gu, "").normalize("NFC");
}
