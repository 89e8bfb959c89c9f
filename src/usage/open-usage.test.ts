import assert from "node:assert/strict";
import {
  appendFileSync,
  existsSync,
  mkdirSync,
  rmSync,
  truncateSync,
  writeFileSync,
} from "node:fs";
import { dirname, join } from "node:path";
import { test } from "vitest";
import { tempDirectory } from "../../test/support/temp-directory.ts";
import { nodeHost } from "../core/base/node-host.ts";
import { Store } from "../sessions/store/store.ts";
import { openUsage } from "./open-usage.ts";
import { Days } from "./report/days.ts";
import { byFile, groupBy, sumOf } from "./report/groups.ts";

const NOW = Date.parse("2026-11-16T12:00:00Z");
const days = new Days("UTC");

interface Place {
  readonly home: string;
  readonly claude: string;
  readonly codex: string;
}

function place(): Place {
  const home = tempDirectory();
  return { home, claude: join(home, ".claude"), codex: join(home, ".codex") };
}

async function counted({ home, claude, codex }: Place) {
  const stores = [
    { dialect: "claude-code", root: claude },
    { dialect: "codex", root: codex },
  ].filter(({ root }) => existsSync(root));
  const failures: string[] = [];
  const opened = await openUsage(nodeHost, {
    cwd: home,
    nowMs: NOW,
    stores,
    directory: join(home, "usage"),
    ownPath: join(home, "prices.json"),
    onFailure: (id) => failures.push(id),
  });
  assert.deepEqual(failures, []);
  return { ...opened, sum: sumOf(opened.usage, opened.usage.chosen(days)) };
}

function put(root: string, path: string, rows: readonly object[]): string {
  const full = join(root, path);
  mkdirSync(dirname(full), { recursive: true });
  writeFileSync(full, linesOf(rows));
  return full;
}

const linesOf = (rows: readonly object[]) => rows.map((row) => `${JSON.stringify(row)}\n`).join("");

const row = (id: string, output: number, more: object = {}, minute = 0) => ({
  type: "assistant",
  sessionId: "s1",
  cwd: "/home/me/app",
  uuid: `u-${id}-${output}`,
  timestamp: new Date(NOW - 3_600_000 + minute * 60_000).toISOString(),
  requestId: `req_${id}`,
  ...more,
  message: {
    id,
    model: "claude-opus-4-5-20251101",
    role: "assistant",
    usage: { input_tokens: 10, output_tokens: output, cache_read_input_tokens: 100 },
  },
});

test("a session that was resumed in another file counts once, for the first of them", async () => {
  const at = place();
  put(at.claude, "projects/p/s2.jsonl", [row("a", 5), row("b", 9), row("c", 20, {}, 9)]);
  put(at.claude, "projects/p/s1.jsonl", [row("a", 5, {}, -9), row("b", 9)]);
  const { usage, sum } = await counted(at);
  assert.deepEqual([sum.responses, sum.output], [3, 34]);
  const groups = groupBy(
    usage,
    usage.chosen(days),
    byFile(usage, (file) => usage.sessionOf(file)),
  );
  assert.deepEqual(
    new Map(groups.map(({ key, output }) => [key, output])),
    new Map([
      ["s1", 14],
      ["s2", 20],
    ]),
  );
});

test("a subagent belongs to its session, and its progress in the session counts once", async () => {
  const at = place();
  const nested = { ...row("x", 3), requestId: "req_x" };
  const progress = {
    ...row("x", 3),
    message: undefined,
    type: "progress",
    data: { message: nested },
  };
  put(at.claude, "projects/p/s1.jsonl", [row("a", 5), progress]);
  put(at.claude, "projects/p/s1/subagents/agent-1.jsonl", [row("x", 80, { isSidechain: true })]);
  const { usage, sum } = await counted(at);
  assert.deepEqual([sum.responses, sum.output], [2, 85]);
  const groups = groupBy(
    usage,
    usage.chosen(days),
    byFile(usage, (file) => usage.sessionOf(file)),
  );
  assert.deepEqual(
    groups.map(({ key }) => key),
    ["s1"],
  );
});

