/**
 * Opening: how long a page takes to show a session, and the memory that it then holds.
 *
 * Each time in a new browser, so that nothing is cached, on a server that has just started. The
 * memory is that of a page at rest: what it loads after its first rows is included.
 */

import { Browser, type BrowserPage } from "./browser.ts";
import type { Served } from "./served.ts";

export interface Opened {
  /** From the navigation until the first rows were drawn. */
  readonly rowsMs: number;
  /** The JavaScript heap, after a collection. */
  readonly heapMb: number;
  /** What the renderer's process has written and shares with no other. */
  readonly rendererMb: number;
  /** Compressed: the page and its files that were loaded before the first rows. */
  readonly fileKb: number;
}

/** The page is at rest if it has received nothing for this long. */
const QUIET_MS = 4_000;

/** Notes in the page when the frame after the first rows was drawn, and the last response. */
const NOTES = `(() => {
  const look = () => {
    if (document.querySelector(".entries .row:not(.silent)") === null) return requestAnimationFrame(look);
    requestAnimationFrame(() => setTimeout(() => { window.rowsMs = performance.now(); }));
  };
  look();
  new PerformanceObserver((list) => {
    // These requests are repeated for as long as the page is open.
    const repeated = /\\/whereabouts$|\\/v1\\/sessions\\?/;
    const isNew = list.getEntries().some(({ name }) => !repeated.test(name));
    if (isNew) window.receivedMs = performance.now();
  }).observe({ type: "resource" });
})()`;

const FILE_BYTES = `(() => {
  const all = [...performance.getEntriesByType("resource"), ...performance.getEntriesByType("navigation")];
  return all.filter(({ name, responseEnd }) => !name.includes("/v1/") && responseEnd <= window.rowsMs)
    .reduce((sum, { encodedBodySize }) => sum + encodedBodySize, 0);
})()`;

export async function open(served: Served, name: string): Promise<Opened> {
  const browser = Browser.launch();
  try {
    const page = await openedPage(browser, served, name);
    const rowsMs = await page.until<number>("window.rowsMs");
    const fileKb = (await page.evaluate<number>(FILE_BYTES)) / 1e3;
    await untilQuiet(page);
    await page.call("HeapProfiler.enable");
    for (let time = 0; time < 2; time++) await page.call("HeapProfiler.collectGarbage");
    const { usedSize } = await page.call("Runtime.getHeapUsage");
    return {
      rowsMs,
      fileKb,
      heapMb: Number(usedSize) / 1e6,
      rendererMb: await browser.rendererMb(),
    };
  } finally {
    await browser.close();
  }
}

/** Waits until the page has loaded all that it loads by itself. */
export async function untilQuiet(page: BrowserPage): Promise<void> {
  await page.until(`performance.now() - window.receivedMs > ${QUIET_MS}`);
}

/** A page that is opening a session. */
export async function openedPage(
  browser: Browser,
  { url, ids, cookie }: Served,
  name: string,
): Promise<BrowserPage> {
  const id = ids.get(name);
  if (id === undefined) throw new Error(`${name} is not listed`);
  const page = await browser.newPage(NOTES);
  await browser.call("Storage.setCookies", { cookies: [{ ...cookie, url }] });
  await page.call("Page.navigate", { url: `${url}/#/s/${id}` });
  return page;
}
