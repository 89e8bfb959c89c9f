import assert from "node:assert/strict";
import { readFileSync } from "node:fs";
import { expect, test } from "vitest";
import { filesBelow, logsWith, sampleFolders, sampleLogs } from "../support/samples.ts";
import { sharedFiles } from "../support/shared-files.ts";
import {
  type Counts,
  countsOf,
  filesIn,
  parsedLines,
  readSession,
  readSessions,
} from "./sample.ts";

const shared = sharedFiles("samples/more/droid");
const FILES = logsWith("droid", shared, filesIn);
const PATH = "sessions/-tmp/6f1c.jsonl";

// biome-ignore lint/suspicious/noExplicitAny: rows of real files.
function counted(rows: any[]): Counts {
  const count = (is: (row: (typeof rows)[number]) => boolean) => rows.filter(is).length;
  const blocks = rows.flatMap(({ message }) => message?.content ?? []);
  const ofBlocks = (type: string) => blocks.filter((block) => block.type === type).length;
  const isResults = (row: (typeof rows)[number]) =>
    row.message?.content?.every(({ type }: { type: string }) => type === "tool_result") ?? false;
  // Nothing but a reminder, which the program added.
  const isReminder = (row: (typeof rows)[number]) =>
    /^<system-reminder>[^<]*<\/system-reminder>$/.test(row.message?.content?.[0]?.text ?? "");
  const said = (role: string) => (row: (typeof rows)[number]) =>
    row.type === "message" && (row.role ?? row.message?.role) === role && !isResults(row);
  return {
    prompts: count((row) => said("user")(row) && !isReminder(row)),
    // A call in the stream is a row of its own.
    answers: count(said("assistant")) + count(({ type }) => type === "tool_call"),
    calls: ofBlocks("tool_use") + count(({ type }) => type === "tool_call"),
    results: ofBlocks("tool_result") + count(({ type }) => type === "tool_result"),
  };
}

test("there is a sample of each form of the rows", () => {
  assert.equal(sampleLogs("droid").length, 3);
  if (shared.isThere) assert.equal(FILES.length, 7);
});

test.each(FILES)("every row of %s is an entry, and counts agree", async (_, path) => {
  const rows = parsedLines(path);
  const read = await readSession("droid", PATH, readFileSync(path));
  assert.equal(read.entries.length, rows.length);
  const blank = readFileSync(path, "utf8")
    .split("\n")
    .slice(0, -1)
    .filter((line) => line === "");
  assert.equal(read.badLines, blank.length);
  assert.deepEqual(countsOf(read), counted(rows));
});

test("a session has Droid's title, or what a person typed", async () => {
  const titles: (string | null)[] = [];
  for (const [, path] of FILES) {
    titles.push((await readSession("droid", PATH, readFileSync(path))).summary.title);
  }
  const own = ["Leap years in the plan", "Check the other plans", "Count the beds"];
  const others = ["Stage0 Droid Drift", "Stage0 Droid Small", "List files", "Do thing"];
  assert.deepEqual(titles, [...own, ...(shared.isThere ? others : [])]);
});

test("samples have their project, their model and the session that started them", async () => {
  const [folder] = sampleFolders("droid");
  const read = await readSessions("droid", filesBelow(folder ?? assert.fail()));
  const known = Object.entries(read).map(([id, { summary }]) => {
    return [id, summary.project, summary.model, summary.parent];
  });
  const name = "7d2a90c4-1e5f-4b83-b6d7-c40f8e19a20";
  expect(known.sort()).toEqual([
    [`-home-me-garden/${name}1`, "/home/me/garden", "claude-opus-4-5", null],
    [`-home-me-garden/${name}2`, "/home/me/garden", "claude-opus-4-5", `-home-me-garden/${name}1`],
    [`${name}3`, "/home/me/garden", "claude-opus-4-5", null],
  ]);
});

test("a failed call, a reminder and a summary are known as such", async () => {
  const [{ path } = assert.fail()] = sampleLogs("droid");
  const { entries } = await readSession("droid", PATH, readFileSync(path));
  const parts = entries.flatMap((entry) => entry.parts);
  const failed = parts.filter((part) => part.type === "tool_result" && part.error !== null);
  assert.equal(failed.length, 1);
  const speakers = entries.flatMap(({ saidBy }) => saidBy ?? []);
  assert.deepEqual(speakers, ["program", "summary"]);
});
