/** Claude Code's sessions: real ones, with their subagents, and what a list says about them. */

import assert from "node:assert/strict";
import { readFileSync } from "node:fs";
import { join, relative } from "node:path";
import { expect, test } from "vitest";
import { PROMPTS, SESSIONS, SUMMARY } from "../../scripts/agent-samples/scenarios.mjs";
import { docsPage } from "../support/docs-page.ts";
import { sampleLogs } from "../support/samples.ts";
import { sharedFiles } from "../support/shared-files.ts";
import { tempDirectory } from "../support/temp-directory.ts";
import { put, storeAt } from "./read-session.ts";
import { countsOf, filesIn, parsedLines, readSession, readSessions } from "./sample.ts";

const samples = sharedFiles("samples");
const folders = ["claude-code", "more/claude", "more/claude/subagent", "more/claude/vscode"];

/** Public samples as Claude Code keeps them: by folder, in one project each. */
const PUBLIC_FILES: Readonly<Record<string, string>> = samples.isThere
  ? Object.fromEntries(
      folders.flatMap((folder) => {
        const above = join(samples.path, folder);
        const inner = folders.filter((each) => each.startsWith(`${folder}/`));
        return filesIn(above)
          .filter((file) => !inner.some((each) => file.startsWith(join(samples.path, each))))
          .map((file) => {
            const project = folder.replaceAll("/", "-");
            return [`projects/${project}/${relative(above, file)}`, file] as const;
          });
      }),
    )
  : {};

/** Samples of this repository, which Claude Code wrote with prompts and answers of ours. */
const OWN_FILES = Object.fromEntries(
  sampleLogs("claude-code").map(({ folder, path }) => [relative(folder.path, path), path] as const),
);

interface Block {
  readonly type?: string;
  readonly name?: unknown;
  readonly input?: unknown;
}

/** Blocks of a type in the rows of people and models, counted without the reader. */
function blocksIn(file: string, type: string): number {
  const said = parsedLines(file).filter((row) => row.type === "user" || row.type === "assistant");
  const blocks = said.flatMap((row): Block[] =>
    Array.isArray(row.message?.content) ? row.message.content : [],
  );
  const isWhole = ({ name, input }: Block) => typeof name === "string" && input !== undefined;
  return blocks.filter((block) => block?.type === type && (type !== "tool_use" || isWhole(block)))
    .length;
}

/** Rows in the user's name that are neither results, the program's, an agent's nor a summary. */
function promptsIn(file: string): number {
  const isResult = (block: Block) => block?.type === "tool_result";
  return parsedLines(file).filter((row) => {
    const { type, isMeta, isSidechain, isCompactSummary, message, origin } = row;
    const content = message?.content;
    const isResults = Array.isArray(content) && content.length > 0 && content.every(isResult);
    const isOthers = isMeta || isSidechain || isCompactSummary || row.role === "tool";
    const isPersons = origin?.kind === undefined || origin.kind === "human";
    const isNotice = JSON.stringify(content ?? "").startsWith('"<task-notification>');
    return type === "user" && message && !isResults && !isOthers && isPersons && !isNotice;
  }).length;
}

test.each([...Object.entries(OWN_FILES), ...Object.entries(PUBLIC_FILES)])(
  "every row of %s is accounted for",
  async (path, file) => {
    const read = await readSession("claude-code", path, readFileSync(file));
    const rows = parsedLines(file);
    assert.deepEqual([read.entries.length, read.badLines], [rows.length, 0]);
    const own = read.entries.filter(({ native }) => native.type !== "attachment");
    const queued = own.filter(({ native }) => native.type === "queue-operation");
    const { prompts, calls, results } = countsOf({ ...read, entries: own });
    const queuedPrompts = queued.filter(({ kind }) => kind === "message").length;
    assert.deepEqual(
      { prompts: prompts - queuedPrompts, calls, results },
      {
        prompts: promptsIn(file),
        calls: blocksIn(file, "tool_use"),
        results: blocksIn(file, "tool_result"),
      },
    );
    const answers = own.filter(({ kind, role }) => kind === "message" && role === "assistant");
    const said = rows.filter(({ type, message }) => type === "assistant" && message);
    assert.equal(answers.length, said.length);
    // Rows that report progress, and what Claude Code keeps for itself, are not messages.
    const kept = ["progress", "file-history-snapshot", "summary", "ai-title", "custom-title"];
    const isKept = read.entries.filter(({ native }) => kept.includes(String(native.type)));
    assert.ok(isKept.every(({ kind }) => kind === "other"));
  },
);

/** Sessions by id, with titles that no text of a program has become. */
async function titledSessions(files: Readonly<Record<string, string>>) {
  const bytes = Object.entries(files).map(([path, file]) => [path, readFileSync(file)] as const);
  const read = await readSessions("claude-code", Object.fromEntries(bytes));
  const titles = Object.values(read).map(({ summary }) => summary.title ?? "");
  assert.ok(
    titles.every((title) => !/^<|^Caveat|^\/clear|This session is being/.test(title)),
    String(titles),
  );
  const nested = Object.entries(read).filter(([id]) => id.includes("/subagents/"));
  for (const [id, { summary }] of nested) {
    assert.equal(summary.parent, id.slice(0, id.indexOf("/subagents/")));
    assert.ok(read[summary.parent ?? ""], "the parent is a session, too");
  }
  return { read, nested };
}

