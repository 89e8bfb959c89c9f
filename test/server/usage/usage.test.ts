/** Usage over HTTP: the sums, what is dear, what is unknown, and while sessions are counted. */

import assert from "node:assert/strict";
import { execFileSync } from "node:child_process";
import { rmSync } from "node:fs";
import { join } from "node:path";
import { monitorEventLoopDelay } from "node:perf_hooks";
import { onTestFinished, test } from "vitest";
import type { UsageOptions, UsageReport, VerbatimClient } from "../../../src/doors/client.ts";
import { SESSION_LIMITS } from "../../../src/server/sessions/session-limits.ts";
import { CliUser } from "../../cli/cli.ts";
import { answerRow, callOf, promptRow, writeClaude } from "../../support/agent-home.ts";
import { until } from "../../support/until.ts";
import { browserClient, linkOf } from "../auth/browser-user.ts";
import { newUser } from "../sessions/served.ts";
import { refused, startTestServer } from "../test-server.ts";

const DAY_MS = 86_400_000;
/** Noon, so that minutes before and after are of the same day in UTC. */
const TODAY = new Date().setUTCHours(0, 0, 0, 0);
const at = (minute: number, daysAgo = 0) => TODAY - daysAgo * DAY_MS + minute * 60_000;
const dayOf = (daysAgo: number) => new Date(at(0, daysAgo)).toISOString().slice(0, 10);

function homeOf(): string {
  const { home } = newUser();
  const before = process.env.HOME;
  process.env.HOME = home;
  onTestFinished(() => {
    process.env.HOME = before;
  });
  return home;
}

async function served(limits: Partial<typeof SESSION_LIMITS> = {}): Promise<VerbatimClient> {
  const sessions = { ...SESSION_LIMITS, freshMs: 0, usageWaitMs: 300_000, ...limits };
  const server = await startTestServer({ roots: "found", sessions });
  return browserClient(server.url, linkOf(server.running));
}

const utc = { tz: "UTC" } as const;
const names = (groups: readonly { name: string; cost: number | null }[]) =>
  groups.map(({ name, cost }) => [name, cost]);

test("cost and tokens are summed by day, agent, project, model and session", async () => {
  const home = homeOf();
  writeClaude(home, "-a/s1.jsonl", [answerRow("a", { at: at(1) }), answerRow("a", { at: at(1) })]);
  const other = { session: "s2", cwd: "/home/me/other" };
  writeClaude(home, "-b/s2.jsonl", [
    answerRow("b", { ...other, at: at(1, 3) }),
    answerRow("c", { ...other, at: at(2, 3), costUSD: 0.5 }),
  ]);
  const client = await served();
  const report = await client.usage({ ...utc, by: "project" });
  assert.deepEqual(
    [report.total.cost, report.total.total, report.total.responses],
    [2.5, 120_000, 3],
  );
  assert.deepEqual([report.total.recorded, report.total.priced], [0.5, 3]);
  assert.deepEqual(names(report.days), [
    [dayOf(3), 1.5] as const,
    [dayOf(2), 0] as const,
    [dayOf(1), 0] as const,
    [dayOf(0), 1] as const,
  ]);
  assert.deepEqual(names(report.agents), [["Claude Code", 2.5]]);
  assert.deepEqual(names(report.projects), [
    ["/home/me/other", 1.5],
    ["/home/me/app", 1],
  ]);
  assert.deepEqual(names(report.models), [["claude-opus-4-5-20251101", 2.5]]);
  assert.deepEqual(names(report.sessions), [
    ["s2", 1.5],
    ["s1", 1],
  ]);
  assert.deepEqual(
    report.series.map(({ name, cost, total }) => [name, cost, total]),
    [
      ["/home/me/other", [1.5, 0, 0, 0], [80_000, 0, 0, 0]],
      ["/home/me/app", [0, 0, 0, 1], [0, 0, 0, 40_000]],
    ],
  );
  assert.deepEqual(report.calendar, [
    { day: dayOf(3), cost: 1.5, total: 80_000 },
    { day: dayOf(0), cost: 1, total: 40_000 },
  ]);
  assert.deepEqual([report.isComplete, report.counting, report.isCut], [true, null, false]);
  const cost = async (options: UsageOptions) =>
    (await client.usage({ ...utc, ...options })).total.cost;
  assert.equal(await cost({ since: dayOf(1) }), 1);
  assert.equal(await cost({ until: dayOf(1) }), 1.5);
  assert.equal(await cost({ agent: "claude code" }), 2.5);
  assert.equal(await cost({ agent: "codex" }), 0);
  assert.equal(await cost({ project: "other" }), 1.5);
  const week = await client.usage({ ...utc, since: dayOf(6), until: "2999-01-01" });
  assert.deepEqual([week.days.length, week.days.at(-1)?.name], [7, dayOf(0)]);
});

