import assert from "node:assert/strict";
import { mkdirSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { test } from "vitest";
import { nodeHost } from "../../src/core/base/node-host.ts";
import { pi } from "../../src/dialects/agents/pi.ts";
import { findLogs } from "../../src/dialects/find.ts";
import { resumeSession } from "../../src/resume/resume.ts";
import { filesBelow, logsWith, sampleFolders } from "../support/samples.ts";
import { sharedFiles } from "../support/shared-files.ts";
import { tempDirectory } from "../support/temp-directory.ts";
import {
  type Counts,
  countsOf,
  filesIn,
  parsedLines,
  readSession,
  readSessions,
} from "./sample.ts";

const samples = sharedFiles("samples");
const FILES = logsWith("pi", samples, (folder) =>
  ["pi", "more/pi"].flatMap((name) => filesIn(join(folder, name))),
);
const FOLDERS = sampleFolders("pi");
const PATH = "sessions/--home-me-app--/2026-05-12T01-02-27-657Z_6f1c.jsonl";
const ID = "--home-me-app--/2026-05-12T01-02-27-657Z_6f1c";

const EDITED = "Put the linden first in trees.txt. The picture shows the tree.";

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

test("there are sessions that pi wrote", () => {
  assert.ok(FOLDERS.length > 0);
  if (samples.isThere) assert.ok(FILES.length >= 2 + FOLDERS.length);
});

test.each(FILES)("every row of %s is an entry, and counts agree", async (_, path) => {
  const rows = parsedLines(path);
  const read = await readSession("pi", PATH, readFileSync(path));
  assert.equal(read.entries.length, rows.length);
  assert.equal(read.badLines, 0);
  assert.deepEqual(countsOf(read), counted(rows));
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
});

test.each(FOLDERS)("pi $name: sessions have the tokens of the model's answers", async (folder) => {
  const read = Object.entries(await readSessions("pi", filesBelow(folder)));
  const tokens = read.map(([, { summary }]) => {
    const { title, turns, inputTokens, outputTokens, totalTokens } = summary;
    return [
      title?.replace(/^<file .*<\/file> /, ""),
      turns,
      inputTokens,
      outputTokens,
      totalTokens,
    ];
  });
  assert.deepEqual(tokens.sort(), [
    [EDITED, 2, 2170, 160, 8862],
    // The fork has the rows of the session before it, too.
    [EDITED, 3, 2420, 164, 10_780],
    ["This request is refused.", 1, 0, 0, 0],
    ["Well and birds", 3, 190_600, 922, 191_522],
  ]);
  const [[first] = [], [, fork] = []] = read.filter(([, { summary }]) =>
    summary.title?.endsWith(EDITED),
  );
  assert.equal(fork?.summary.parent, first);
});

test.each(FOLDERS)("pi $name: image, edit and failures are read", async (folder) => {
  const [edited] = Object.values(await readSessions("pi", filesBelow(folder)));
  const { linesAdded, linesRemoved } = edited?.summary ?? {};
  assert.deepEqual([linesAdded, linesRemoved], [1, 1]);
  const parts = edited?.entries.flatMap((entry) => entry.parts) ?? [];
  assert.deepEqual(
    parts.flatMap((part) => (part.type === "tool_call" ? part.tool : [])),
    ["read", "bash", "edit", "edit"],
  );
  const errors = parts.flatMap((part) => (part.type === "tool_result" ? [part.error] : []));
  assert.deepEqual(
    errors.map((error) => error !== null),
    [false, true, true, false],
  );
  const [picture] = parts.filter((part) => part.type === "image");
  assert.match(`${picture?.mediaType} ${picture?.data}`, /^image\/png iVBOR/);
});

test.each(FOLDERS)(
  "pi $name: resuming follows the last branch, from its summary",
  async (folder) => {
    const files = Object.entries(filesBelow(folder)).map(([path, bytes]) => {
      return { path, rows: Buffer.from(bytes).toString() };
    });
    const branched = files.find(({ rows }) => rows.includes('"branch_summary"'));
    const { said, leftOut } = await resumed(rowsOf(branched?.rows ?? ""));
    assert.deepEqual(
      said.map((text) => String(text).split("\n").at(-1)),
      ["The well is deep and old.", "And how many birds?", "Two."],
    );
    // Prompt, answer, compaction, prompt, answer.
    assert.deepEqual(leftOut, [4, 5, 6, 7, 8]);
    // Without the branch: the compaction, the row that it keeps, and what follows.
    const upToBranch = rowsOf(branched?.rows ?? "").slice(0, 8);
    assert.deepEqual(
      (await resumed(upToBranch)).said.map((text) => String(text).split("\n").at(-1)),
      [
        "The well is deep and old.",
        "It is deep and old.",
        "And of the linden?",
        "It stands next to the well.",
      ],
    );
  },
);

function rowsOf(text: string): object[] {
  return text
    .trimEnd()
    .split("\n")
    .map((line) => JSON.parse(line));
}

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
    for: "openai-chat",
    root,
    dialect: "pi",
    allowUnsigned: true,
    prompt: null,
  });
  return {
    said: messages.map(({ content }) => content),
    leftOut: report.actions.flatMap(({ why, line }) => (why === "taken_back" ? [line] : [])),
  };
}

test("resuming follows the last branch, and shows what it left out", async () => {
  const rows = [
    HEADER,
    row("1", null, "one"),
    row("2", "1", "two"),
    row("3", "2", "three"),
    row("4", "3", "four"),
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
    type: "compaction",
    id,
    parentId,
    timestamp: "2026-05-12T01:03:00.000Z",
    summary: `sum ${id}`,
    tokensBefore: 1,
    ...more,
  });
  const rows = [
    HEADER,
    row("1", null, "one"),
    row("2", "1", "two"),
    row("3", "2", "three"),
    row("4", "3", "four"),
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
  const found = findLogs(root, pi.naming.layout);
  assert.deepEqual(
    found.map(({ id, path }) => ({ id, path })),
    [{ id: name.replace(".jsonl", ""), path: name }],
  );
});
