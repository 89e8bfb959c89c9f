/**
 * Words: a text taken apart as the full-text index takes it apart.
 *
 * The index does it by itself (FTS5's unicode61, accents removed). Here it is done again where a
 * place in the text is wanted, to mark what was found; and what unicode61 cannot do is done before
 * it: writing without spaces is spelt character by character, so that its words can be found.
 *
 * WO1  Text and query go through the same `spelt`, so that they are taken apart alike.
 * WO2  What comes out of `spelt` is well-formed and holds no NUL, at which SQLite would end a text.
 */

/** Chinese characters, kana and the like, of which a run is no word. */
const UNSPACED = "\\p{Script=Han}\\p{Script=Hiragana}\\p{Script=Katakana}";
const UNSPACED_ONE = new RegExp(`[${UNSPACED}]`, "gu");
/** What they lie among: without any of these, which is quick to see, there is nothing to spell. */
const MAYBE_UNSPACED = /[\u2e80-\u9fff\uf900-\ufaff\uff66-\uff9f\ud81b-\ud883]/;
const WORD = new RegExp(
  `[${UNSPACED}]|(?:(?![${UNSPACED}])[\\p{L}\\p{N}\\p{Co}])(?:(?![${UNSPACED}])[\\p{L}\\p{N}\\p{Co}\\p{M}])*`,
  "gu",
);
// biome-ignore lint/suspicious/noControlCharactersInRegex: it is what it looks for.
const NULS = /\u0000/g;

/** A word of a text, and where it stands in it. */
export interface PlacedWord {
  /** Without case and accents. */
  readonly word: string;
  readonly start: number;
  readonly end: number;
}

/** A text as the index is to see it. */
export function spelt(text: string): string {
  const clean = text.toWellFormed().replace(NULS, " ");
  return MAYBE_UNSPACED.test(clean) ? clean.replace(UNSPACED_ONE, " $& ") : clean;
}

export function* wordsOf(text: string): Generator<PlacedWord> {
  for (const { 0: found, index } of text.matchAll(WORD)) {
    yield { word: folded(found), start: index, end: index + found.length };
  }
}

/** Only what is not plain is worth taking apart. */
function folded(word: string): string {
  const lower = word.toLowerCase();
  // biome-ignore lint/suspicious/noControlCharactersInRegex: all of ASCII.
  if (/^[\u0000-\u007f]*$/.test(lower)) return lower;
  return lower.normalize("NFD").replace(/\p{M}/gu, "").normalize("NFC");
}
