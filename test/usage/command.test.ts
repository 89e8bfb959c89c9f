/** `verbatim usage`, as a user runs it. */

import assert from "node:assert/strict";
import {
  appendFileSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  rmSync,
  writeFileSync,
} from "node:fs";
import { basename, dirname, join } from "node:path";
import { expect, test } from "vitest";
import { CliUser } from "../cli/cli.ts";

const row = (id: string, minutesAgo: number, more: object = {}) =>
  `${JSON.stringify({
    type: "assistant",
    sessionId: "s1",
    cwd: "/home/me/app",
    requestId: `r-${id}`,
    uuid: id,
    timestamp: new Date(Date.now() - minutesAgo * 60_000).toISOString(),
    message: {
      id,
      role: "assistant",
      model: "claude-opus-4-5-20251101",
      ...more,
      usage: { input_tokens: 0, output_tokens: 40_000 },
    },
  })}\n`;

const prompt = (text: string, minutesAgo: number) =>
  `${JSON.stringify({
    type: "user",
    sessionId: "s1",
    cwd: "/home/me/app",
    uuid: text,
    timestamp: new Date(Date.now() - minutesAgo * 60_000).toISOString(),
    message: { role: "user", content: text },
  })}\n`;

/** A time zone in which it is about noon now: today does not end during a test. */
const HOURS_TO_NOON = 12 - new Date().getUTCHours();
const ZONE = `Etc/GMT${HOURS_TO_NOON <= 0 ? "+" : "-"}${Math.abs(HOURS_TO_NOON)}`;

/** One response costs a dollar. */
function userWith(...rows: readonly string[]): { user: CliUser; path: string } {
  const user = new CliUser();
  const path = join(user.home, ".claude/projects/-home-me-app/s1.jsonl");
  mkdirSync(dirname(path), { recursive: true });
  writeFileSync(path, rows.join(""));
  return { user, path };
}

test("the glance has the cost of today and of this month", async () => {
  const { user } = userWith(row("a", 0), row("b", 0), row("b", 0));
  const { code, stdout, stderr } = await user.run(["usage", "--tz", ZONE]);
  assert.deepEqual([code, stderr], [0, ""]);
  expect(stdout).toMatch(/today +\$2\.00 +80\.0k/);
  expect(stdout).toMatch(/this month +\$2\.00/);
});

test("what a fork or an imported copy repeats counts once, for the original", async () => {
  const { user } = userWith(prompt("one", 3), row("msg_1", 2), prompt("two", 1), row("msg_2", 0));
  const answer = {
    kind: "message",
    role: "assistant",
    parts: [{ type: "text", text: "yes" }],
    model: "claude-opus-4-5-20251101",
    usage: { inputTokens: 0, outputTokens: 40_000 },
  };
  const ask = { kind: "message", role: "user", parts: [{ type: "text", text: "go" }] };
  const entries = [ask, { ...answer, messageId: "msg_3" }, ask, answer];
  const input = entries.map((each) => `${JSON.stringify(each)}\n`).join("");
  const runs: [string[], string?][] = [
    [["record", "--session", "z1", "--sign"], input],
    [["resume", "z1", "--for", "anthropic", "--up-to", "2", "--record"]],
    [["export", "--format", "bundle", "s1", "--output", "s1.vbx"]],
    [["import", "s1.vbx"]],
    [["import", "s1.vbx", "--dialect", "entire"]],
  ];
  for (const [args, given = ""] of runs) {
    const { code, stderr } = await user.run(args, { input: given });
    assert.equal(code, 0, `${args}: ${stderr}`);
    assert.equal((await user.run(["usage"])).code, 0); // The next count adds to kept sums.
  }
  const { rows, totals } = JSON.parse((await user.run(["usage", "session", "--json"])).stdout);
  const costs = rows.map(({ session, cost }: Record<string, unknown>) => [session, cost]);
  assert.deepEqual([totals.cost, ...costs.sort()], [4, ["s1", 2], ["z1", 2]]);
  expect((await user.run(["usage", "--tz", ZONE])).stdout).toMatch(/this month +\$4\.00/);
});