test("totals stay when files are deleted, cut or written again", async () => {
  const at = place();
  const first = put(at.claude, "projects/p/s1.jsonl", [row("a", 5), row("b", 9)]);
  const second = put(at.claude, "projects/p/s2.jsonl", [row("c", 7)]);
  const before = await counted(at);
  rmSync(second);
  truncateSync(first, 10);
  assert.deepEqual((await counted(at)).sum, before.sum);
  writeFileSync(first, linesOf([row("d", 1)]));
  assert.equal((await counted(at)).sum.output, 22);
});

test("a session that grew is read from where it ended, and an unfinished line is read again", async () => {
  const at = place();
  const file = put(at.claude, "projects/p/s1.jsonl", [row("a", 5)]);
  const whole = JSON.stringify(row("b", 9));
  appendFileSync(file, whole.slice(0, 80));
  assert.equal((await counted(at)).sum.output, 5);
  appendFileSync(file, whole.slice(80));
  assert.equal((await counted(at)).sum.output, 14);
  appendFileSync(file, `\n${JSON.stringify(row("b", 12))}\n`);
  const grown = await counted(at);
  assert.deepEqual([grown.sum.responses, grown.sum.output, grown.changed], [2, 17, 1]);
  assert.equal((await counted(at)).changed, 0);
});

test("a ledger whose end was torn is cut there, and the rest is counted again", async () => {
  const at = place();
  const file = put(at.claude, "projects/p/s1.jsonl", [row("a", 5)]);
  await counted(at);
  appendFileSync(file, linesOf([row("b", 9)]));
  const before = await counted(at);
  const ledger = join(at.home, "usage", "ledger.bin");
  appendFileSync(ledger, "VBU1 half a pack");
  assert.deepEqual((await counted(at)).sum, before.sum);
  appendFileSync(file, linesOf([row("c", 1)]));
  assert.equal((await counted(at)).sum.output, 15);
  assert.equal((await counted(at)).sum.output, 15);
});

const meta = (id: string, more: object = {}, minute = 0) => ({
  timestamp: new Date(NOW + minute * 60_000).toISOString(),
  type: "session_meta",
  payload: {
    id,
    cwd: "/home/me/app",
    timestamp: new Date(NOW + minute * 60_000).toISOString(),
    ...more,
  },
});
const total = (input: number, output: number, minute: number) => ({
  timestamp: new Date(NOW + minute * 60_000).toISOString(),
  type: "event_msg",
  payload: {
    type: "token_count",
    info: {
      total_token_usage: {
        input_tokens: input,
        output_tokens: output,
        total_tokens: input + output,
      },
    },
  },
});

const UUID = "00000000-0000-4000-8000-00000000000";
const rollout = (n: number) => `sessions/2026/11/16/rollout-2026-11-16T12-00-00-${UUID}${n}.jsonl`;

test("a fork that repeats its parent's rows counts what it added, in either order of reading", async () => {
  for (const order of [
    [1, 2],
    [2, 1],
  ]) {
    const at = place();
    const rows: Record<number, object[]> = {
      1: [meta(`${UUID}1`), total(100, 10, 1), total(200, 20, 2), total(300, 30, 99)],
      2: [
        meta(`${UUID}2`, { forked_from_id: `${UUID}1` }, 50),
        meta(`${UUID}1`),
        total(100, 10, 50),
        total(200, 20, 50),
        total(260, 26, 60),
      ],
    };
    for (const n of order) {
      put(at.codex, rollout(n), rows[n] ?? []);
      await counted(at);
    }
    const { sum } = await counted(at);
    assert.deepEqual([sum.input, sum.output], [360, 36], String(order));
  }
});

test("two forks of a session that is gone count what both repeat once", async () => {
  // Older versions do not name the session: they repeat its description.
  for (const named of [{ forked_from_id: `${UUID}1` }, {}]) {
    const at = place();
    const copied = (minute: number) => [
      meta(`${UUID}1`),
      total(100, 10, minute),
      total(200, 20, minute),
    ];
    const first = [meta(`${UUID}2`, named, 50), ...copied(50), total(260, 26, 60)];
    const second = [meta(`${UUID}3`, named, 70), ...copied(70), total(290, 29, 80)];
    put(at.codex, rollout(3), second);
    put(at.codex, rollout(2), first);
    const { sum } = await counted(at);
    assert.deepEqual([sum.input, sum.output], [200 + 60 + 90, 20 + 6 + 9]);
    assert.deepEqual((await counted(at)).sum, sum);
  }
});

