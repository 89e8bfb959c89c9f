/**
 * Words: splits a text like the full-text index does.
 *
 * The index does it itself (FTS5's unicode61, accents removed). It is repeated here where a
 * position in the text is needed, to mark hits. And unicode61 cannot split writing without spaces,
 * so that is split into characters before, to make its words searchable.
 *
 * - Text and query go through the same `spelt`, so that they are split alike.
 * - The output of `spelt` is well-formed and has no NUL, at which SQLite would end a text.
 */

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
