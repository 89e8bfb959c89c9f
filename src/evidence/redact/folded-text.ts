/**
 * Folded text: a text in the form in which two spellings of the same words are equal, and where
 * each character of it was before.
 *
 * Equal are: all Unicode forms (NFC, NFD, NFKC, NFKD), upper and lower case, any run of white space
 * with any other (no-break spaces, line breaks), and texts that differ only in characters that are
 * not visible (soft hyphens, zero-width characters).
 *
 * A folded text can be longer or shorter than the original. Characters that fold together (a letter
 * with its accents, a ligature) belong together: a range of folded text means all of them.
 */

const IGNORABLE = /\p{Default_Ignorable_Code_Point}+/gu;
/** Marks, also the two half-width ones, which fold to marks; and what is not visible. */
const MARK = "\\p{M}\\uff9e\\uff9f\\p{Default_Ignorable_Code_Point}";
/** A character with the marks that belong to it. */
const UNIT = new RegExp(`[^${MARK}][${MARK}]*|[${MARK}]+`, "gu");
const SPACE = /[\s\x85]/;
const SPACES = /[\s\x85]+/g;
/** Needs no decomposition; most of what is folded. */
const ASCII = /^[\0-\x7f]*$/;
const NO_WORD = /[^\p{L}\p{N}]+/gu;

export function foldText(text: string): string {
  return caseless(text).replace(SPACES, " ");
}

/** Only letters and digits, without accents: of this form are also near misses. */
export function lettersOf(foldedText: string): string {
  return foldedText.replace(NO_WORD, "");
}

/** Decomposed, so that the parts of a text, folded and joined, are the folded text. */
function caseless(text: string): string {
  if (ASCII.test(text)) return text.toLowerCase();
  const bare = text.replace(IGNORABLE, "").normalize("NFKD");
  // ß and ẞ are SS in upper case. A sigma has another form at the end of a word.
  const lower = bare.toLowerCase().toUpperCase().toLowerCase();
  return lower.normalize("NFKD").replaceAll("ς", "σ");
}

/** `text` is `folded(original)`, with the place of each character. */
export class FoldedText {
  readonly text: string;
  readonly #starts: number[] = [];
  readonly #ends: number[] = [];

  constructor(original: string) {
    const pieces: string[] = [];
    for (const { 0: unit, index } of original.matchAll(UNIT)) {
      const end = index + unit.length;
      for (const char of caseless(unit).split("")) this.#add(pieces, char, index, end);
    }
    this.text = pieces.join("");
  }

  /** The range of the original that folds to these characters. */
  rangeOf(at: number, length: number): { readonly from: number; readonly to: number } {
    return { from: this.#starts[at] ?? 0, to: this.#ends[at + length - 1] ?? 0 };
  }

  #add(pieces: string[], char: string, start: number, end: number): void {
    const isSpace = SPACE.test(char);
    if (isSpace && pieces.at(-1) === " ") {
      this.#ends[pieces.length - 1] = end;
      return;
    }
    pieces.push(isSpace ? " " : char);
    this.#starts.push(start);
    this.#ends.push(end);
  }
}
