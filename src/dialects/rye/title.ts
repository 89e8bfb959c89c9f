/**
 * Title: Python's `str.title()`, which the markdown applies to roles.
 *
 * A cased character after a cased one becomes lower case, every other one title case. So an
 * apostrophe begins a word ("Don'T"), and so does a digit. Case data is the JavaScript engine's;
 * characters added to Unicode after a given Python version may differ from it.
 */

const CASED = /^\p{Cased}$/u;
const GEORGIAN = /^[\u10d0-\u10fa\u10fd-\u10ff]$/;
const GREEK_WITH_IOTA = /^[\u1f80-\u1fff]$/;
/** The letters that have a title case of their own, each after its two other forms. */
const DIGRAPHS = [
  "\u01c4\u01c6\u01c5",
  "\u01c7\u01c9\u01c8",
  "\u01ca\u01cc\u01cb",
  "\u01f1\u01f3\u01f2",
];

export function pythonTitle(text: string): string {
  // Lower case in context, for the Greek sigma at the end of a word.
  const lower = text.toLowerCase();
  let at = 0;
  let title = "";
  let isInWord = false;
  for (const character of text) {
    const length = character.toLowerCase().length;
    title += isInWord ? lower.slice(at, at + length) : titleCase(character);
    isInWord = CASED.test(character);
    at += length;
  }
  return title;
}

function titleCase(character: string): string {
  if (GEORGIAN.test(character)) return character;
  const digraph = DIGRAPHS.find((forms) => forms.includes(character));
  if (digraph) return digraph.charAt(2);
  const upper = character.toUpperCase();
  const [first = "", ...rest] = upper;
  // A single letter, or the one that becomes two of which the first is an apostrophe (ŉ).
  if (rest.length === 0 || character === "\u0149") return upper;
  if (GREEK_WITH_IOTA.test(character) && upper.endsWith("\u0399")) {
    // The iota stays below the letter instead of becoming a capital behind it.
    const below = `${upper.slice(0, -1)}\u0345`;
    return rest.length === 1 ? below.normalize("NFC") : below;
  }
  return first + rest.join("").toLowerCase();
}
