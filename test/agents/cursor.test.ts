import assert from "node:assert/strict";
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { test } from "vitest";
import { sharedFiles } from "../support/shared-files.ts";
import {
  type Counts,
  countsOf,
  filesIn,
  parsedLines,
  readSession,
  readSessions,
} from "./sample.ts";

const { path: samples, isThere } = sharedFiles(
  ...(["samples/more/cursor", "Cursor transcripts", "tests that read them are"] as const),
);
const FOLDER = "projects/home-me-app/agent-transcripts/6f1c";

// biome-ignore lint/suspicious/noExplicitAny: rows of real files.
function counted(rows: any[]): Counts {
  const blocks = rows.flatMap(({ message }) => message?.content ?? []);
  const of = (...types: string[]) => blocks.filter(({ type }) => types.includes(type)).length;
  const results = of("tool-result", "tool_result");
  return {
    prompts: rows.filter(({ role }) => role === "user").length - results,
    answers: rows.filter(({ role }) => role === "assistant").length,
    calls: of("tool_use", "tool_call"),
    results,
  };
}

test.skipIf(!isThere)("every row of real transcripts is an entry, and counts agree", async () => {
  const files = filesIn(samples);
  assert.equal(files.length, 4);
  for (const file of files) {
    const rows = parsedLines(file);
    const read = await readSession("cursor", `${FOLDER}/6f1c.jsonl`, readFileSync(file));
    assert.equal(read.entries.length, rows.length, file);
    assert.equal(read.badLines, 0);
    assert.deepEqual(countsOf(read), counted(rows), file);
  }
});

test.skipIf(!isThere)("a subagent's transcript names the session that started it", async () => {
  const id = "home-me-app/agent-transcripts/6f1c";
  const read = await readSessions("cursor", {
    [`${FOLDER}/6f1c.jsonl`]: readFileSync(join(samples, "subagent/parent.jsonl")),
    [`${FOLDER}/subagents/7a2d.jsonl`]: readFileSync(
      join(samples, "subagent/subagents/child.jsonl"),
    ),
  });
  assert.equal(read[`${id}/6f1c`]?.summary.parent, null);
  assert.equal(read[`${id}/subagents/7a2d`]?.summary.parent, `${id}/6f1c`);
  assert.equal(read[`${id}/subagents/7a2d`]?.summary.title, "List files");
});