test("real sessions have the title that a person would give", async () => {
  const { read, nested } = await titledSessions(OWN_FILES);
  assert.equal(nested.length, 1);
  assert.equal(nested[0]?.[1].summary.title, PROMPTS.child);
  const facts = (id: string) => {
    const { title, branch, project } = read[`-home-dev-project/${id}`]?.summary ?? assert.fail(id);
    return { title, branch, project };
  };
  const place = { branch: "main", project: "/home/dev/project" };
  assert.deepEqual(facts(SESSIONS.tools), { title: PROMPTS.tools, ...place });
  assert.deepEqual(facts(SESSIONS.fork), { title: PROMPTS.tools, ...place });
  assert.deepEqual(facts(SESSIONS.image), { title: PROMPTS.picture, ...place });
  assert.deepEqual(facts(SESSIONS.compaction), { title: PROMPTS.remember, ...place });
  assert.deepEqual(facts(SESSIONS.failure), { title: PROMPTS.refused, ...place });
});

if (samples.isThere) {
  test("public sessions have the title that a person would give", async () => {
    const { read, nested } = await titledSessions(PUBLIC_FILES);
    const [first] = Object.entries(read).filter(([id]) => id.startsWith("claude-code/"));
    expect(first?.[1].summary.title).toMatch(/^Can you add the first two initials of actual user/);
    expect(first?.[1].summary).toMatchObject({ branch: "feat/final-react-refactor-v2" });
    assert.equal(nested.length, 2);
  });
}

test("a resumed session counts the tokens of both runs, and a compaction ends in its summary", async () => {
  const read = await titledSessions(OWN_FILES).then((titled) => titled.read);
  const tools = read[`-home-dev-project/${SESSIONS.tools}`] ?? assert.fail();
  // Five answers of the first run and one of the second: scripts/agent-samples/scenarios.mjs.
  expect(tools.summary).toMatchObject({
    inputTokens: 900 + 50 + 30 + 20 + 10 + 12,
    outputTokens: 60 + 40 + 35 + 30 + 15 + 3,
  });
  const compacted = read[`-home-dev-project/${SESSIONS.compaction}`] ?? assert.fail();
  const summaries = compacted.entries.filter(({ saidBy }) => saidBy === "summary");
  assert.equal(summaries.length, 1);
  assert.match(JSON.stringify(summaries[0]?.parts), new RegExp(SUMMARY));
});

const page = docsPage("formats/claude-code");

test("a list shows the title that the user chose, else the program's, else the first prompt", async () => {
  const root = tempDirectory();
  const rows = page.block("jsonl claude-code-row");
  const [summary, chosen, own] = page.lines("jsonl claude-code-title").map((line) => `${line}\n`);
  put(root, "projects/p/prompt.jsonl", rows);
  put(root, "projects/p/summary.jsonl", `${rows}${summary}`);
  put(root, "projects/p/own.jsonl", `${rows}${own}${summary}`);
  put(root, "projects/p/chosen.jsonl", `${rows}${chosen}${own}${summary}`);
  const listed = await storeAt("claude-code", root).list();
  assert.deepEqual(listed.map(({ id, title }) => [id, title]).sort(), [
    ["p/chosen", "My readme"],
    ["p/own", "Lines of the readme"],
    ["p/prompt", "How long is the readme?"],
    ["p/summary", "Counting lines"],
  ]);
});

test("a list shows project, last branch, model, turns and tokens counted once", async () => {
  const rows = page.block("jsonl claude-code-row");
  const { summary } = await readSession("claude-code", "projects/p/s1.jsonl", rows);
  expect(summary).toMatchObject({
    ...{ project: "/home/me/app", branch: "fix", model: "claude-opus-4-5" },
    ...{ inputTokens: 10, outputTokens: 25, badLines: 0, parent: null },
  });
});

test("a subagent's own file is its conversation, below its session", async () => {
  const row = (type: string, content: string) =>
    `${JSON.stringify({ type, isSidechain: true, agentId: "a1", sessionId: "s1", cwd: "/home/me/app", uuid: content, message: { role: type, content } })}\n`;
  const rows = row("user", "Count the words") + row("assistant", "12");
  const read = await readSessions("claude-code", {
    "projects/p/s1.jsonl": page.block("jsonl claude-code-row"),
    "projects/p/s1/subagents/agent-a1.jsonl": rows,
    "projects/p/agent-a2.jsonl": rows,
  });
  for (const id of ["p/s1/subagents/agent-a1", "p/agent-a2"]) {
    expect(read[id]?.summary).toMatchObject({ title: "Count the words", parent: "p/s1" });
  }
});