test("each report is text, JSON and comma-separated values, with the same cost", async () => {
  const { user } = userWith(row("a", 0), row("b", 0));
  const reports = ["daily", "weekly", "monthly", "session", "project", "model", "agent", "blocks"];
  for (const report of reports) {
    const text = await user.run(["usage", report]);
    assert.deepEqual([text.code, text.stderr], [0, ""], report);
    expect(text.stdout, report).toContain("$2.00");
    const json = JSON.parse((await user.run(["usage", report, "--json"])).stdout);
    assert.equal(json.totals.cost, 2, report);
    const csv = await user.run(["usage", report, "--csv"]);
    assert.equal(csv.stdout.trim().split("\r\n").length, json.rows.length + 1, report);
  }
});

test("usage session names each session by its title, and on a terminal by its shortest id", async () => {
  const { user, path } = userWith(prompt("Make the well deeper", 0), row("a", 1));
  const id = basename(path, ".jsonl");
  const line = (name: string) => new RegExp(`^${name} +Make the well deeper +.*\\$1.00`, "m");
  expect((await user.run(["usage", "session"])).stdout).toMatch(line(id));
  const { shown } = await user.atTerminal(["usage", "session"], {});
  expect(shown.slice(shown.lastIndexOf("\u001b[K") + 3)).toMatch(line(id.slice(0, 8)));
  rmSync(path);
  expect((await user.run(["usage", "session"])).stdout).toContain(id);
});

test("totals stay when the agent deletes its files", async () => {
  const { user, path } = userWith(row("a", 1));
  await user.run(["usage"]);
  rmSync(path);
  expect((await user.run(["usage", "--tz", ZONE])).stdout).toMatch(/today +\$1\.00/);
});

test("what usage keeps has no text of a session, neither plain nor as base64", async () => {
  const { user, path } = userWith(row("a", 0), prompt("the password is hunter2-swordfish", 0));
  assert.equal((await user.run(["usage"])).code, 0);
  appendFileSync(path, prompt("the next one is swordfish-hunter2", 0)); // Only this is read.
  assert.equal((await user.run(["usage"])).code, 0);
  const folder = join(user.home, ".local/share/verbatim/usage");
  const files = readdirSync(folder).map((name) => readFileSync(join(folder, name), "latin1"));
  expect(files.join("").length).toBeGreaterThan(100);
  // Base64 of a part depends on where it begins, modulo 3.
  const secrets = ["hunter2", "unter2-", "nter2-s", "swordfi", "wordfis", "ordfish"];
  const encoded = secrets.map((part) => Buffer.from(part).toString("base64").slice(0, 8));
  for (const part of [...secrets, ...encoded]) expect(files.join("")).not.toContain(part);
});

test("a model without a known price is never priced at nothing", async () => {
  const { user } = userWith(row("a", 1, { model: "my-model" }));
  const { stdout, stderr } = await user.run(["usage", "model"]);
  expect(stdout).toMatch(/my-model .*unknown/);
  expect(stderr).toMatch(/no price is known for my-model: 40,000 tokens are not in the cost/);
  const json = JSON.parse((await user.run(["usage", "model", "--json"])).stdout);
  assert.equal(json.rows[0].cost, null);
});

test("a budget that is exceeded is exit code 1", async () => {
  const { user } = userWith(row("a", 0), row("b", 0));
  assert.equal((await user.run(["usage", "--budget", "2/day", "--tz", ZONE])).code, 0);
  const over = await user.run(["usage", "--budget", "1.5/month", "--tz", ZONE]);
  assert.deepEqual([over.code, over.stdout], [1, "$2.00 of $1.50 this month: over budget\n"]);
});

test("an explanation names each duplicate and the table of the prices", async () => {
  const { user, path } = userWith(row("a", 9));
  await user.run(["usage"]);
  writeFileSync(join(dirname(path), "s2.jsonl"), row("a", 9) + row("b", 1));
  const { stdout } = await user.run(["usage", "--explain", "s2"]);
  expect(stdout).toContain("ignored: same message id as in -home-me-app/s1; counted there");
  expect(stdout).toContain("session s2: $1.00");
  expect(stdout).toMatch(/claude-opus-4-5-20251101: prices of genai-prices \S+ [0-9a-f]{16}/);
});

test("an explanation lists the rows of one message singly, with why all but one are ignored", async () => {
  const { user } = userWith(row("a", 9), row("a", 9), row("a", 9));
  const { stdout } = await user.run(["usage", "--explain", "s1"]);
  const reason = "ignored: same message id; the largest of each count is counted";
  assert.equal(stdout.split(reason).length - 1, 2);
  expect(stdout).toContain("the largest of each count in 3 rows");
  expect(stdout).toContain("session s1: $1.00");
});