test("parts add up to the total, and the cache hit rate is of all input", async () => {
  const home = homeOf();
  const usage = {
    input_tokens: 100,
    output_tokens: 7,
    cache_read_input_tokens: 600,
    cache_creation_input_tokens: 300,
  };
  writeClaude(home, "-a/s1.jsonl", [answerRow("a", { at: at(1), usage })]);
  const { total, cacheHitRate } = await (await served()).usage(utc);
  const { input, output, cacheWrite5m, cacheWrite1h, cacheRead } = total;
  assert.equal(input + output + cacheWrite5m + cacheWrite1h + cacheRead, total.total);
  assert.deepEqual([total.total, cacheHitRate], [1_007, 0.6]);
});

test("the most expensive prompts have their subagents, and link to their place", async () => {
  const home = homeOf();
  writeClaude(home, "-a/s1.jsonl", [
    promptRow("Small", { at: at(1) }),
    answerRow("a", { at: at(2) }),
    promptRow("Large", { at: at(3) }),
    answerRow("b", { at: at(4) }),
  ]);
  writeClaude(home, "-a/s1/subagents/agent-1.jsonl", [answerRow("x", { at: at(5) })]);
  const client = await served();
  const { prompts, sessions } = await client.usage(utc);
  assert.deepEqual(
    prompts.map(({ text, cost, subagents }) => [text, cost, subagents]),
    [
      ["Large", 2, 1],
      ["Small", 1, 0],
    ],
  );
  assert.deepEqual([sessions.length, sessions[0]?.cost, sessions[0]?.title], [1, 3, "Small"]);
  const [first] = prompts;
  const id = first?.session ?? assert.fail();
  const page = await client.sessions.entries(id, { around: first?.start ?? -1, limit: 1 });
  assert.match(JSON.stringify(page.entries), /Large/);
  assert.equal(sessions[0]?.session, id);
});

test("a model without a price is listed with its tokens, and its cost is null", async () => {
  const home = homeOf();
  const model = '<img src=x onerror=alert(1)>"\u202e';
  writeClaude(home, "-a/s1.jsonl", [answerRow("a", { at: at(1), model })]);
  const client = await served();
  const { total, models, prices } = await client.usage(utc);
  assert.deepEqual([total.cost, total.unpriced], [null, 40_000]);
  assert.deepEqual([models[0]?.name, models[0]?.cost, models[0]?.unpriced], [model, null, 40_000]);
  assert.match(`${prices.table} ${prices.date}`, /^genai-prices [\d.]+ \d{4}-\d\d-\d\d$/);
  assert.deepEqual([prices.models[0]?.model, prices.models[0]?.hash], [model, null]);
});

test("a known price names its table and the hash of its list", async () => {
  const home = homeOf();
  writeClaude(home, "-a/s1.jsonl", [answerRow("a", { at: at(1) })]);
  const { prices } = await (await served()).usage(utc);
  assert.match(
    `${prices.models[0]?.table} ${prices.models[0]?.hash}`,
    /^genai\S+ \S+ [0-9a-f]{16}$/,
  );
});

