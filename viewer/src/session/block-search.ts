/** Block search: a search of its own for a long block; Enter goes to the next hit. */

import { groupDigits } from "../../../src/sessions/render/phrases.ts";
import { forgetMarks, mark, rangesIn } from "./mark-hits.ts";

const NAME = "block-hit";
const NAME_OF_HERE = "block-hit-here";
const LONG_LINES = 40;
const HITS_MAX = 2000;

/** Before `place`, which is before the block. */
export function addBlockSearch(block: HTMLElement, place: Element): void {
  const lines = (block.textContent ?? "").trimEnd().split("\n").length;
  if (lines <= LONG_LINES) return;
  const box = document.createElement("input");
  box.type = "search";
  box.placeholder = `Search in these ${groupDigits(lines)} lines`;
  box.setAttribute("aria-label", box.placeholder);
  const count = document.createElement("span");
  count.setAttribute("role", "status");
  const search = document.createElement("div");
  search.className = "block-search";
  search.append(box, count);
  place.before(search);

  let hits: readonly Range[] = [];
  let here = 0;
  const show = () => {
    mark(NAME, hits);
    mark(NAME_OF_HERE, hits.slice(here, here + 1));
    const all = `${groupDigits(hits.length)}${hits.length === HITS_MAX ? "+" : ""}`;
    count.textContent = hits.length === 0 ? "nothing found" : `${here + 1} of ${all}`;
    const hit = hits[here];
    if (hit) scrollTo(block, hit);
  };
  const clear = () => {
    forgetMarks(NAME);
    forgetMarks(NAME_OF_HERE);
    count.textContent = "";
  };
  box.addEventListener("input", () => {
    here = 0;
    hits = box.value === "" ? [] : rangesIn(block, [box.value.toLowerCase()], HITS_MAX, true);
    if (box.value === "") clear();
    else show();
  });
  box.addEventListener("keydown", (event) => {
    if (event.key !== "Enter" || hits.length === 0) return;
    here = (here + (event.shiftKey ? -1 : 1) + hits.length) % hits.length;
    show();
  });
  box.addEventListener("blur", clear);
}

/** To the middle of the block, and of the page if it is outside. */
function scrollTo(block: HTMLElement, range: Range): void {
  const offset = range.getBoundingClientRect().top - block.getBoundingClientRect().top;
  block.scrollTop += offset - block.clientHeight / 2;
  const { top, bottom } = range.getBoundingClientRect();
  if (top >= 0 && bottom <= innerHeight) return;
  const scroller = block.closest(".transcript");
  scroller?.scrollBy(0, top - innerHeight / 2);
}
