/** Eventually: reads a page until it is as expected. */

import type { Page } from "playwright-core";
import { expect } from "vitest";
import { PAGE_WAIT_MS } from "./chromium.ts";

/**
 * Right after a key, a click or a new address a page may not be updated yet. What a page must never
 * do is checked at once.
 */
export function eventually<T>(what: string, read: () => T | Promise<T>) {
  return expect.poll(read, { message: what, timeout: PAGE_WAIT_MS });
}

/** Runs in the page: resolves when a text appears. */
const APPEARED = `(text) => {
  const isThere = () => document.body.innerText.includes(text);
  if (isThere()) throw new Error(text + " is there already");
  globalThis.appeared = new Promise((resolve) => {
    const observer = new MutationObserver(() => {
      if (!isThere()) return;
      observer.disconnect();
      resolve();
    });
    observer.observe(document.body, { subtree: true, childList: true, characterData: true });
  });
}`;

/**
 * Resolves when a text appears by an action, also if the page shows it only for a second: a busy
 * machine may not look at the page in that time.
 */
export async function flashed(
  page: Page,
  text: string,
  act: () => Promise<unknown>,
): Promise<void> {
  await page.evaluate(`(${APPEARED})(${JSON.stringify(text)})`);
  await act();
  await page.evaluate("appeared");
}
