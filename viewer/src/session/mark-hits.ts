/**
 * Mark hits: colours the searched words without touching the page's elements (CSS custom
 * highlights; where a browser has none, the entry itself is marked).
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
  const ranges: Range[] = [];
  const walker = document.createTreeWalker(entries, NodeFilter.SHOW_TEXT);
  for (let node = walker.nextNode(); node !== null; node = walker.nextNode()) {
    const text = (node.textContent ?? "").toLowerCase();
    for (const word of words) {
      for (
        let from = text.indexOf(word);
        from >= 0;
        from = text.indexOf(word, from + word.length)
      ) {
        if (ranges.length === MARKS_MAX) break;
        ranges.push(rangeOf(node, from, from + word.length));
      }
    }
  }
  for (const { startContainer } of ranges) unfold(startContainer, at);
  if ("highlights" in CSS) CSS.highlights.set(NAME, new Highlight(...ranges));
}

export function forgetHits(): void {
  if ("highlights" in CSS) CSS.highlights.delete(NAME);
}

function rangeOf(node: Node, from: number, to: number): Range {
  const range = new Range();
  const length = node.textContent?.length ?? 0;
  range.setStart(node, Math.min(from, length)); // Lower case may be longer.
  range.setEnd(node, Math.min(to, length));
  return range;
}

function unfold(node: Node, at: number | null): void {
  const row = node.parentElement?.closest<HTMLElement>(".entries > .row");
  const { start, also = "" } = row?.dataset ?? {};
  if (!row || (start !== String(at) && !also.split(" ").includes(String(at)))) return;
  for (
    let details = node.parentElement?.closest("details");
    details && row.contains(details);
    details = details.parentElement?.closest("details")
  ) {
    if (!details.matches(".source:not(.said)")) details.open = true; // JSON repeats what is shown.
  }
}
