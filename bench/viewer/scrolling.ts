/**
 * Scrolling: how many frames the viewer drops on a slow processor, against the least that a list of
 * unlimited length must do: a copy of the viewer's elements and styles without scripts and requests,
 * which moves rows from one end to the other as new elements, as many as the viewer loads at once.
 *
 * A frame is dropped if the main thread needs more processor time for the one before than a frame has
 * on a processor that is SLOWNESS times slower than this one. Processor time says nothing of other
 * work on this machine. All pages take turns, slice by slice, from the same place and equally far.
 */

import { PAGE_ENTRIES } from "../../viewer/src/session/entry-window.ts";
import { Browser, type BrowserPage } from "./browser.ts";
import { openedPage, untilQuiet } from "./opening.ts";
import type { Served } from "./served.ts";

/** What scrolling a page took. */
export interface Scrolled {
  readonly frames: number;
  readonly dropped: number;
  readonly processorMs: number;
}

export type Pages = Readonly<Record<"viewer" | "least" | "still", Scrolled>>;

const FRAME_MS = 1000 / 60;
const SLOWNESS = 4;
/** 3,000 pixels per second. */
const STEP_PX = 50;
const SLICE_FRAMES = 120;

const PLACE = `document.querySelector(".transcript").scrollTop`;
const LEAP = `${PLACE} += 2000`;

/** Scrolls by a step, and resolves to how far when the frame is drawn. */
const STEP = `(() => {
  const scroller = document.querySelector(".transcript");
  const before = scroller.scrollTop;
  scroller.scrollTop += ${STEP_PX} * (window.direction ?? 1);
  const px = Math.abs(scroller.scrollTop - before);
  if (window.isStill && px < 1) window.direction = -(window.direction ?? 1);
  window.moveRows?.(scroller);
  return new Promise((resolve) => requestAnimationFrame(() => setTimeout(() => resolve(px))));
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

/** Scrolls `slices` slices of a session, from near its start. */
export async function scroll(served: Served, name: string, slices: number): Promise<Pages> {
  const browser = Browser.launch();
  try {
    const viewer = await openedPage(browser, served, name);
    await untilQuiet(viewer);
    await viewer.evaluate(TO_START);
    await viewer.until(`document.querySelector(".transcript").textContent.startsWith("The start")`);
    // Not measured: it fills the window of loaded entries, which the copies have as well.
    while ((await viewer.evaluate<number>(ROWS)) < FULL_ROWS) await viewer.evaluate(LEAP);
    // Its rows are then complete, with costs: those of the copies are as heavy.
    await untilQuiet(viewer);
    const html = await viewer.evaluate<string>(COPY);
    // From there: at their start, it would be long until the least list moves its first rows.
    const place = await viewer.evaluate<number>(PLACE);
    const least = await copiedPage(browser, html, place);
    await least.evaluate(LEAST);
    const still = await copiedPage(browser, html, place);
    await still.evaluate("window.isStill = true");
    const pages = { viewer, least, still };
    const all = { viewer: [] as Scrolled[], least: [] as Scrolled[], still: [] as Scrolled[] };
    const names = Object.keys(pages) as (keyof Pages)[];
    for (const page of names) await pages[page].call("Performance.enable", CLOCK);
    for (let slice = 0; slice < slices; slice++) {
      const order = slice % 2 === 0 ? names : names.toReversed();
      for (const page of order) all[page].push(await scrollSlice(pages[page]));
    }
    return { viewer: sum(all.viewer), least: sum(all.least), still: sum(all.still) };
  } finally {
    await browser.close();
  }
}

/** The processor time of the thread, not the time on the wall. */
const CLOCK = { timeDomain: "threadTicks" };

async function scrollSlice(page: BrowserPage): Promise<Scrolled> {
  let [dropped, before] = [0, await processorMs(page)];
  const start = before;
  for (let frame = 0; frame < SLICE_FRAMES; frame++) {
    await page.evaluate(STEP);
    const now = await processorMs(page);
    dropped += Math.floor(((now - before) * SLOWNESS) / FRAME_MS);
    before = now;
  }
  return { frames: SLICE_FRAMES + dropped, dropped, processorMs: before - start };
}

async function processorMs(page: BrowserPage): Promise<number> {
  const { metrics } = await page.call("Performance.getMetrics");
  const all = metrics as { name: string; value: number }[];
  return 1000 * (all.find(({ name }) => name === "TaskDuration")?.value ?? Number.NaN);
}

async function copiedPage(browser: Browser, html: string, place: number): Promise<BrowserPage> {
  const page = await browser.newPage("");
  const { frameTree } = await page.call("Page.getFrameTree");
  const { id } = (frameTree as { frame: { id: string } }).frame;
  await page.call("Page.setDocumentContent", { frameId: id, html });
  await page.evaluate(`${PLACE} = ${place}`);
  return page;
}

function sum(slices: readonly Scrolled[]): Scrolled {
  const all = { frames: 0, dropped: 0, processorMs: 0 };
  for (const { frames, dropped, processorMs } of slices) {
    all.frames += frames;
    all.dropped += dropped;
    all.processorMs += processorMs;
  }
  return all;
}
