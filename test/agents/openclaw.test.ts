import assert from "node:assert/strict";
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { test } from "vitest";
import { openclaw } from "../../src/dialects/agents/openclaw.ts";
import { findLogs } from "../../src/dialects/find.ts";
import { filesBelow, logsWith, sampleFolders } from "../support/samples.ts";
import { sharedFiles } from "../support/shared-files.ts";
import { tempDirectory } from "../support/temp-directory.ts";
import {
  type Counts,
  countsOf,
  filesIn,
  parsedLines,
  put,
  readSession,
  readSessions,
} from "./sample.ts";

const shared = sharedFiles("samples/more/openclaw");
const FILES = logsWith("openclaw", shared, filesIn);
const FOLDERS = sampleFolders("openclaw");

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

test("there are sessions with rows that OpenClaw wrote", () => {
  assert.ok(FOLDERS.length > 0);
  if (shared.isThere) assert.ok(FILES.length >= 2 + FOLDERS.length);
});

test.each(FILES)("every row of %s is an entry, and counts agree", async (_, path) => {
  const rows = parsedLines(path);
  const read = await readSession("openclaw", "agents/main/sessions/6f1c.jsonl", readFileSync(path));
  assert.equal(read.entries.length, rows.length);
  assert.equal(read.badLines, 0);
  assert.deepEqual(countsOf(read), counted(rows));
  assert.equal(read.summary.agent, "main");
  assert.equal(read.summary.project, rows[0].cwd);
});

test.each(FOLDERS)("OpenClaw $name: tokens, an edit and failures are read", async (folder) => {
  const read = await readSessions("openclaw", filesBelow(folder));
  const tokens = Object.entries(read).map(([id, { summary }]) => {
    const { title, turns, inputTokens, outputTokens, totalTokens } = summary;
    return [id, title, turns, inputTokens, outputTokens, totalTokens];
  });
  assert.deepEqual(tokens, [
    ["main/sessions/sample-edit", "Put the linden first in trees.txt.", 2, 2170, 160, 8862],
    ["main/sessions/sample-refused", "This request is refused.", 1, 0, 0, 0],
  ]);
  const edited = read["main/sessions/sample-edit"];
  const parts = edited?.entries.flatMap((entry) => entry.parts) ?? [];
  assert.deepEqual(
    parts.flatMap((part) => (part.type === "tool_call" ? part.tool : [])),
    ["read", "read", "exec", "edit"],
  );
  const errors = parts.flatMap((part) => (part.type === "tool_result" ? [part.error] : []));
  assert.deepEqual(
    errors.map((error) => error?.match(/File not found|exit code 1/)?.[0] ?? null),
    [null, "File not found", "exit code 1", null],
  );
  const { linesAdded, linesRemoved } = edited?.summary ?? {};
  assert.deepEqual([linesAdded, linesRemoved], [1, 1]);
});

test("sessions that were reset are found next to the live ones", () => {
  const root = tempDirectory();
  const names = ["6f1c.jsonl", "6f1c.jsonl.reset.2026-02-24T11-00-00.000Z"];
  for (const name of [...names, "6f1c.trajectory.jsonl", "sessions.json", "6f1c.jsonl.lock"]) {
    put(join(root, "agents/main/sessions", name), "");
  }
  const found = findLogs(root, openclaw.naming.layout).map(({ path }) => path.split("/").at(-1));
  assert.deepEqual(found.sort(), names);
});