test("an explanation has each prompt with the cost of the subagents that it started", async () => {
  const { user, path } = userWith(prompt("Build it", 9), row("a", 8), prompt("Thanks", 2));
  const folder = join(dirname(path), "s1/subagents");
  mkdirSync(folder, { recursive: true });
  writeFileSync(join(folder, "agent-1.jsonl"), row("x", 7) + row("y", 1));
  const { stdout } = await user.run(["usage", "--explain", "s1"]);
  expect(stdout).toMatch(/Build it +3 +1 +120,000 +\$3\.00\n/);
  expect(stdout).not.toContain("Thanks");
  const { prompts } = JSON.parse((await user.run(["usage", "--explain", "s1", "--json"])).stdout);
  assert.equal(prompts.length, 1);
  const [{ at: _, ...first }] = prompts;
  assert.deepEqual(first, {
    start: 0,
    text: "Build it",
    cost: 3,
    tokens: 120_000,
    responses: 3,
    subagents: 1,
  });
});

test("days, agents and projects can be chosen", async () => {
  const { user } = userWith(row("a", 1), row("b", 3 * 24 * 60));
  const cost = async (...args: string[]) =>
    JSON.parse((await user.run(["usage", "daily", "--json", "--tz", ZONE, ...args])).stdout).totals
      .cost;
  assert.equal(await cost(), 2);
  assert.equal(await cost("--since", "1d"), 1);
  assert.equal(await cost("--until", "1d"), 1);
  assert.equal(await cost("--agent", "claude code"), 2);
  assert.equal(await cost("--agent", "codex"), 0);
  assert.equal(await cost("--project", "app"), 2);
  assert.equal(await cost("--project", "/home/me"), 2);
  assert.equal(await cost("--project", "other"), 0);
});

test("usage of rye's threads is summed by directive, also of threads that are gone", async () => {
  const user = new CliUser();
  const spent = (id: string, directive: string, output: number) => {
    const at = { ts: "2026-11-10T00:00:00.000000Z", thread_id: id, directive };
    const tokens = { input_tokens: 100, output_tokens: output };
    const lines = [
      { ...at, type: "thread_start", model: "claude-opus-4-5" },
      { ...at, type: "step_start" },
      { ...at, type: "step_finish", tokens, cost: { spend: 0.5 } },
    ];
    put(user, id, "transcript.jsonl", lines.map((line) => `${JSON.stringify(line)}\n`).join(""));
    put(user, id, "thread.json", JSON.stringify({ thread_id: id, directive, status: "completed" }));
  };
  spent("deploy-1", "deploy", 5);
  spent("deploy-2", "deploy", 6);
  spent("of-its-own", "hello", 7);
  const run = ["usage", "directive", "--agent", "rye", "--json"];
  const outputs = async () => {
    const { rows } = JSON.parse((await user.run(run)).stdout);
    const named = rows.map((each: Record<string, unknown>) => [each.directive, each.output]);
    return Object.fromEntries(named);
  };
  assert.deepEqual(await outputs(), { deploy: 11, hello: 7 });
  rmSync(join(user.cwd, ".ai/threads/deploy-2"), { recursive: true });
  assert.deepEqual(await outputs(), { deploy: 11, hello: 7 });
});

function put(user: CliUser, thread: string, name: string, text: string): void {
  const path = join(user.cwd, ".ai/threads", thread, name);
  mkdirSync(dirname(path), { recursive: true });
  writeFileSync(path, text);
}

test("the status line has the cost of the session and of today, and the time that is left", async () => {
  const { user, path } = userWith(row("a", 2), row("b", 0));
  await user.run(["usage"]);
  const input = JSON.stringify({ session_id: "s1", transcript_path: path });
  const { code, stdout } = await user.run(["usage", "statusline"], { input, isOwnProcess: true });
  assert.equal(code, 0);
  expect(stdout).toMatch(/^\$2\.00 session · \$[12]\.00 today · \dh \d+m left · \$[\d.]+\/h\n$/);
  const nothing = await user.run(["usage", "statusline"], {
    input: "not JSON",
    isOwnProcess: true,
  });
  expect(nothing.stdout).toMatch(/^\$[12]\.00 today/);
});

test("wrong usage is refused", async () => {
  const user = new CliUser();
  for (const args of [["yearly"], ["--since", "soon"], ["--budget", "20"], ["--json", "--csv"]]) {
    assert.equal((await user.run(["usage", ...args])).code, 2, args.join(" "));
  }
});
