/** Docs page: a page of docs/ and its fenced blocks, to be compared with the code. */

import assert from "node:assert/strict";
import { readFileSync } from "node:fs";

export interface DocsPage {
  readonly text: string;
  /** All blocks. An info string is the text after the opening fence: `jsonl rye-line`. */
  readonly fences: readonly { readonly info: string; readonly body: string }[];
  /** The content of the blocks with this info string: at least one. */
  readonly blocks: (info: string) => string[];
  /** The content of the only block with this info string. */
  readonly block: (info: string) => string;
  /** The lines of all of them. */
  readonly lines: (info: string) => string[];
}

/** By its name below docs/, without the extension. */
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
