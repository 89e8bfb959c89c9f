/**
 * Mark finds: colours what `scan` found in the rows of the page, with its rule as their title. Marks
 * again whenever rows, or what is inside them, come and go.
 */

import { forgetMarks, mark, rangesIn, unfold } from "./mark-hits.ts";
import type { SessionFinds } from "./session-finds.ts";

const NAME = "find";
const MARKS_MAX = 2000;

interface Mark {
  readonly range: Range;
  readonly rule: string;
}

/** `at`: the entry to unfold. Returns how to end it. */
export function keepMarked(finds: SessionFinds, at: number | null): () => void {
  const entries = document.querySelector<HTMLElement>(".entries");
  if (entries === null) return () => {};
  let marks: readonly Mark[] = [];
  let frame = 0;
  let isUnfolded = false;
  const markAll = () => {
    marks = marksIn(entries, finds);
    mark(
      NAME,
      marks.map(({ range }) => range),
    );
    // Only once: the reader may fold it again.
    if (!isUnfolded) for (const { range } of marks) isUnfolded ||= unfold(range.startContainer, at);
  };
  const soon = () => {
    cancelAnimationFrame(frame);
    frame = requestAnimationFrame(markAll);
  };
  const onMove = ({ clientX, clientY }: PointerEvent) => {
    const place = document.caretPositionFromPoint?.(clientX, clientY);
    const here = place && marks.find(({ range }) => isIn(range, place));
    entries.title = here ? `scan: ${here.rule}` : "";
  };
  const observer = new MutationObserver(soon);
  observer.observe(entries, { childList: true, subtree: true, characterData: true });
  entries.addEventListener("pointermove", onMove);
  soon();
  return () => {
    observer.disconnect();
    cancelAnimationFrame(frame);
    entries.removeEventListener("pointermove", onMove);
    entries.title = "";
    forgetMarks(NAME);
  };
}

function marksIn(entries: HTMLElement, finds: SessionFinds): Mark[] {
  const marks: Mark[] = [];
  for (const row of entries.querySelectorAll<HTMLElement>(":scope > .row")) {
    const { start, also = "" } = row.dataset;
    const starts = [start, ...also.split(" ").filter(Boolean)].map(Number);
    const rules = new Map(finds.at(starts).map(({ text, rule }) => [text ?? "", rule]));
    for (const [text, rule] of rules) {
      if (text === "") continue;
      const room = MARKS_MAX - marks.length;
      for (const range of rangesIn(row, [text], room, false)) marks.push({ range, rule });
    }
  }
  return marks;
}

function isIn(range: Range, { offsetNode, offset }: CaretPosition): boolean {
  return offsetNode === range.startContainer && range.isPointInRange(offsetNode, offset);
}
