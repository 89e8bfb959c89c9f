import assert from "node:assert/strict";
import { readFileSync } from "node:fs";
import { join } from "node:path";
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

const shared = sharedFiles("samples/more/cursor");
const FOLDER = "projects/home-me-app/agent-transcripts/6f1c";
const FILES = logsWith("cursor", shared, filesIn);

// biome-ignore lint/suspicious/noExplicitAny: rows of real files.
function counted(rows: any[]): Counts {
  const blocks = rows.flatMap(({ message }) => message?.content ?? []);
  const of = (...types: string[]) => blocks.filter(({ type }) => types.includes(type)).length;
  const results = of("tool-result", "tool_result");
  return {
    prompts: rows.filter(({ role }) => role === "user").length - results,
    answers: rows.filter(({ role }) => role === "assistant").length,
    calls: of("tool_use", "tool_call", "tool-call"),
    results,
  };
}

test("there is a sample of each form of the rows", () => {
  assert.equal(sampleLogs("cursor").length, 3);
  if (shared.isThere) assert.equal(FILES.length, 7);
});

test.each(FILES)("every row of %s is an entry, and counts agree", async (_, path) => {
  const rows = parsedLines(path);
  const read = await readSession("cursor", `${FOLDER}/6f1c.jsonl`, readFileSync(path));
  assert.equal(read.entries.length, rows.length);
  assert.equal(read.badLines, 0);
  assert.deepEqual(countsOf(read), counted(rows));
});

test("samples have their title, their project and the session that started them", async () => {
  const [folder] = sampleFolders("cursor");
  const read = await readSessions("cursor", filesBelow(folder ?? assert.fail()));
  const [id, name] = ["home-me-garden/agent-transcripts", "3f8e1b52-6c07-4d9a-a1f4-90c2d5e7b80"];
  const known = Object.entries(read).map(([id, { summary }]) => {
    return [id, summary.title, summary.project, summary.parent];
  });
  expect(known.sort()).toEqual([
    [
      `${id}/${name}1/${name}1`,
      "Why does the watering plan fail in 2028?",
      "/home/me/garden",
      null,
    ],
    [
      `${id}/${name}1/subagents/${name}2`,
      "Find other places that assume 365 days",
      null,
      `${id}/${name}1/${name}1`,
    ],
    [`${id}/8b0d4a17-52e9-4c36-8f2b-1d7a6e3c9f03`, "Which month is it?", null, null],
  ]);
});

if (shared.isThere) {
  test("a public transcript of a subagent names the session that started it", async () => {
    const id = "home-me-app/agent-transcripts/6f1c";
    const read = await readSessions("cursor", {
      [`${FOLDER}/6f1c.jsonl`]: readFileSync(join(shared.path, "subagent/parent.jsonl")),
      [`${FOLDER}/subagents/7a2d.jsonl`]: readFileSync(
        join(shared.path, "subagent/subagents/child.jsonl"),
      ),
    });
    assert.equal(read[`${id}/6f1c`]?.summary.parent, null);
    assert.equal(read[`${id}/subagents/7a2d`]?.summary.parent, `${id}/6f1c`);
    assert.equal(read[`${id}/subagents/7a2d`]?.summary.title, "List files");
  });
}