const turn = (id: string | null) => ({
  type: "turn_context",
  payload: { model: "gpt-5.5", ...(id === null ? {} : { turn_id: id }) },
});
const call = (id: string) => ({
  type: "response_item",
  payload: { type: "function_call", name: "shell", arguments: "{}", call_id: id },
});

test.each([
  ["turns", (name: string) => [turn(`turn ${name}`)]],
  ["tool calls", (name: string) => [turn(null), call(`call_${name}`)]],
])(
  "forks of a lost session that start at one moment count common %s once, and equal ones twice",
  async (_, begin) => {
    const at = place();
    const origin = { forked_from_id: `${UUID}1` };
    for (const fork of [2, 3]) {
      put(at.codex, rollout(fork), [
        meta(`${UUID}${fork}`, origin, 50),
        meta(`${UUID}1`),
        ...begin("a"),
        total(100, 10, 51), // Copies have the time of the copying.
        ...begin("b"),
        total(200, 20, 51),
        ...begin(`of fork ${fork}`),
        total(260, 26, 60), // Both forks really used this.
      ]);
    }
    const { sum } = await counted(at);
    assert.deepEqual([sum.input, sum.output], [200 + 60 + 60, 20 + 6 + 6]);
    assert.deepEqual((await counted(at)).sum, sum);
  },
);

test("a model without a price is listed with its tokens, and priced by the user's own file", async () => {
  const at = place();
  const unknown = row("a", 1_000_000);
  unknown.message.model = "my-model";
  put(at.claude, "projects/p/s1.jsonl", [unknown]);
  const before = (await counted(at)).sum;
  assert.deepEqual([before.cost, before.unpriced], [0, 1_000_110]);
  writeFileSync(
    join(at.home, "prices.json"),
    '{"my-*": {"input": 1, "output": 2, "cacheRead": 0}}',
  );
  const after = (await counted(at)).sum;
  assert.deepEqual([after.cost, after.unpriced], [2.00001, 0]);
});

test("a past figure stays when prices change, and repricing changes it", async () => {
  const at = place();
  const own = (output: number) =>
    writeFileSync(
      join(at.home, "prices.json"),
      JSON.stringify({ "claude-*": { input: 0, output } }),
    );
  put(at.claude, "projects/p/s1.jsonl", [row("a", 1_000_000)]);
  own(10);
  assert.equal((await counted(at)).sum.cost, 10);
  own(99);
  const kept = await counted(at);
  assert.equal(kept.sum.cost, 10);
  await kept.book.reprice(kept.usage.ledger.models);
  kept.usage.forgetRates();
  assert.equal(sumOf(kept.usage, kept.usage.chosen(days)).cost, 99);
  assert.equal((await counted(at)).sum.cost, 99);
});

test("the end of a turn counts instead of its messages, the session's end what turns lack", async () => {
  const home = tempDirectory();
  const store = new Store(nodeHost, {
    dialect: "rye",
    root: home,
    agent: "hello",
    onWarning: () => {},
  });
  const usage = (inputTokens: number) => ({
    inputTokens,
    outputTokens: 0,
    totalTokens: inputTokens,
    spend: 0.5,
  });
  const write = async (id: string, ends: readonly number[]) => {
    const session = store.session(id);
    await session.append({ kind: "start", model: "model-a" });
    for (const tokens of ends) {
      await session.append({ kind: "turn_start" });
      await session.append({ kind: "turn_end", usage: usage(tokens) });
    }
    await session.append({ kind: "end", outcome: "completed", usage: usage(1_000) });
    await session.close();
  };
  await write("both-1", [100, 200]);
  await write("alone-2", []);
  const { usage: all } = await openUsage(nodeHost, {
    cwd: home,
    nowMs: NOW,
    stores: [{ dialect: "rye", root: home }],
    directory: join(home, "usage"),
    ownPath: join(home, "prices.json"),
    onFailure: (id) => assert.fail(id),
  });
  const groups = groupBy(
    all,
    all.chosen(days),
    byFile(all, ({ id }) => id),
  );
  assert.deepEqual(
    new Map(groups.map(({ key, input, recorded }) => [key, [input, recorded]])),
    new Map([
      ["both-1", [1_000, 1]],
      ["alone-2", [1_000, 0.5]],
    ]),
  );
});
