/**
 * Opening: how long a page takes to show a session, and the memory that it then holds.
 *
 * Each time in a new browser, so that nothing is cached, on a server that has just started. The
 * memory is that of a page at rest: what it loads after its first rows is included.
 */

import { readFileSync } from "node:fs";
import { setTimeout as sleep } from "node:timers/promises";
import type { Browser, BrowserContext, Page } from "playwright-core";
import { launchChromium } from "../../test/e2e/chromium.ts";
import type { Served } from "./served.ts";

export const VIEWPORT = { width: 1440, height: 900 };

export interface Opened {
  /** From the navigation until the first rows were drawn. */
  readonly rowsMs: number;
  /** The JavaScript heap, after a collection. */
  readonly heapMb: number;
  /** Written memory of the renderer's process that no other process shares. */
  readonly rendererMb: number;
  /** Compressed, until the first rows were drawn: the page's own files. */
  readonly fileKb: number;
}

/** No request for this long: the page is at rest. Longer than the page's pauses between two. */
const QUIET_MS = 2_500;
/** These requests never end, or are sent again and again. */
const ENDLESS = /\/(?:events|whereabouts)\b/;

/** Notes in the page when the frame after the first rows was drawn. */
const NOTE_ROWS = `(() => {
  const look = () => {
    if (document.querySelector(".entries .row:not(.silent)") === null) return requestAnimationFrame(look);
    requestAnimationFrame(() => setTimeout(() => { window.rowsMs = performance.now(); }));
  };
  look();
})()`;

export async function open(served: Served, name: string): Promise<Opened> {
  const browser = await launchChromium();
  try {
    const context = await contextFor(browser, served);
    const page = await context.newPage();
    await page.addInitScript(NOTE_ROWS);
    const traffic = watchTraffic(page);
    await page.goto(sessionUrl(served, name));
    const noted = await page.waitForFunction(() => (window as { rowsMs?: number }).rowsMs);
    const rowsMs = Number(await noted.jsonValue());
    const fileKb = (await traffic.fileBytes()) / 1e3;
    await traffic.untilQuiet();
    return { rowsMs, fileKb, ...(await memoryOf(browser, page)) };
  } finally {
    await browser.close();
  }
}

/** A context that has the server's cookie. */
export async function contextFor(browser: Browser, served: Served): Promise<BrowserContext> {
  const context = await browser.newContext({ viewport: VIEWPORT, reducedMotion: "reduce" });
  await context.addCookies([{ ...served.cookie, url: served.url }]);
  return context;
}

export function sessionUrl({ url, ids }: Served, name: string): string {
  const id = ids.get(name);
  if (id === undefined) throw new Error(`${name} is not listed`);
  return `${url}/#/s/${id}`;
}

function watchTraffic(page: Page) {
  const sizes: Promise<number>[] = [];
  const open = new Set<unknown>();
  let lastMs = performance.now();
  page.on("request", (request) => {
    if (ENDLESS.test(request.url())) return;
    open.add(request);
    lastMs = performance.now();
  });
  page.on("requestfinished", (request) => {
    if (open.delete(request)) lastMs = performance.now();
    if (/\/(?:assets\/.*)?$/.test(new URL(request.url()).pathname)) {
      sizes.push(request.sizes().then(({ responseBodySize }) => responseBodySize));
    }
  });
  return {
    async fileBytes() {
      return (await Promise.all(sizes)).reduce((sum, size) => sum + size, 0);
    },
    async untilQuiet() {
      while (open.size > 0 || performance.now() - lastMs < QUIET_MS) await sleep(100);
    },
  };
}

async function memoryOf(browser: Browser, page: Page) {
  const session = await page.context().newCDPSession(page);
  await session.send("HeapProfiler.enable");
  for (let time = 0; time < 2; time++) await session.send("HeapProfiler.collectGarbage");
  const { usedSize } = await session.send("Runtime.getHeapUsage");
  const control = await browser.newBrowserCDPSession();
  const { processInfo } = await control.send("SystemInfo.getProcessInfo");
  const renderers = processInfo.filter(({ type }) => type === "renderer");
  const rendererKb = renderers.reduce((sum, { id }) => sum + privateKb(id), 0);
  return { heapMb: usedSize / 1e6, rendererMb: rendererKb / 1e3 };
}

function privateKb(pid: number): number {
  const text = readFileSync(`/proc/${pid}/smaps_rollup`, "utf8");
  const rows = text.matchAll(/^Private_Dirty: +(\d+) kB/gm);
  return [...rows].reduce((sum, [, kb]) => sum + Number(kb), 0);
}
