/**
 * A real browser, watched: what a page does when it is loaded, unfolded and touched. No network.
 */

import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { pathToFileURL } from "node:url";
import type { BrowserContext, Page } from "playwright-core";
import { tempDirectory } from "../support/temp-directory.ts";
import { newContext } from "./chromium.ts";
import { watchPage } from "./watched-page.ts";

export interface Element {
  readonly name: string;
  readonly isHtml: boolean;
  readonly attributes: readonly (readonly [string, string])[];
}

/** What a page did when it was loaded, unfolded and touched. */
export interface Visit {
  /** Dialogs, windows, script errors, frames, requested addresses, code that ran. */
  readonly deeds: readonly string[];
  /** Every element, equal ones once. */
  readonly elements: readonly Element[];
  /** Its readable text. */
  readonly text: string;
}

const TOUCH = `(async () => {
  for (const folded of document.querySelectorAll("details")) folded.open = true;
  for (const element of document.querySelectorAll("*")) {
    for (const type of ["mouseover", "focus"]) element.dispatchEvent(new Event(type));
  }
  // By the second frame, the effects of loading and touching have happened.
  for (let frame = 0; frame < 2; frame++) await new Promise(requestAnimationFrame);
  const elements = [...document.querySelectorAll("*")];
  return {
    pwned: window.__pwned !== undefined,
    shadows: elements.filter((element) => element.shadowRoot).length,
    text: document.documentElement.textContent,
    elements: [...new Set(elements.map((element) => JSON.stringify({
      name: element.localName,
      isHtml: element.namespaceURI === "http://www.w3.org/1999/xhtml",
      attributes: [...element.attributes].map(({ name, value }) => [name, value]),
    })))].map((element) => JSON.parse(element)),
  };
})()`;

/** Loads pages, one at a time, and watches what they do. */
export class Visitor {
  readonly #context: BrowserContext;
  #page: Page;

  private constructor(context: BrowserContext, page: Page) {
    this.#context = context;
    this.#page = page;
  }

  static async open(): Promise<Visitor> {
    const context = await newContext();
    return new Visitor(context, await context.newPage());
  }

  /** The page that was visited last. */
  get page(): Page {
    return this.#page;
  }

  async visit(content: string): Promise<Visit> {
    const path = join(tempDirectory(), "page.html");
    writeFileSync(path, content);
    const { href } = pathToFileURL(path);
    const deeds: string[] = [];
    const stopWatching = watchPage(this.#page, (url) => url === href, deeds);
    await this.#page.goto(href, { waitUntil: "load" });
    const seen = (await this.#page.evaluate(TOUCH).catch(() => null)) as Seen | null;
    stopWatching();
    if (seen === null) {
      // It navigated away meanwhile, to an unknown end, so the next visit gets a new page.
      await this.#page.close();
      this.#page = await this.#context.newPage();
      return { deeds: [...deeds, "went away"], elements: [], text: "" };
    }
    if (seen.pwned) deeds.push("code ran");
    if (seen.shadows > 0) deeds.push("shadow root");
    if (this.#page.frames().length > 1) deeds.push("frame");
    return { deeds, elements: seen.elements, text: seen.text };
  }

  close(): Promise<void> {
    return this.#context.close();
  }
}

interface Seen extends Pick<Visit, "elements" | "text"> {
  readonly pwned: boolean;
  readonly shadows: number;
}
