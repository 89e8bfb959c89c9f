/**
 * Scrolling: how many frames a page drops while it is scrolled at a fixed speed on a slow processor,
 * against a static page: a copy of the viewer's elements and styles without scripts and requests.
 * A third page is that copy with the least that a list of unlimited length must do: it moves rows
 * from one end to the other, as new elements. All take turns, and are scrolled equally long.
 *
 * A frame is dropped if the next one comes late: a gap of 50 ms drops two frames of 16.7.
 */

import { PAGE_ENTRIES } from "../../viewer/src/session/entry-window.ts";
import { Browser, type BrowserPage } from "./browser.ts";
import { openedPage, untilQuiet } from "./opening.ts";
import type { Served } from "./served.ts";

export interface Scrolled {
  /** Parts of all frames, from 0 to 1. */
  readonly ourDropped: number;
  readonly staticDropped: number;
  readonly leastDropped: number;
  /** Pixels per second that the viewer was scrolled by: fewer than asked for if it had to wait. */
  readonly speed: number;
  readonly nodes: number;
  readonly staticNodes: number;
}

const PX_PER_S = 3_000;
const SLICE_MS = 4_000;
const CPU_RATE = 4;

interface Slice {
  readonly frames: number;
  readonly dropped: number;
  readonly px: number;
  readonly ms: number;
  readonly isAtEnd: boolean;
}

/** Scrolls for a slice, down; at the end of a page that has no more, up again. */
const SCROLL = `(() => {
  const [frameMs, scroller] = [1000 / 60, document.querySelector(".transcript")];
  const slice = { frames: 0, dropped: 0, px: 0, ms: 0, isAtEnd: false };
  const hasMore = () => document.querySelector(".entries + .edge") !== null;
  return new Promise((resolve) => {
    let last = null;
    const step = (now) => {
      if (last !== null) {
        const gap = now - last;
        const late = Math.max(0, Math.round(gap / frameMs) - 1);
        slice.frames += 1 + late;
        slice.dropped += late;
        slice.ms += gap;
        const before = scroller.scrollTop;
        scroller.scrollTop += (window.direction ?? 1) * ${PX_PER_S} * Math.min(gap, 100) / 1000;
        const px = Math.abs(scroller.scrollTop - before);
        slice.px += px;
        window.moveRows?.(scroller);
        if (px < 1 && window.isStatic) window.direction = -(window.direction ?? 1);
        slice.isAtEnd = px < 1 && !hasMore();
      }
      last = now;
      if (slice.ms >= ${SLICE_MS} || (slice.isAtEnd && !window.isStatic)) resolve(slice);
      else requestAnimationFrame(step);
    };
    requestAnimationFrame(step);
  });
})()`;

/**
 * The least list: near its end, makes the first rows again after the last ones, as many as the
 * viewer loads at once, and keeps the reader's place.
 */
const LEAST = `(() => {
  const entries = document.querySelector(".entries");
  window.moveRows = (scroller) => {
    if (scroller.scrollHeight - scroller.scrollTop - scroller.clientHeight > 800) return;
    const rows = [...entries.children].slice(0, ${PAGE_ENTRIES});
    const text = rows.map((row) => row.outerHTML).join("");
    const anchor = entries.children[${PAGE_ENTRIES}];
    const top = anchor.getBoundingClientRect().top;
    for (const row of rows) row.remove();
    entries.insertAdjacentHTML("beforeend", text);
    scroller.scrollTop += anchor.getBoundingClientRect().top - top;
  };
})()`;

const ROWS = `document.querySelectorAll(".entries .row").length`;
/** The viewer holds about as many (viewer/src/session/entry-window.ts). */
const FULL_ROWS = 300;

const TO_START = `document.dispatchEvent(new KeyboardEvent("keydown", { key: "g", bubbles: true }))`;

const NODES = `document.querySelectorAll("*").length`;

/** The page as it is now, without its scripts. */
const COPY = `(() => {
  const sheets = [...document.styleSheets, ...document.adoptedStyleSheets];
  const rules = sheets.flatMap(({ cssRules }) => [...cssRules].map(({ cssText }) => cssText));
  const copy = document.documentElement.cloneNode(true);
  for (const one of copy.querySelectorAll("script, link")) one.remove();
  const style = document.createElement("style");
  style.textContent = rules.join("\\n");
  copy.querySelector("head").append(style);
  return "<!doctype html>" + copy.outerHTML;
})()`;

/** Scrolls a session from its start to its end, or through `slicesMax` slices of it. */
export async function scroll(served: Served, name: string, slicesMax: number): Promise<Scrolled> {
  const browser = Browser.launch();
  try {
    const viewer = await openedPage(browser, served, name);
    await untilQuiet(viewer);
    await viewer.evaluate(TO_START);
    await viewer.until(`document.querySelector(".transcript").textContent.startsWith("The start")`);
    // Not measured: it fills the window of loaded entries, which the static page has as well.
    for (let rows = 0; rows < FULL_ROWS; rows = await viewer.evaluate<number>(ROWS)) {
      await viewer.evaluate<Slice>(SCROLL);
    }
    const html = await viewer.evaluate<string>(COPY);
    const copied = await staticPage(browser, html);
    const least = await staticPage(browser, html);
    await least.evaluate(LEAST);
    for (const page of [viewer, copied, least]) {
      await page.call("Emulation.setCPUThrottlingRate", { rate: CPU_RATE });
    }
    const [ours, others, leasts]: [Slice[], Slice[], Slice[]] = [[], [], []];
    while (ours.length < slicesMax && ours.at(-1)?.isAtEnd !== true) {
      ours.push(await viewer.evaluate<Slice>(SCROLL));
      others.push(await copied.evaluate<Slice>(SCROLL));
      leasts.push(await least.evaluate<Slice>(SCROLL));
    }
    return {
      ourDropped: sum(ours, "dropped") / sum(ours, "frames"),
      staticDropped: sum(others, "dropped") / sum(others, "frames"),
      leastDropped: sum(leasts, "dropped") / sum(leasts, "frames"),
      speed: (1000 * sum(ours, "px")) / sum(ours, "ms"),
      nodes: await viewer.evaluate<number>(NODES),
      staticNodes: await copied.evaluate<number>(NODES),
    };
  } finally {
    await browser.close();
  }
}

async function staticPage(browser: Browser, html: string): Promise<BrowserPage> {
  const page = await browser.newPage("window.isStatic = true");
  const { frameTree } = await page.call("Page.getFrameTree");
  const { id } = (frameTree as { frame: { id: string } }).frame;
  await page.call("Page.setDocumentContent", { frameId: id, html });
  await page.evaluate("window.isStatic = true");
  return page;
}

function sum(slices: readonly Slice[], name: "frames" | "dropped" | "px" | "ms"): number {
  return slices.reduce((all, slice) => all + slice[name], 0);
}
