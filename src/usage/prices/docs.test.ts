/** The examples of docs/formats/usage.md, checked against the code. */

import assert from "node:assert/strict";
import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { test } from "vitest";
import { docsPage } from "../../../test/support/docs-page.ts";
import { tempDirectory } from "../../../test/support/temp-directory.ts";
import { PriceBook } from "./price-book.ts";
import { readJournal } from "./price-journal.ts";

test("the example lines are decisions, and the last one holds from its time on", () => {
  const directory = tempDirectory();
  const lines = docsPage("formats/usage").lines("jsonl price");
  writeFileSync(join(directory, "prices.jsonl"), lines.map((line) => `${line}\n`).join(""));
  assert.equal(readJournal(directory).length, lines.length);
  const book = new PriceBook({ directory, ownPath: join(directory, "none"), nowMs: 0 });
  const outputAt = (time: string) =>
    book.ratesFor("claude-opus-4-5-20251101", Date.parse(time))?.output;
  assert.equal(outputAt("2026-11-17T07:59:59Z"), 25);
  assert.equal(outputAt("2026-11-17T08:00:00Z"), 20);
  assert.equal(book.ratesFor("my-model", 0), null);
});
