import assert from "node:assert/strict";
import { readFileSync } from "node:fs";
import { test } from "vitest";
import { sharedFiles } from "../support/shared-files.ts";
import { type Counts, countsOf, filesIn, parsedLines, readSession } from "./sample.ts";

const { path: samples, isThere } = sharedFiles(
  ...(["samples/more/droid", "Droid sessions", "tests that read them are"] as const),
);

// biome-ignore lint/suspicious/noExplicitAny: rows of real files.
function counted(rows: any[]): Counts {
  const count = (is: (row: (typeof rows)[number]) => boolean) => rows.filter(is).length;
  const blocks = rows.flatMap(({ message }) => message?.content ?? []);
  const ofBlocks = (type: string) => blocks.filter((block) => block.type === type).length;
  const isResults = (row: (typeof rows)[number]) =>
    row.message?.content?.every(({ type }: { type: string }) => type === "tool_result") ?? false;
  const said = (role: string) => (row: (typeof rows)[number]) =>
    row.type === "message" && (row.role ?? row.message?.role) === role && !isResults(row);
  return {
    prompts: count(said("user")),
    // A call in the stream is a row of its own.
    answers: count(said("assistant")) + count(({ type }) => type === "tool_call"),
    calls: ofBlocks("tool_use") + count(({ type }) => type === "tool_call"),
    results: ofBlocks("tool_result") + count(({ type }) => type === "tool_result"),
  };
}

test.skipIf(!isThere)("every row of real sessions is an entry, and counts agree", async () => {
  const files = filesIn(samples);
  assert.equal(files.length, 4);
  for (const file of files) {
    const rows = parsedLines(file);
    const path = "sessions/-tmp/6f1c.jsonl";
    const read = await readSession("droid", path, readFileSync(file));
    assert.equal(read.entries.length, rows.length, file);
    const blank = readFileSync(file, "utf8")
      .split("\n")
      .slice(0, -1)
      .filter((line) => line === "");
    assert.equal(read.badLines, blank.length, file);
    assert.deepEqual(countsOf(read), counted(rows), file);
  }
});

test.skipIf(!isThere)("a session has Droid's title, or what a person typed", async () => {
  const titles: (string | null)[] = [];
  for (const file of filesIn(samples)) {
    const read = await readSession("droid", "sessions/-tmp/6f1c.jsonl", readFileSync(file));
    titles.push(read.summary.title);
  }
  assert.deepEqual(titles, ["Stage0 Droid Drift", "Stage0 Droid Small", "List files", "Do thing"]);
});
