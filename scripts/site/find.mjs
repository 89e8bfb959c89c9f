/**
 * Find: the sections that answer a query, best first. The build writes it into search.js, so that
 * pages load it only when someone searches.
 *
 * A word counts more in a heading than in a title, and more there than in a text; a whole word more
 * than a part of one; a rare word more than a common one; a newcomer's page more than others.
 *
 * @typedef {readonly string[]} Section Its address, the page's title, its heading, its text.
 */

/** What a word counts in a page's title, a heading, a text. */
const WEIGHTS = [2, 5, 1];
/** Shorter words count little where others begin with them, and not inside: mac, machine. */
const PART_MIN = 4;
const NEWCOMERS = /^(?:index|faq|start\/|guides\/|usage|resume|redaction|server)/;
const DETAILS =
  /^(?:adding-|architecture|decisions\/|formats\/|http|performance|reference|torture|[A-Z_]+\.html)/;

/** Words of questions, left out of a query that has others. */
const SMALL = new Set(
  [
    "a an and any are be can did do does for from get getting has have how i in is it much my of on",
    "or should that the there this to use used was what when where which why with you your",
  ].flatMap((line) => line.split(" ")),
);

/**
 * What the pages call things for which people search by other words; by stems.
 *
 * @type {Readonly<Record<string, readonly string[]>>}
 */
const SAME = {
  data: ["session"],
  delet: ["eras"],
  hid: ["withh"],
  mac: ["macos"],
  password: ["key", "secret"],
  privacy: ["leav", "telemetry"],
  quickstart: ["start"],
  remov: ["delet", "eras", "redact"],
  python: ["languag"],
  secret: ["key", "redact"],
  spend: ["cost"],
  spent: ["cost"],
  transcript: ["session"],
  telemetry: ["leav"],
  tutorial: ["start"],
  upload: ["leav", "send"],
};

/**
 * The sections with all words of the query; if there is none, those with the most of them.
 *
 * @param {readonly Section[]} sections In the menu's order, which equally good ones keep.
 * @param {string} query
 */
export function find(sections, query) {
  const typed = wordsOf(query);
  const stems = typed.map((word) => word.replace(/(?<=\w{3})(?:ing|ed|es|e|s)$/, ""));
  const words = stems.map((stem) => [stem, ...(SAME[stem] ?? [])].map(pattern));
  const rows = sections.map((section) => {
    const [, title = "", heading = "", text = ""] = section.map((each) => each.toLowerCase());
    const parts = [title === heading ? "" : title, heading, text];
    const scores = words.map((patterns) => Math.max(...patterns.map((each) => score(parts, each))));
    return { section, heading, scores, count: scores.filter(Boolean).length };
  });
  const most = Math.max(1, ...rows.map(({ count }) => count));
  const rarity = words.map((_, at) => {
    return Math.log(1 + sections.length / rows.filter(({ scores }) => scores[at]).length);
  });
  const all = words.flat().map(({ stem }) => stem);
  return rows
    .filter(({ count }) => count === most)
    .map(({ section, heading, scores }) => {
      const sum = scores.reduce((all, each, at) => all + (each && each * (rarity[at] ?? 0)), 0);
      const isQuery = wordsOf(heading.replace(/^\d+\. | \(.*$/g, "")).join() === typed.join();
      return { section, stems: all, score: sum * pageWeight(section[0] ?? "") * (isQuery ? 2 : 1) };
    })
    .sort((a, b) => b.score - a.score);
}

/** @param {string} text */
function wordsOf(text) {
  const all = text
    .toLowerCase()
    .replace(/\bapi[ -]key/g, "key")
    .split(/[\s?,;:!"`()]+/)
    .filter(Boolean);
  const large = all.filter((word) => !SMALL.has(word));
  return large.length > 0 ? large : all;
}

/** @param {string} stem */
function pattern(stem) {
  const start = `(?<!\\w)${stem.replace(/[.*+?^${}()|[\]\\]/g, "\\$&")}`;
  return {
    stem,
    whole: new RegExp(`${start}(?:ing|ed|es|e|s)?(?!\\w)`),
    start: new RegExp(start),
  };
}

/**
 * @param {readonly string[]} parts
 * @param {ReturnType<typeof pattern>} word
 */
function score(parts, { stem, whole, start }) {
  const isShort = stem.length < PART_MIN;
  const scores = parts.map((text, at) => {
    if (!text.includes(stem)) return 0;
    const weight = WEIGHTS[at] ?? 0;
    if (whole.test(text)) return weight * 3;
    if (start.test(text)) return weight * (isShort ? 0.01 : 1.5);
    return isShort ? 0 : weight * 0.3;
  });
  return scores.reduce((sum, each) => sum + each, 0);
}

/** @param {string} address */
function pageWeight(address) {
  if (NEWCOMERS.test(address)) return 1.5;
  return DETAILS.test(address) ? 0.5 : 1;
}