test("deleted sessions still count, without a link; no day is after today", async () => {
  const home = homeOf();
  const future = answerRow("f", { at: at(1, -400) });
  const path = writeClaude(home, "-a/s1.jsonl", [answerRow("a", { at: at(1) }), future]);
  const client = await served();
  await client.usage(utc);
  rmSync(path);
  const { total, sessions, days, outside, isComplete } = await client.usage(utc);
  assert.deepEqual([total.cost, outside.cost, isComplete], [2, 1, true]);
  assert.equal(sessions[0]?.title, null);
  assert.deepEqual(names(days), [[dayOf(0), 1]]);
});

test("costs of a session are those of `usage session`, by prompt and by call", async () => {
  const home = homeOf();
  const two = [callOf("t1"), callOf("t2")];
  writeClaude(home, "-a/s1.jsonl", [
    promptRow("First", { at: at(1) }),
    answerRow("a", { at: at(2), content: [callOf("t0")] }),
    answerRow("b", { at: at(3), content: two }),
  ]);
  writeClaude(home, "-a/s1/subagents/agent-1.jsonl", [answerRow("x", { at: at(4) })]);
  const client = await served();
  const { sessions } = await client.sessions.list();
  const id = (name: string) => sessions.find(({ session }) => session.endsWith(name))?.id ?? "";
  const costs = await client.sessions.costs(id("/s1"));
  assert.deepEqual([costs.total.cost, costs.total.total, costs.subagents], [3, 120_000, 1]);
  assert.deepEqual(
    costs.prompts.map(({ start, cost, subagents }) => [start, cost, subagents]),
    [[0, 3, 1]],
  );
  assert.deepEqual(
    costs.calls.map(({ cost, calls }) => [cost, calls]),
    [
      [1, 1],
      [1, 2],
    ],
  );
  const subagent = await client.sessions.costs(id("agent-1"));
  assert.equal(subagent.total.cost, 1);
});

test("a session's total over HTTP is that of `verbatim usage session --json`", async () => {
  const home = homeOf();
  writeClaude(home, "-a/s1.jsonl", [
    promptRow("First", { at: at(1) }),
    answerRow("a", { at: at(2) }),
    answerRow("a", { at: at(2) }),
    answerRow("b", { at: at(3) }),
  ]);
  writeClaude(home, "-a/s1/subagents/agent-1.jsonl", [answerRow("x", { at: at(4) })]);
  writeClaude(home, "-a/s2.jsonl", [answerRow("c", { session: "s2", at: at(5) })]);
  const client = await served();
  const { sessions } = await client.sessions.list();
  const { id = "" } = sessions.find(({ session }) => session.endsWith("/s1")) ?? {};
  const { total } = await client.sessions.costs(id);
  const { stdout } = await new CliUser(home).run(["usage", "session", "--json"]);
  const { rows } = JSON.parse(stdout) as { rows: Record<string, unknown>[] };
  const row = rows.find((each) => Object.values(each).includes("s1"));
  assert.equal(total.cost, 3);
  const shared = Object.keys(total).filter((name) => row !== undefined && name in row);
  assert.ok(shared.includes("cost") && shared.length >= 5, shared.join(" "));
  for (const name of shared) assert.deepEqual(total[name as "cost"], row?.[name], name);
});

test("costs in parts are the same as all at once", async () => {
  const home = homeOf();
  const rows = Array.from({ length: 5 }, (_, n) => [
    promptRow(`Prompt ${n}`, { at: at(2 * n + 1) }),
    answerRow(`m${n}`, { at: at(2 * n + 2) }),
  ]);
  writeClaude(home, "-a/s1.jsonl", [answerRow("before", { at: at(0) }), ...rows.flat()]);
  const client = await served();
  const [{ id = "" } = {}] = (await client.sessions.list()).sessions;
  const all = await client.sessions.costs(id, { columns: true });
  assert.equal(all.prompts.length, 6);
  assert.equal(all.prompts[0]?.start, null);
  assert.equal(all.next, null);
  const priced = all.prompts.filter(({ start }) => start !== null);
  assert.deepEqual(all.columns, {
    start: priced.map(({ start }) => start),
    cost: priced.map(({ cost }) => cost),
  });
  const prompts: unknown[] = [];
  const calls: unknown[] = [];
  for (let from: number | null = 0; from !== null; ) {
    const part = await client.sessions.costs(id, { from, limit: 2 });
    assert.ok(part.prompts.length + part.calls.length <= 2);
    assert.deepEqual([part.total, part.columns], [all.total, null]);
    prompts.push(...part.prompts);
    calls.push(...part.calls);
    from = part.next;
  }
  assert.deepEqual([prompts, calls], [all.prompts, all.calls]);
  await assert.rejects(client.sessions.costs(id, { limit: 0 }), /limit must be/);
});

