import assert from "node:assert/strict";
import { join } from "node:path";
import { test } from "vitest";
import { findLogs } from "../../src/catalog/find.ts";
import { openclaw } from "../../src/dialects/openclaw/dialect.ts";
import { sharedFiles } from "../support/shared-files.ts";
import { tempDirectory } from "../support/temp-directory.ts";
import { type Counts, countsOf, filesIn, parsedLines, put, readSession } from "./sample.ts";

const { path: samples, isThere } = sharedFiles(
  ...(["samples/more/openclaw", "OpenClaw sessions", "tests that read them are"] as const),
);

// biome-ignore lint/suspicious/noExplicitAny: rows of real files.
function counted(rows: any[]): Counts {
  const said = rows.flatMap(({ message }) => message ?? []);
  const of = (role: string) => said.filter((message) => message.role === role);
  const blocks = of("assistant").flatMap(({ content }) => content);
  return {
    prompts: of("user").length,
    answers: of("assistant").length,
    calls: blocks.filter(({ type }) => type === "toolCall").length,
    results: of("toolResult").length,
  };
}

test.skipIf(!isThere)("every row of real sessions is an entry, and counts agree", async () => {
  const files = filesIn(samples);
  assert.ok(files.length >= 2);
  for (const file of files) {
    const rows = parsedLines(file);
    const text = rows.map((row) => `${JSON.stringify(row)}\n`).join("");
    const read = await readSession("openclaw", "agents/main/sessions/6f1c.jsonl", text);
    assert.equal(read.entries.length, rows.length, file);
    assert.equal(read.badLines, 0);
    assert.deepEqual(countsOf(read), counted(rows), file);
    assert.equal(read.summary.agent, "main");
    assert.equal(read.summary.project, rows[0].cwd);
  }
});

test("sessions that were reset are found next to the live ones", () => {
  const root = tempDirectory();
  const names = ["6f1c.jsonl", "6f1c.jsonl.reset.2026-02-24T11-00-00.000Z"];
  for (const name of [...names, "6f1c.trajectory.jsonl", "sessions.json", "6f1c.jsonl.lock"]) {
    put(join(root, "agents/main/sessions", name), "");
  }
  const found = findLogs(root, openclaw.layout).map(({ path }) => path.split("/").at(-1));
  assert.deepEqual(found.sort(), names);
});
