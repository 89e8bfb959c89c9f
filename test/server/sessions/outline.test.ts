/** The outline of a session: complete, in pages, fresh, and with the same sums as the session. */

import assert from "node:assert/strict";
import { appendFileSync, cpSync, mkdirSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { setTimeout } from "node:timers/promises";
import { test } from "vitest";
import { emptyEntry, type Part } from "../../../src/core/model/entry.ts";
import { type Exchange, type OutlineMark, VerbatimClient } from "../../../src/doors/client.ts";
import { OutlineFold } from "../../../src/sessions/outline/outline-fold.ts";
import { event, putThread } from "../../cli/stores.ts";
import { copySamplesTo } from "../../support/samples.ts";
import { sharedFiles } from "../../support/shared-files.ts";
import { tempDirectory } from "../../support/temp-directory.ts";
import { until } from "../../support/until.ts";
import { browserClient, linkOf } from "../auth/browser-user.ts";
import { newUser, ryeLog, serveSessions } from "./served.ts";

const shared = sharedFiles("samples");

const asked = (text: string) => event("user_message", { text });
const called = (id: string, tool: string, input: unknown) =>
  event("tool_call_start", { tool, call_id: id, input });
const answered = (id: string, error: string | null) =>
  event("tool_call_result", { call_id: id, output: "out", ...(error ? { error } : {}) });
const used = (tokens: number, spend: number) =>
  event("step_finish", {
    cost: { turns: 1, tokens, spend },
    tokens: { input_tokens: tokens - 1, output_tokens: 1 },
  });

const EDIT = { path: "a.ts", old_string: "one\ntwo", new_string: "one\n2" };

async function serve(root: string, limits = {}) {
  const { server } = await serveSessions([root], { limits });
  const client = new VerbatimClient({ url: server.url });
  const [first] = (await client.sessions.list()).sessions;
  assert.ok(first);
  return { client, id: first.id, session: first };
}

/** All pages; each is asked for where the one before ends. Again, if the server was not done yet. */
async function wholeOutline(client: VerbatimClient, id: string, limit = 2_000, reads = false) {
  for (;;) {
    const exchanges: Exchange[] = [];
    const marks: OutlineMark[] = [];
    for (let from: number | null = 0; from !== null; ) {
      const page = await client.sessions.outline(id, { from, limit, reads });
      exchanges.push(...page.exchanges);
      marks.push(...page.marks);
      if (page.next === null && page.isComplete) return { ...page, exchanges, marks };
      from = page.next;
    }
    await setTimeout(10);
  }
}

test("the outline has every prompt with its cost, every failure and every edit", async () => {
  newUser();
  const root = tempDirectory();
  putThread(root, "a-1", [
    event("thread_start", {}),
    asked("First\nsecond line"),
    called("c1", "edit", EDIT),
    answered("c1", null),
    called("c2", "bash", { command: "false" }),
    answered("c2", "⎯⎯⎯⎯⎯⎯⎯ exit 1 ⎯⎯⎯⎯⎯⎯⎯\nmore"),
    used(100, 0.25),
    asked("Next"),
    called("c3", "edit", EDIT),
    answered("c3", "not found"),
    used(40, 0.5),
    "not json",
  ]);
  const { client, id, session } = await serve(root);
  const outline = await wholeOutline(client, id);
  const facts = outline.exchanges.map(({ text, tokens, spend, calls, failures, files }) => {
    return [text, tokens, spend, calls, failures, files];
  });
  assert.deepEqual(facts, [
    [null, null, null, 0, 0, 0],
    ["First second line", 100, 0.25, 2, 1, 1],
    ["Next", 40, 0.5, 1, 2, 1],
  ]);
  assert.deepEqual(outline.exchanges[1]?.tools, [
    { tool: "edit", calls: 1 },
    { tool: "bash", calls: 1 },
  ]);
  const marks = outline.marks.map(({ kind, tool, text, file, isFailed }) => {
    return [kind, tool, text ?? file, isFailed];
  });
  assert.deepEqual(marks, [
    ["edit", "edit", "a.ts", false],
    ["failure", "bash", "exit 1 more", false],
    ["edit", "edit", "a.ts", true],
    ["failure", "edit", "not found", false],
    ["failure", null, marks[4]?.[2], false],
  ]);
  assert.match(String(marks[4]?.[2]), /^Not readable/);
  const calls = outline.marks.map(({ call }) => call);
  assert.deepEqual(calls, [null, "$ false", null, "Edit a.ts", null]);
  assert.deepEqual([outline.tokens, outline.spend], [session.totalTokens, session.spend]);
  // Each offset is an entry's.
  for (const { start } of [...outline.exchanges, ...outline.marks]) {
    const { entries } = await client.sessions.entries(id, { from: start, limit: 1 });
    assert.equal(entries[0]?.start, start);
  }
});

test("exchanges as numbers are those of the outline, in pages of any size", async () => {
  newUser();
  const root = tempDirectory();
  const lines = Array.from({ length: 9 }, (_, n) => [
    asked(`Prompt ${n}`),
    called(`c${n}`, "apply_patch", {
      patch: "*** Begin Patch\n*** Add File: a\n+1\n*** Add File: b\n+1\n*** End Patch",
    }),
    answered(`c${n}`, n % 3 === 0 ? "no" : null),
    called(`d${n}`, "edit", { ...EDIT, path: "a" }),
    answered(`d${n}`, null),
    used(100, 0.25),
  ]);
  putThread(root, "a-1", [event("thread_start", {}), ...lines.flat()]);
  const { client, id } = await serve(root);
  const { exchanges, tokens } = await wholeOutline(client, id);
  assert.equal(exchanges[0]?.text, null);
  const shown = exchanges.slice(1);
  for (const limit of [1, 4, 100]) {
    const found: [number, number, number, number, number, number][] = [];
    for (let from: number | null = 0; from !== null; ) {
      const page = await client.sessions.exchanges(id, { from, limit });
      const { start, spend, calls, failures, edits, files } = page.columns;
      assert.ok(start.length <= limit);
      assert.deepEqual([page.isBefore, page.tokens], [false, tokens]);
      for (const [n, at] of start.entries()) {
        const numbers = [spend, calls, failures, edits, files].map((column) => column[n] ?? -1);
        found.push([at, ...(numbers as [number, number, number, number, number])]);
      }
      from = page.next;
    }
    assert.deepEqual(
      found,
      shown.map(({ start, spend, calls, failures, edits, files }) => {
        return [start, spend ?? 0, calls, failures, edits, files];
      }),
    );
  }
  await assert.rejects(client.sessions.exchanges(id, { limit: 10_001 }), /limit must be/);
});

test("pages of any size hold the same outline", async () => {
  newUser();
  const root = tempDirectory();
  const lines = Array.from({ length: 30 }, (_, n) => [
    asked(`Prompt ${n}`),
    called(`c${n}`, "apply_patch", {
      patch: "*** Begin Patch\n*** Add File: a\n+1\n*** Add File: b\n+1\n*** End Patch",
    }),
    answered(`c${n}`, n % 3 === 0 ? "no" : null),
  ]);
  putThread(root, "a-1", lines.flat());
  const { client, id } = await serve(root);
  const { exchanges, marks } = await wholeOutline(client, id);
  assert.equal(exchanges.length, 30);
  assert.equal(marks.length, 70);
  for (const limit of [1, 2, 7]) {
    const paged = await wholeOutline(client, id, limit);
    assert.deepEqual(paged.exchanges, exchanges, `${limit}`);
    assert.deepEqual(paged.marks, marks, `${limit}`);
  }
});

test("files that were read are marks only if asked for, in pages of any size", async () => {
  newUser();
  const root = tempDirectory();
  const printed = "     4\tzero\n     5\tone\n     6\ttwo";
  const result = (id: string, output: string) => event("tool_call_result", { call_id: id, output });
  const lines = Array.from({ length: 9 }, (_, n) => [
    asked(`Prompt ${n}`),
    called(`r${n}`, "read", { path: "a.ts", offset: 4, limit: 3 }),
    result(`r${n}`, printed),
    called(`c${n}`, "edit", EDIT),
    answered(`c${n}`, null),
    called(`m${n}`, "read", { path: "missing.ts" }),
    answered(`m${n}`, "no such file"),
  ]);
  putThread(root, "a-1", lines.flat());
  const { client, id } = await serve(root);
  const without = await wholeOutline(client, id);
  assert.deepEqual([...new Set(without.marks.map(({ kind }) => kind))], ["edit", "failure"]);
  const { marks, exchanges } = await wholeOutline(client, id, 2_000, true);
  assert.deepEqual(
    marks.slice(0, 4).map(({ kind, verb, file, lines: known, isFailed }) => {
      return [kind, verb, file, known?.join(), isFailed];
    }),
    [
      ["read", "Read", "a.ts", "4,6", false],
      ["edit", "Edit", "a.ts", "5", false], // As the read before it shows.
      ["read", "Read", "missing.ts", undefined, true],
      ["failure", null, null, undefined, false],
    ],
  );
  assert.deepEqual([exchanges.length, marks.length], [9, 36]);
  for (const limit of [1, 2, 5]) {
    assert.deepEqual((await wholeOutline(client, id, limit, true)).marks, marks, `${limit}`);
  }
});

test("a command between a read and an edit may have moved its lines: they have no number", () => {
  for (const [command, isKnown] of [
    ...(["ls -la src", "rg x src", "git diff"].map((each) => [each, true]) as [string, boolean][]),
    ...(["npm test", "ls; rm a", "rg x > a.ts", "find . -delete", "git pull"].map((each) => [
      each,
      false,
    ]) as [string, boolean][]),
  ]) {
    const fold = new OutlineFold();
    const add = (part: Part) => fold.add({ ...emptyEntry({}), parts: [part] }, 0, null);
    const call = (callId: string, tool: string, input: unknown) => {
      add({ type: "tool_call", callId, tool, input });
      add({ type: "tool_result", callId, output: "  8→one\n  9→two", error: null, durationMs: 1 });
    };
    call("c1", "read", { path: "a.ts" });
    call("c2", "bash", { command });
    call("c3", "edit", EDIT);
    assert.deepEqual(fold.marks[0]?.lines ?? null, isKnown ? [8] : null, command);
  }
});

test("the outline continues as the log grows, and begins again when it was rewritten", async () => {
  newUser();
  const root = tempDirectory();
  putThread(root, "a-1", [asked("One"), used(5, 0)]);
  const { client, id } = await serve(root);
  const texts = async () => (await wholeOutline(client, id)).exchanges.map(({ text }) => text);
  assert.deepEqual(await texts(), ["One"]);
  const path = ryeLog(root, "a-1");
  appendFileSync(path, `${JSON.stringify(asked("Two"))}\n`);
  assert.deepEqual(await texts(), ["One", "Two"]);
  writeFileSync(path, `${JSON.stringify(asked("Other"))}\n`);
  assert.deepEqual(await texts(), ["Other"]);
  // The same length, with other words.
  writeFileSync(path, `${JSON.stringify(asked("Again"))}\n`);
  assert.deepEqual(await texts(), ["Again"]);
});

test("a long session is answered at once with what was read, and then completely", async () => {
  newUser();
  const root = tempDirectory();
  const lines = Array.from({ length: 60_000 }, (_, n) =>
    n % 100 === 0 ? asked(`Prompt ${n}`) : event("assistant_text", { text: `said ${n}` }),
  );
  putThread(root, "a-1", lines);
  const { client, id } = await serve(root, { outlineWaitMs: 1 });
  const first = await client.sessions.outline(id);
  assert.equal(first.isComplete, false);
  assert.ok(first.read < first.end || first.end === 0);
  for (;;) {
    const page = await client.sessions.outline(id);
    if (!page.isComplete) continue;
    assert.equal(page.exchanges.length, 600);
    assert.equal(page.read, page.end);
    break;
  }
});

const SESSIONS = {
  "more/claude/small.jsonl": ".claude/projects/-tmp/0b6b1c9e-3f0e-4c55-9d5e-7a1b1e6f0001.jsonl",
  "claude-code/agentcmd-full-session-four.jsonl":
    ".claude/projects/-tmp/0b6b1c9e-3f0e-4c55-9d5e-7a1b1e6f0004.jsonl",
  "more/codex/small.jsonl":
    ".codex/sessions/2026/01/02/rollout-2026-01-02T03-04-05-0b6b1c9e-3f0e-4c55-9d5e-7a1b1e6f0002.jsonl",
  "more/gemini/jsonl_v040.jsonl": ".gemini/tmp/app/chats/session-2026-04-23T12-52-0ab84937.jsonl",
};

/** Roots of agents' sessions, and how many sessions they have. */
const HOMES: readonly (readonly [name: string, roots: () => readonly string[], count: number])[] = [
  ["our", () => copySamplesTo(tempDirectory()), 55],
  ...(shared.isThere ? [["each public", publicHome, 4] as const] : []),
];

function publicHome(): string[] {
  const home = tempDirectory();
  for (const [from, to] of Object.entries(SESSIONS)) {
    mkdirSync(dirname(join(home, to)), { recursive: true });
    cpSync(join(shared.path, from), join(home, to));
  }
  return [".claude", ".codex", ".gemini"].map((root) => join(home, root));
}

test.each(HOMES)(
  "%s sample session and its outline say the same tokens",
  async (_, roots, count) => {
    newUser();
    const { server } = await serveSessions(roots());
    const client = await browserClient(server.url, linkOf(server.running));
    const all = () => client.sessions.list({ limit: 200 });
    await until(async () => (await all()).isComplete, "all are listed");
    const { sessions } = await all();
    assert.equal(sessions.length, count);
    for (const { id, totalTokens, spend } of sessions) {
      const outline = await wholeOutline(client, id);
      const sum = outline.exchanges.reduce((all, { tokens }) => all + (tokens ?? 0), 0);
      assert.equal(outline.tokens, totalTokens);
      assert.equal(sum, totalTokens ?? 0);
      assert.equal(outline.spend, spend);
      assert.ok(outline.exchanges.every(({ text }) => !text?.includes("<command-name>")));
    }
  },
);