test("wrong parameters are refused, and the answer says what they must be", async () => {
  homeOf();
  const client = await served();
  for (const [options, said] of [
    [{ since: "soon" }, /since must be a day/],
    [{ tz: "Atlantis/Center" }, /tz must be a time zone/],
    [{ by: "colour" as "model" }, /by must be one of/],
    [{ limit: 0 }, /limit must be/],
  ] as const) {
    await assert.rejects(client.usage(options), said);
  }
});

test("a server with chosen directories counts these only, in a ledger of its own", async () => {
  const home = homeOf();
  writeClaude(home, "-a/s1.jsonl", [answerRow("a", { at: at(1) })]);
  await (await served()).usage(utc);
  const project = join(home, "project");
  execFileSync("mkdir", ["-p", join(project, ".ai/threads")]);
  const sessions = { ...SESSION_LIMITS, usageWaitMs: 300_000 };
  const server = await startTestServer({ roots: [project], sessions });
  const report = (await (await fetch(`${server.url}/v1/usage`)).json()) as UsageReport;
  assert.deepEqual([report.total.responses, report.sessions.length], [0, 0]);
});

test("while sessions are counted, the answer says how far it is, and nothing waits for it", async () => {
  const home = homeOf();
  const rows = Array.from({ length: 400 }, (_, n) => promptRow("x".repeat(2_000), { at: at(n) }));
  for (let n = 0; n < 60; n++) {
    const answers = [answerRow(`a${n}`, { session: `s${n}`, at: at(1) })];
    writeClaude(home, `-a/s${n}.jsonl`, [...rows, ...answers]);
  }
  const client = await served({ usageWaitMs: 0 });
  const delay = monitorEventLoopDelay({ resolution: 10 });
  delay.enable();
  let report = await client.usage(utc);
  assert.deepEqual([report.isComplete, report.counting !== null], [false, true]);
  while (report.counting !== null) report = await client.usage(utc);
  delay.disable();
  assert.equal(report.total.cost, 60);
  assert.ok(delay.max < 2e9, `the server did nothing else for ${delay.max / 1e6} ms`);
});

test("usage is complete in the end, even if its sums take all the time that a request waits", async () => {
  const home = homeOf();
  for (let n = 0; n < 5; n++) {
    writeClaude(home, `-a/s${n}.jsonl`, [
      promptRow(`Prompt ${n}`, { session: `s${n}`, at: at(0) }),
      answerRow(`a${n}`, { session: `s${n}`, at: at(1) }),
    ]);
  }
  const client = await served({ usageWaitMs: 0, freshMs: 300_000 });
  let report = await client.usage(utc);
  await until(async () => {
    report = await client.usage(utc);
    return report.isComplete;
  }, "that all prompts are found");
  assert.deepEqual(
    report.prompts.map(({ text }) => text).sort(),
    Array.from({ length: 5 }, (_, n) => `Prompt ${n}`),
  );
});

test("usage is private, as sessions are", async () => {
  homeOf();
  const server = await startTestServer({ roots: "found" });
  for (const path of ["/v1/usage", "/v1/tools", "/v1/sessions/x/costs"]) {
    const answer = await refused(await fetch(`${server.url}${path}`));
    assert.deepEqual(answer, [401, "TOKEN_REQUIRED"], path);
  }
});
