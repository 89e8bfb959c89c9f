/**
 * The system's Chromium. VERBATIM_CHROMIUM has its path, if not in a usual place. Without one,
 * tests that need it are skipped; in CI, or with VERBATIM_REQUIRE_BROWSER=1, that is a failure.
 */

import {
  type Browser,
  type BrowserContext,
  type BrowserContextOptions,
  chromium,
} from "playwright-core";
import { chromiumPath } from "../support/packages.ts";

const { VERBATIM_REQUIRE_BROWSER, CI } = process.env;

export { chromiumPath };

export const isBrowserRequired = VERBATIM_REQUIRE_BROWSER === "1" || Boolean(CI);

/** For all that a test waits for: browsers on a busy machine have taken half a minute. */
export const PAGE_WAIT_MS = 60_000;

/** Only what a page itself does: no updates, no reports, no first-run steps of the browser. */
export const CHROMIUM_FLAGS = [
  "--no-sandbox",
  "--disable-gpu",
  "--disable-quic",
  "--no-first-run",
  "--disable-background-networking",
  "--disable-component-update",
  "--disable-sync",
];

export function launchChromium(): Promise<Browser> {
  const executablePath = chromiumPath ?? "";
  return chromium.launch({ executablePath, args: CHROMIUM_FLAGS, timeout: PAGE_WAIT_MS });
}

let launched: Promise<Browser> | null = null;

/**
 * A browser for all test files of a process: starting one costs a second of a core. Close the pages,
 * not the browser; it ends with the process.
 */
async function sharedChromium(): Promise<Browser> {
  if (!(await launched)?.isConnected()) launched = launchChromium();
  return launched as Promise<Browser>;
}

/** A user of that browser: cookies, storage and pages of their own. Nothing is animated. */
export async function newContext(options: BrowserContextOptions = {}): Promise<BrowserContext> {
  const browser = await sharedChromium();
  const context = await browser.newContext({ reducedMotion: "reduce", ...options });
  context.setDefaultTimeout(PAGE_WAIT_MS); // Of navigations, too.
  return context;
}
