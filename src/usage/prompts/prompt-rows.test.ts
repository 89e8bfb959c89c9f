import assert from "node:assert/strict";
import { mkdirSync, rmSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { test } from "vitest";
import { tempDirectory } from "../../../test/support/temp-directory.ts";
import { nodeHost } from "../../core/base/node-host.ts";
import { openUsage } from "../open-usage.ts";
import { Days } from "../report/days.ts";
import { bySession, groupBy, sumOf } from "../report/groups.ts";
import { dearestPrompts, PromptRows, sessionAt, sessionsOf } from "./prompt-rows.ts";
import { traceCopies } from "./trace.ts";

const NOW = Date.parse("2026-11-16T12:00:00Z");
const at = (minute: number) => new Date(NOW + minute * 60_000).toISOString();

const prompt = (text: string, minute: number) => ({
  type: "user",
  sessionId: "s1",
  cwd: "/home/me/app",
  timestamp: at(minute),
  uuid: text,
  message: { role: "user", content: text },
});

/** A thousand tokens of output cost 2.5 cents. */
const response = (id: string, minute: number, output: number, more: object = {}) => ({
  type: "assistant",
  sessionId: "s1",
  cwd: "/home/me/app",
  uuid: `u-${id}`,
  ...more,
  timestamp: at(minute),
  requestId: `r-${id}`,
  message: {
    id,
    model: "claude-opus-4-5-20251101",
    role: "assistant",
    content: [],
    usage: { input_tokens: 0, output_tokens: output },
  },
});

/** The result of a call that started a subagent. */
const began = (agentId: string, minute: number) => ({
  type: "user",
  sessionId: "s1",
  timestamp: at(minute),
  uuid: `b-${agentId}`,
  toolUseResult: { agentId, usage: { output_tokens: 9_999 } },
  message: { role: "user", content: [{ type: "tool_result", tool_use_id: "t", content: "ok" }] },
});

function put(home: string, path: string, rows: readonly object[]): string {
  const full = join(home, path);
  mkdirSync(dirname(full), { recursive: true });
  writeFileSync(full, rows.map((row) => `${JSON.stringify(row)}\n`).join(""));
  return full;
}

async function opened(home: string) {
  const stores = [
    { dialect: "claude-code", root: join(home, ".claude") },
    { dialect: "codex", root: join(home, ".codex") },
  ];
  const { usage } = await openUsage(nodeHost, {
    cwd: home,
    nowMs: NOW,
    stores,
    directory: join(home, "usage"),
    ownPath: join(home, "prices.json"),
    onFailure: (id) => assert.fail(id),
  });
  const chosen = usage.chosen(new Days("UTC"));
  return { usage, chosen, rows: new PromptRows(usage, chosen), sessions: sessionsOf(usage) };
}

async function promptsOf(home: string, name: string) {
  const { rows, sessions } = await opened(home);
  const session = [...sessions.values()].find((each) => each.name === name) ?? assert.fail(name);
  const groups = rows.groups(session, await traceCopies(nodeHost, session.own));
  return groups.map(({ prompt, output, subagents }) => [prompt?.text ?? null, output, subagents]);
}

test("a response belongs to the last prompt before it, and prompts add up to the session", async () => {
  const home = tempDirectory();
  put(home, ".claude/projects/p/s1.jsonl", [
    response("early", 0, 1),
    prompt("first", 1),
    response("a", 2, 10),
    response("a", 2, 30),
    response("b", 3, 5),
    prompt("second", 4),
    response("c", 5, 100),
    response("a", 6, 30),
  ]);
  assert.deepEqual(await promptsOf(home, "s1"), [
    [null, 1, 0],
    ["first", 35, 0],
    ["second", 100, 0],
  ]);
});

test("a subagent belongs to the prompt that started it, also if it ends after the next", async () => {
  const home = tempDirectory();
  put(home, ".claude/projects/p/s1.jsonl", [
    prompt("first", 0),
    response("a", 1, 1),
    began("named", 2),
    prompt("second", 3),
    response("b", 4, 2),
  ]);
  const folder = ".claude/projects/p/s1/subagents";
  // The log says who started it; without that, the time of its first response does.
  put(home, `${folder}/agent-named.jsonl`, [response("n", 10, 1_000, { isSidechain: true })]);
  put(home, `${folder}/agent-timed.jsonl`, [
    response("t", 2.5, 20_000, { isSidechain: true }),
    response("u", 9, 300_000, { isSidechain: true }),
  ]);
  assert.deepEqual(await promptsOf(home, "s1"), [
    ["first", 321_001, 2],
    ["second", 2, 0],
  ]);
});

const CODEX_DAY = ".codex/sessions/2026/11/16/rollout-2026-11-16T12-00-00-";

const codexRow = (type: string, payload: object, minute: number) => {
  return { timestamp: at(minute), type, payload };
};

const codexPrompt = (text: string, minute: number) => {
  const content = [{ type: "input_text", text }];
  return [
    codexRow("response_item", { type: "message", role: "user", content }, minute),
    codexRow("event_msg", { type: "user_message", message: text }, minute),
  ];
};

const codexCount = (output: number, minute: number) => {
  const usage = { input_tokens: 0, output_tokens: output, total_tokens: output };
  const info = { total_token_usage: usage, last_token_usage: usage };
  return codexRow("event_msg", { type: "token_count", info }, minute);
};

test("totals of Codex belong to the prompts before them", async () => {
  const home = tempDirectory();
  const id = "019a8b8e-0000-7000-8000-000000000001";
  put(home, `${CODEX_DAY}${id}.jsonl`, [
    codexRow("session_meta", { id, cwd: "/home/me/app", timestamp: at(0) }, 0),
    ...codexPrompt("first", 1),
    codexCount(10, 2),
    codexCount(30, 3),
    ...codexPrompt("second", 4),
    codexCount(130, 5),
  ]);
  const { sessions } = await opened(home);
  const [{ name } = { name: "" }] = [...sessions.values()];
  assert.deepEqual(await promptsOf(home, name), [
    ["first", 30, 0],
    ["second", 100, 0],
  ]);
});

test("a subagent of Codex belongs to the prompt whose call names it, also if it answers later", async () => {
  const home = tempDirectory();
  const [id, child] = [
    "019a8b8e-0000-7000-8000-000000000001",
    "019a8b8e-0000-7000-8000-000000000002",
  ];
  const output = JSON.stringify({ agent_id: child, nickname: "Poincare" });
  put(home, `${CODEX_DAY}${id}.jsonl`, [
    codexRow("session_meta", { id, cwd: "/home/me/app", timestamp: at(0) }, 0),
    ...codexPrompt("first", 1),
    codexRow(
      "response_item",
      { type: "function_call", name: "spawn_agent", arguments: "{}", call_id: "c1" },
      2,
    ),
    codexCount(10, 2),
    codexRow("response_item", { type: "function_call_output", call_id: "c1", output }, 3),
    ...codexPrompt("second", 4),
    codexCount(110, 5),
  ]);
  const spawned = { thread_spawn: { parent_thread_id: id, depth: 1 } };
  const source = { subagent: spawned };
  put(home, `${CODEX_DAY}${child}.jsonl`, [
    codexRow("session_meta", { id: child, parent_thread_id: id, timestamp: at(3), source }, 3),
    codexCount(2_000, 9),
  ]);
  assert.deepEqual(await promptsOf(home, id), [
    ["first", 2_010, 1],
    ["second", 100, 0],
  ]);
});

test("without its log, a session is one group; a subagent has its own prompts", async () => {
  const home = tempDirectory();
  const main = put(home, ".claude/projects/p/s1.jsonl", [prompt("first", 0), response("a", 1, 1)]);
  put(home, ".claude/projects/p/s1/subagents/agent-x.jsonl", [
    { ...prompt("look", 1), isSidechain: true },
    response("x", 2, 20, { isSidechain: true }),
  ]);
  const before = await opened(home);
  const root = join(home, ".claude");
  const sub = sessionAt(before.usage, "claude-code", root, "p/s1/subagents/agent-x");
  assert.equal(sumOf(before.usage, before.rows.rowsOf(sub ?? assert.fail())).output, 20);
  assert.equal(sessionAt(before.usage, "codex", root, "p/s1"), null);
  rmSync(main);
  assert.deepEqual(await promptsOf(home, "s1"), [[null, 21, 1]]);
});

test("the dearest prompts are found without reading sessions that cost less", async () => {
  const home = tempDirectory();
  for (let n = 1; n <= 6; n++) {
    put(home, `.claude/projects/p/s${n}.jsonl`, [
      prompt(`small ${n}`, 0),
      response(`a${n}`, 1, n),
      prompt(`large ${n}`, 2),
      response(`b${n}`, 3, n * 1_000),
    ]);
  }
  const { usage, chosen, rows, sessions } = await opened(home);
  const grouping = bySession(usage);
  const groups = groupBy(usage, chosen, grouping);
  const read: string[] = [];
  let pauses = 0;
  const found = await dearestPrompts({
    groups,
    sessions,
    rows,
    limit: 2,
    sessionsMax: 100,
    pause: async () => {
      pauses++;
    },
    traceOf: ({ name, own }) => {
      read.push(name);
      return traceCopies(nodeHost, own);
    },
  });
  assert.deepEqual(
    found.prompts.map(({ prompt, output, session }) => [session.name, prompt?.text, output]),
    [
      ["s6", "large 6", 6_000],
      ["s5", "large 5", 5_000],
    ],
  );
  assert.deepEqual([found.isComplete, read, pauses], [true, ["s6", "s5"], 2]);
  const stopped = await dearestPrompts({
    groups,
    sessions,
    rows,
    limit: 2,
    sessionsMax: 100,
    traceOf: async () => undefined,
  });
  assert.deepEqual([stopped.isComplete, stopped.prompts], [false, []]);
});
