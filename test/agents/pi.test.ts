import assert from "node:assert/strict";
import { mkdirSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { test } from "vitest";
import { nodeHost } from "../../src/base/node-host.ts";
import { findLogs } from "../../src/catalog/find.ts";
import { pi } from "../../src/dialects/pi/dialect.ts";
import { resumeSession } from "../../src/resume/resume.ts";
import { sharedFiles } from "../support/shared-files.ts";
import { tempDirectory } from "../support/temp-directory.ts";
import { type Counts, countsOf, filesIn, parsedLines, readSession } from "./sample.ts";

const { path: samples, isThere } = sharedFiles("samples", "real sessions", "tests of pi are");
const PATH = "sessions/--home-me-app--/2026-05-12T01-02-27-657Z_6f1c.jsonl";
const ID = "--home-me-app--/2026-05-12T01-02-27-657Z_6f1c";

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
  const files = [...filesIn(join(samples, "pi")), ...filesIn(join(samples, "more/pi"))];
  assert.ok(files.length >= 2);
  for (const file of files) {
    const rows = parsedLines(file);
    const read = await readSession("pi", PATH, rows.map((row) => JSON.stringify(row)).join("\n"));
    assert.equal(read.entries.length, rows.length, file);
    assert.equal(read.badLines, 0);
    assert.deepEqual(countsOf(read), counted(rows), file);
    const usages = rows.flatMap(({ message }) => message?.usage ?? []);
    const sum = (pick: (usage: (typeof usages)[number]) => number) =>
      usages.reduce((total, usage) => total + pick(usage), 0);
    const { inputTokens, outputTokens, spend, project } = read.summary;
    assert.equal(
      inputTokens,
      sum(({ input }) => input),
    );
    assert.equal(
      outputTokens,
      sum(({ output }) => output),
    );
    assert.ok(Math.abs((spend ?? 0) - sum(({ cost }) => cost.total)) < 1e-6);
    assert.equal(project, rows[0].cwd);
  }
});

function row(id: string, parentId: string | null, text: string, more: object = {}) {
  const role = Number.parseInt(id, 16) % 2 === 0 ? "assistant" : "user";
  const message = { role, content: [{ type: "text", text }], timestamp: 1, ...more };
  return { type: "message", id, parentId, timestamp: "2026-05-12T01:02:28.000Z", message };
}

const HEADER = { type: "session", version: 3, id: "6f1c", timestamp: "2026-05-12", cwd: "/app" };

async function resumed(rows: readonly object[]) {
  const root = tempDirectory();
  mkdirSync(join(root, PATH, ".."), { recursive: true });
  writeFileSync(join(root, PATH), rows.map((each) => `${JSON.stringify(each)}\n`).join(""));
  const { messages, report } = await resumeSession(nodeHost, ID, {
    ...{ for: "openai-chat", root, dialect: "pi", allowUnsigned: true, prompt: null },
  });
  return {
    said: messages.map(({ content }) => content),
    leftOut: report.actions.flatMap(({ why, line }) => (why === "taken_back" ? [line] : [])),
  };
}

test("resuming follows the last branch, and shows what it left out", async () => {
  const rows = [
    HEADER,
    ...[row("1", null, "one"), row("2", "1", "two"), row("3", "2", "three"), row("4", "3", "four")],
    { type: "branch_summary", id: "b", parentId: "2", fromId: "4", summary: "left" },
    row("5", "b", "five"),
    row("6", "5", "six"),
  ];
  assert.deepEqual(await resumed(rows), {
    said: ["one", "two", "left", "five", "six"],
    leftOut: [4, 5],
  });
  // Back on the first branch.
  assert.deepEqual(await resumed([...rows, row("7", "4", "seven")]), {
    said: ["one", "two", "three", "four", "seven"],
    leftOut: [6, 7, 8],
  });
  // Started over, from no row.
  assert.deepEqual((await resumed([...rows, row("7", null, "seven")])).said, ["seven"]);
});

test("a parent that is missing, later or the row itself is taken for the row before", async () => {
  const rows = [HEADER, row("1", "9", "one"), row("2", "2", "two"), row("3", "4", "three")];
  const { said, leftOut } = await resumed([...rows, row("4", "gone", "four")]);
  assert.deepEqual(said, ["one", "two", "three", "four"]);
  assert.deepEqual(leftOut, []);
});

test("resuming continues with the last summary and the rows that it keeps", async () => {
  const compaction = (id: string, parentId: string, more: object) => ({
    ...{ type: "compaction", id, parentId, timestamp: "2026-05-12T01:03:00.000Z" },
    ...{ summary: `sum ${id}`, tokensBefore: 1, ...more },
  });
  const rows = [
    HEADER,
    ...[row("1", null, "one"), row("2", "1", "two"), row("3", "2", "three"), row("4", "3", "four")],
    compaction("c", "4", { firstKeptEntryId: "3" }),
    row("5", "c", "five"),
  ];
  assert.deepEqual((await resumed(rows)).said, ["sum c", "three", "four", "five"]);
  const again = [
    ...rows,
    row("6", "5", "six", { timestamp: 6 }),
    compaction("d", "6", { retainedTail: [{ role: "assistant", timestamp: 6 }] }),
  ];
  assert.deepEqual((await resumed(again)).said, ["sum d", "six"]);
  const once = compaction("e", "d", { firstKeptEntryId: "6" });
  assert.deepEqual((await resumed([...again, once])).said, ["sum e", "six"]);
});

test("files in the directory of PI_CODING_AGENT_SESSION_DIR are found", () => {
  const root = tempDirectory();
  const name = "2026-05-12T01-02-27-657Z_6f1c.jsonl";
  writeFileSync(join(root, name), "");
  writeFileSync(join(root, "other.jsonl"), "");
  const found = findLogs(root, pi.layout);
  assert.deepEqual(
    found.map(({ id, path }) => ({ id, path })),
    [{ id: name.replace(".jsonl", ""), path: name }],
  );
});
