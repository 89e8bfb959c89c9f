/** Docs page: a page of docs/ and what stands between its fences, to be held against the code. */

import assert from "node:assert/strict";
import { readFileSync } from "node:fs";

export interface DocsPage {
  readonly text: string;
  /** All there are. An info string is what stands behind the fence that opens: `jsonl rye-line`. */
  readonly fences: readonly { readonly info: string; readonly body: string }[];
  /** What the fences with this info string hold: one at least. */
  readonly blocks: (info: string) => string[];
  /** What the only fence with this info string holds. */
  readonly block: (info: string) => string;
  /** The lines of all of them. */
  readonly lines: (info: string) => string[];
}

/** By its name below docs/, without the ending. */
export function docsPage(name: string): DocsPage {
  const text = readFileSync(new URL(`../../docs/${name}.md`, import.meta.url), "utf8");
  const found = text.matchAll(/^(`{3,})([^`\n]*)\n([\s\S]*?)^\1$/gm);
  const fences = [...found].map(([, , info = "", body = ""]) => ({ info, body }));
  const blocks = (info: string) => {
    const bodies = fences.flatMap((fence) => (fence.info === info ? [fence.body] : []));
    assert.notEqual(bodies.length, 0, `docs/${name}.md has no ${info}`);
    return bodies;
  };
  const block = (info: string) => {
    const [only = "", ...more] = blocks(info);
    assert.equal(more.length, 0, `docs/${name}.md has several ${info}`);
    return only;
  };
  const lines = (info: string) => blocks(info).flatMap((body) => body.trimEnd().split("\n"));
  return { text, fences, blocks, block, lines };
}
