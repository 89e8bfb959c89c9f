/**
 * Mark hits: colours the searched words without touching the page's elements (CSS custom
 * highlights; where a browser has none, the entry itself is marked). Also what other marks need.
 */

import type { SearchHit } from "../../../src/client/search-shapes.ts";

const NAME = "hit";
const MARKS_MAX = 2000;

/** The words found, in lower case. */
export function wordsOf(hits: readonly SearchHit[]): string[] {
  const words = hits.flatMap(({ snippet }) => {
    return snippet.filter(({ isHit }) => isHit).map(({ text }) => text.toLowerCase());
  });
  return [...new Set(words)].filter((word) => word.trim() !== "");
}

/** Marks the words in the whole page; unfolds what hides them in the opened entry. */
export function markHits(words: readonly string[], at: number | null): void {
  forgetHits();
  const entries = document.querySelector(".entries");
  if (words.length === 0 || entries === null) return;
  const ranges = rangesIn(entries, words, MARKS_MAX, true);
  for (const { startContainer } of ranges) unfold(startContainer, at);
  mark(NAME, ranges);
}

export function forgetHits(): void {
  forgetMarks(NAME);
}

/** Replaces the marks of this name. */
export function mark(name: string, ranges: readonly Range[]): void {
  if ("highlights" in CSS) CSS.highlights.set(name, new Highlight(...ranges));
}

export function forgetMarks(name: string): void {
  if ("highlights" in CSS) CSS.highlights.delete(name);
}

/** Where the words are in the texts of an element. */
export function rangesIn(
  element: Element,
  words: readonly string[],
  max: number,
  isCaseless: boolean,
): Range[] {
  const ranges: Range[] = [];
  const walker = document.createTreeWalker(element, NodeFilter.SHOW_TEXT);
  for (let node = walker.nextNode(); node !== null; node = walker.nextNode()) {
    const said = node.textContent ?? "";
    const text = isCaseless ? said.toLowerCase() : said;
    for (const word of words) {
      for (
        let from = text.indexOf(word);
        from >= 0;
        from = text.indexOf(word, from + word.length)
      ) {
        if (ranges.length >= max) return ranges;
        ranges.push(rangeOf(node, from, from + word.length));
      }
    }
  }
  return ranges;
}

function rangeOf(node: Node, from: number, to: number): Range {
  const range = new Range();
  const length = node.textContent?.length ?? 0;
  range.setStart(node, Math.min(from, length)); // Lower case may be longer.
  range.setEnd(node, Math.min(to, length));
  return range;
}

/** Unfolds what hides a text of the entry at an offset; returns whether it is of that one. */
export function unfold(node: Node, at: number | null): boolean {
  const row = node.parentElement?.closest<HTMLElement>(".entries > .row");
  const { start, also = "" } = row?.dataset ?? {};
  if (!row || (start !== String(at) && !also.split(" ").includes(String(at)))) return false;
  for (
    let details = node.parentElement?.closest("details");
    details && row.contains(details);
    details = details.parentElement?.closest("details")
  ) {
    if (!details.matches(".source:not(.said)")) details.open = true; // JSON repeats what is shown.
  }
  return true;
}
