/**
 * Of every agent's samples, the list, the session, `usage` and the page have one total of tokens.
 *
 * `usage` counts subagents for the session that started them, and what a fork repeats for its origin.
 */

import assert from "node:assert/strict";
import { existsSync, mkdirSync, readFileSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { DatabaseSync } from "@photostructure/sqlite";
import { expect, onTestFinished, test } from "vitest";
import { SESSIONS } from "../../scripts/agent-samples/scenarios.mjs";
import type { Entry } from "../../src/core/model/entry.ts";
import { dialectNamed } from "../../src/dialects/all.ts";
import { READ_DIALECT_NAMES } from "../../src/dialects/registry.ts";
import { SESSION_LIMITS } from "../../src/server/sessions/session-limits.ts";
import type { SessionSummary } from "../../src/sessions/store/store-api.ts";
import { CliUser, jsonLines } from "../cli/cli.ts";
import { browserClient, linkOf } from "../server/auth/browser-user.ts";
import { newUser } from "../server/sessions/served.ts";
import { startTestServer } from "../server/test-server.ts";
import { copySamplesTo, sampleFolders } from "../support/samples.ts";

/** Forks with a copy of another session's rows: the beginning of their name, and the origin's. */
const FORKS: Readonly<Record<string, string>> = {
  [SESSIONS.fork]: SESSIONS.tools,
  "01a1ee02-3ffa": "01a1ee02-0263",
};

/** Those whose directories are in the home. */
const AGENTS = READ_DIALECT_NAMES.filter(
  (name) => sampleFolders(name).length > 0 && dialectNamed(name).program !== undefined,
);

interface Listed extends SessionSummary {
  readonly name: string;
}

/** A user whose only agent is this one, with its samples. */
function userWith(agent: string): CliUser {
  const { home } = newUser();
  const [root = ""] = copySamplesTo(home, [agent]);
  const dump = join(root, "opencode.sql");
  if (existsSync(dump)) {
    const database = new DatabaseSync(join(root, "opencode.db"));
    database.exec(readFileSync(dump, "utf8"));
    database.close();
  }
  return new CliUser(home);
}

/** The total that a reader of all entries gets. */
function totalIn(entries: readonly Entry[]): number {
  const tokens = ({ usage }: Entry) => {
    const { inputTokens, outputTokens, cacheReadTokens = 0, cacheWriteTokens = 0 } = usage ?? {};
    return (inputTokens ?? 0) + (outputTokens ?? 0) + cacheReadTokens + cacheWriteTokens;
  };
  const end = entries.findLast(({ kind, usage }) => kind === "end" && usage !== null);
  if (end) return tokens(end);
  const turns = entries.filter(({ kind, usage }) => kind === "turn_end" && usage !== null);
  const counted = turns.length > 0 ? turns : entries.filter(({ kind }) => kind === "message");
  const once = new Map(counted.map((entry, n) => [entry.messageId ?? n, entry]));
  return [...once.values()].reduce((sum, entry) => sum + tokens(entry), 0);
}

test.each(AGENTS)("ls, show, usage and the page have one total of %s", async (agent) => {
  const user = userWith(agent);
  const { stdout } = await user.run(["ls", "--json"]);
  const sessions = jsonLines(stdout) as unknown as Listed[];
  assert.ok(sessions.length > 0);
  for (const { id, totalTokens } of sessions) {
    const shown = await user.run(["show", id, "--json"]);
    assert.equal(totalIn(jsonLines(shown.stdout) as unknown as Entry[]), totalTokens ?? 0, id);
  }
  const expected = countedOf(sessions);
  const usage = JSON.parse((await user.run(["usage", "session", "--json"])).stdout);
  assert.deepEqual(totalsOf(usage.rows, "session"), expected);

  const client = await served(user.home);
  const report = await client.usage({ tz: "UTC" });
  assert.deepEqual(totalsOf(report.sessions, "name"), expected);
  for await (const item of client.sessions.all()) {
    const listed = sessions.find(({ id }) => id === item.session) ?? assert.fail(item.session);
    assert.equal(item.totalTokens, listed.totalTokens);
    const { total } = await client.sessions.costs(item.id);
    if (!item.parent) assert.equal(total.total, expected[listed.name] ?? 0, item.session);
  }
});

/** What `usage` is to say of each session, by the list. */
function countedOf(sessions: readonly Listed[]): Record<string, number> {
  const totals: Record<string, number> = {};
  const byId = new Map(sessions.map((session) => [session.id, session]));
  const isFork = ({ name }: Listed) => Object.keys(FORKS).some((fork) => name.startsWith(fork));
  for (const session of sessions) {
    let top = session;
    while (top.parent !== null && !isFork(top)) {
      top = byId.get(top.parent) ?? assert.fail(top.parent);
    }
    totals[top.name] = (totals[top.name] ?? 0) + (session.totalTokens ?? 0);
  }
  for (const [fork, origin] of Object.entries(FORKS)) {
    const [name, from] = [fork, origin].map((begin) => {
      return sessions.find((session) => session.name.startsWith(begin));
    });
    if (name && from) totals[name.name] = (totals[name.name] ?? 0) - (from.totalTokens ?? 0);
  }
  return Object.fromEntries(Object.entries(totals).filter(([, total]) => total > 0));
}

function totalsOf<Name extends string>(
  rows: readonly (Readonly<Record<Name, string>> & { readonly total: number })[],
  name: Name,
): Record<string, number> {
  return Object.fromEntries(rows.map((row) => [row[name], row.total]));
}

async function served(home: string) {
  const before = process.env.HOME;
  process.env.HOME = home;
  onTestFinished(() => {
    process.env.HOME = before;
  });
  const sessions = { ...SESSION_LIMITS, freshMs: 0, usageWaitMs: 300_000, listWaitMs: 300_000 };
  const server = await startTestServer({ roots: "found", sessions });
  return browserClient(server.url, linkOf(server.running));
}

/** A session of Copilot CLI before it wrote `session.usage_record`. */
function olderCopilot(user: CliUser, events: readonly object[]): void {
  const path = join(user.home, ".copilot/session-state/6f1c/events.jsonl");
  const lines = events.map((event, n) => {
    const timestamp = new Date(Date.parse("2026-11-10T10:00:00Z") + n * 1000).toISOString();
    return `${JSON.stringify({ id: `e${n}`, timestamp, ...event })}\n`;
  });
  mkdirSync(dirname(path), { recursive: true });
  writeFileSync(path, lines.join(""));
}

const answer = (messageId: string, model: string, outputTokens: number) => ({
  type: "assistant.message",
  data: { messageId, model, content: "Yes.", toolRequests: [], outputTokens },
});
const metrics = (inputTokens: number, outputTokens: number, cacheReadTokens: number) => ({
  usage: { inputTokens, outputTokens, cacheReadTokens, cacheWriteTokens: 0 },
});
const shutdown = (modelMetrics: object) => ({ type: "session.shutdown", data: { modelMetrics } });

test("of a resumed Copilot session every end counts, by model, and answers only once", async () => {
  const user = new CliUser();
  olderCopilot(user, [
    { type: "session.start", data: { context: { cwd: "/home/me/app" } } },
    answer("1", "gpt-5", 5),
    answer("2", "claude-haiku-4.5", 2),
    shutdown({ "gpt-5": metrics(1000, 5, 900), "claude-haiku-4.5": metrics(300, 2, 0) }),
    { type: "session.resume", data: {} },
    answer("3", "gpt-5", 7),
    shutdown({ "gpt-5": metrics(1200, 7, 1000) }),
  ]);
  const { stdout, stderr } = await user.run(["usage", "model", "--json"]);
  assert.equal(stderr, "");
  const { rows } = JSON.parse(stdout);
  const counts = ["responses", "input", "output", "cacheRead", "unknownInputs"];
  assert.deepEqual(
    rows.map((row: Record<string, unknown>) => [row.model, ...counts.map((name) => row[name])]),
    [
      ["gpt-5", 2, 300, 12, 1900, 0],
      ["claude-haiku-4.5", 1, 300, 2, 0, 0],
    ],
  );
  const [listed] = jsonLines((await user.run(["ls", "--json"])).stdout);
  assert.equal(listed?.totalTokens, 2514);
});

test("without an end, the input of a Copilot session is unknown, and not 0", async () => {
  const user = new CliUser();
  olderCopilot(user, [
    { type: "session.start", data: { context: { cwd: "/home/me/app" } } },
    answer("1", "gpt-5", 5),
    answer("2", "gpt-5", 2),
  ]);
  const json = JSON.parse((await user.run(["usage", "session", "--json"])).stdout);
  assert.deepEqual([json.rows[0].input, json.rows[0].output, json.totals.input], [null, 7, null]);
  const { stdout, stderr } = await user.run(["usage", "session"]);
  // What is known is the least: neither the tokens nor the cost are all.
  expect(stdout).toMatch(/6f1c +\/home\/me\/app +unknown +7 +0 +0 +7 \+ \? +\$0\.0001 \+ \?/);
  expect(stderr).toMatch(/the input of 2 responses was not recorded/);
  const [listed] = jsonLines((await user.run(["ls", "--json"])).stdout);
  assert.deepEqual([listed?.inputTokens, listed?.outputTokens], [null, 7]);
  assert.equal(listed?.totalTokens, json.rows[0].total);
  expect((await user.runInTerminal(["ls", "--sort", "tokens"])).replaceAll("\n", " ")).toContain(
    "7 + ?",
  );
});

test("a run of Copilot CLI that was killed after another one's end counts in both totals", async () => {
  const user = new CliUser();
  olderCopilot(user, [
    { type: "session.start", data: { context: { cwd: "/home/me/app" } } },
    answer("1", "gpt-5", 5),
    shutdown({ "gpt-5": metrics(1000, 5, 800) }),
    { type: "session.resume", data: {} },
    answer("2", "gpt-5", 7),
  ]);
  const { rows } = JSON.parse((await user.run(["usage", "session", "--json"])).stdout);
  assert.deepEqual([rows[0].total, rows[0].unknownInputs], [1012, 1]);
  const [listed] = jsonLines((await user.run(["ls", "--json"])).stdout);
  assert.equal(listed?.totalTokens, 1012);
});

test("a killed run of Copilot CLI counts what its records say", async () => {
  const user = userWith("copilot-cli");
  const path = join(user.home, `.copilot/session-state/${SESSIONS.tools}/events.jsonl`);
  const lines = readFileSync(path, "utf8").split("\n");
  const end = lines.findIndex((line) => line.startsWith('{"type":"session.shutdown"'));
  writeFileSync(path, `${lines.slice(0, end).join("\n")}\n`);
  const { stdout } = await user.run(["usage", "session", "--json"]);
  const { rows } = JSON.parse(stdout);
  const row = rows.find(({ session }: { session: string }) => session === SESSIONS.tools);
  assert.deepEqual(
    [row.input, row.output, row.cacheRead, row.cacheWrite5m],
    [1010, 180, 5100, 300],
  );
});
