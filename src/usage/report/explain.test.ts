import assert from "node:assert/strict";
import { existsSync, mkdirSync, rmSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { test } from "vitest";
import { tempDirectory } from "../../../test/support/temp-directory.ts";
import { nodeHost } from "../../core/base/node-host.ts";
import { openUsage } from "../open-usage.ts";
import { Days } from "./days.ts";
import { explainSession } from "./explain.ts";
import { sumOf } from "./groups.ts";

const NOW = Date.parse("2026-11-16T12:00:00Z");
const timeOf = (minute: number) => new Date(NOW - 3_600_000 + minute * 60_000).toISOString();

class Place {
  readonly home = tempDirectory();

  put(path: string, rows: readonly object[]): string {
    const full = join(this.home, path);
    mkdirSync(dirname(full), { recursive: true });
    writeFileSync(full, rows.map((row) => `${JSON.stringify(row)}\n`).join(""));
    return full;
  }

  async explain(session: string) {
    const stores = [
      { dialect: "claude-code", root: join(this.home, ".claude") },
      { dialect: "codex", root: join(this.home, ".codex") },
    ].filter(({ root }) => existsSync(root));
    const { usage } = await openUsage(nodeHost, {
      cwd: this.home,
      nowMs: NOW,
      stores,
      directory: join(this.home, "usage"),
      ownPath: join(this.home, "prices.json"),
      onFailure: (id) => assert.fail(id),
    });
    const rows = await explainSession(nodeHost, usage, session);
    const cost = rows.reduce((sum, row) => sum + (row.cost ?? 0), 0);
    return { rows, cost, counted: sumOf(usage, usage.chosen(new Days("UTC"))) };
  }
}

const row = (id: string, output: number, minute = 0, more: object = {}) => ({
  type: "assistant",
  sessionId: "s1",
  cwd: "/home/me/app",
  uuid: `u-${id}-${minute}`,
  timestamp: timeOf(minute),
  requestId: `r-${id}`,
  message: {
    id,
    role: "assistant",
    model: "claude-opus-4-5-20251101",
    content: [],
    usage: { input_tokens: 10, output_tokens: output, cache_read_input_tokens: 100 },
  },
  ...more,
});

const S1 = ".claude/projects/p/s1.jsonl";
const S2 = ".claude/projects/p/s2.jsonl";
const LARGEST = "same message id; the largest of each count is counted";

test("a message that was written block by block has each row, and all but one are ignored", async () => {
  const place = new Place();
  place.put(S1, [row("a", 1, 1), row("a", 7, 2), row("a", 3, 3), row("b", 20, 4)]);
  const { rows, cost, counted } = await place.explain("s1");
  assert.deepEqual(
    rows.map(({ counts, ignored }) => [counts.output, ignored]),
    [[1, LARGEST] as const, [7, null] as const, [3, LARGEST] as const, [20, null] as const],
  );
  assert.ok(rows[1]?.notes.includes("the largest of each count in 3 rows"));
  assert.equal(cost, counted.cost);
});

test("a row that another session has is ignored, and the other one is named", async () => {
  const place = new Place();
  place.put(S1, [row("a", 5, -9)]);
  await place.explain("s1");
  place.put(S2, [row("a", 5), row("c", 20, 0, { costUSD: 0.5 })]);
  const { rows } = await place.explain("s2");
  assert.deepEqual(
    rows.map(({ ignored, recorded }) => [ignored, recorded]),
    [
      ["same message id as in p/s1; counted there", null],
      [null, 0.5],
    ],
  );
  assert.equal(rows[1]?.cost, 0.5);
});

test("a subagent's progress in its session's log is ignored for the subagent's own row", async () => {
  const place = new Place();
  const own = row("x", 9, 1);
  const progress = { type: "progress", sessionId: "s1", data: { message: row("x", 2, 1) } };
  place.put(S1, [row("a", 5, 2), { ...progress, timestamp: timeOf(3) }]);
  place.put(".claude/projects/p/s1/subagents/agent-1.jsonl", [own]);
  const { rows, cost, counted } = await place.explain("s1");
  const ignored = rows.flatMap((each) => each.ignored ?? []);
  assert.equal(ignored.length, 1);
  assert.equal(rows.length, 3);
  assert.equal(cost, counted.cost);
});

test("responses of a log that is gone are explained from the ledger", async () => {
  const place = new Place();
  const path = place.put(S1, [row("a", 1, 1), row("a", 7, 2)]);
  await place.explain("s1");
  rmSync(path);
  const { rows, cost, counted } = await place.explain("s1");
  assert.deepEqual(
    rows.map(({ counts, ignored }) => [counts.output, ignored]),
    [[7, null]],
  );
  assert.ok(rows[0]?.notes.includes("no longer in a log"));
  assert.equal(cost, counted.cost);
  assert.ok(cost > 0);
});

test("responses that a rewritten log no longer has are explained from the ledger", async () => {
  const place = new Place();
  place.put(S1, [row("a", 1, 1), row("b", 7, 2)]);
  await place.explain("s1");
  place.put(S1, [row("b", 7, 2), row("c", 8, 3)]);
  const { rows, cost, counted } = await place.explain("s1");
  assert.deepEqual(
    rows.map(({ counts, notes }) => [counts.output, notes.includes("no longer in a log")]),
    [
      [7, false],
      [8, false],
      [1, true],
    ],
  );
  assert.equal(cost, counted.cost);
});

test("a total that Codex repeats is listed, and adds nothing", async () => {
  const place = new Place();
  const id = "0199a1b2-0000-7000-8000-000000000001";
  const total = (input: number, minute: number) => ({
    timestamp: timeOf(minute),
    type: "event_msg",
    payload: {
      type: "token_count",
      info: {
        total_token_usage: { input_tokens: input, output_tokens: 1, total_tokens: input + 1 },
        last_token_usage: { input_tokens: 50, output_tokens: 1, total_tokens: 51 },
      },
    },
  });
  place.put(`.codex/sessions/2026/11/16/rollout-2026-11-16T11-00-00-${id}.jsonl`, [
    { timestamp: timeOf(0), type: "session_meta", payload: { id, cwd: "/home/me/app" } },
    { timestamp: timeOf(0), type: "turn_context", payload: { model: "gpt-5" } },
    total(50, 1),
    total(50, 2),
    total(100, 3),
  ]);
  const { rows, cost, counted } = await place.explain(id);
  assert.deepEqual(
    rows.map(({ ignored }) => ignored),
    [null, "the same total again: nothing was added", null],
  );
  assert.equal(cost, counted.cost);
});

test("web searches cost what the table says, in the explanation as in the sum", async () => {
  const place = new Place();
  const searched = row("a", 5, 1);
  const usage = { ...searched.message.usage, server_tool_use: { web_search_requests: 3 } };
  place.put(S1, [{ ...searched, message: { ...searched.message, usage } }, row("b", 5, 2)]);
  const { rows, cost, counted } = await place.explain("s1");
  assert.ok(rows[0]?.notes.includes("3 web searches, $10 per 1,000"));
  assert.ok(Math.abs((rows[0]?.cost ?? 0) - (rows[1]?.cost ?? 0) - 0.03) < 1e-9);
  assert.equal(cost, counted.cost);
});
