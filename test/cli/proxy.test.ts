/** `verbatim proxy`: one line in front of a program, and what people then see. */

import assert from "node:assert/strict";
import { mkdirSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { test } from "vitest";
import { answerRow, OPUS, promptRow, writeClaude } from "../support/agent-home.ts";
import { anthropicJson, modelServer, responsesJson } from "../support/model-server.ts";
import { sessionsIn } from "../wire/recorded-proxy.ts";
import { CliUser } from "./cli.ts";

/** A program that knows no SDK: prints the answer, and exits with 3. */
const PROGRAM = `
const headers = JSON.parse(process.argv[2] ?? "{}");
const tools = [{ name: "look" }];
const body = JSON.stringify({ model: "m", tools, messages: [{ role: "user", content: "Hello" }] });
const url = process.env.ANTHROPIC_BASE_URL + "/v1/messages";
const answer = await fetch(url, { method: "POST", body, headers });
console.log((await answer.json()).content?.[0].text, process.env.OPENAI_BASE_URL.includes("127.0.0.1"));
process.exitCode = 3;
`;

function program(user: CliUser): string {
  const path = join(user.cwd, "program.mjs");
  writeFileSync(path, PROGRAM);
  return path;
}

test("a command runs with the proxy's addresses, and its code is the exit code", async () => {
  const model = await modelServer(() => ({ body: anthropicJson("Hi.") }));
  const user = new CliUser();
  const args = ["proxy", "--sign", "--", process.execPath, program(user)];
  const env = { ANTHROPIC_BASE_URL: model.url };
  const ran = await user.run(args, { env, isOwnProcess: true });
  assert.deepEqual([ran.code, ran.stdout], [3, "Hi. true\n"]);
  assert.match(ran.stderr, /^verbatim: 1 call recorded in /);

  const verified = await user.run(["verify", "last", "--root", user.cwd]);
  assert.deepEqual([verified.code, verified.stdout.includes("verified: 1 turn")], [0, true]);
  const [session] = await sessionsIn(user.cwd);
  assert.deepEqual(session?.said, ["user: Hello", "assistant: Hi."]);
});

test("the session that Claude Code names is listed once, costed once, and continued later", async () => {
  const json = anthropicJson("Hi.", { model: OPUS });
  const { id } = JSON.parse(json);
  const model = await modelServer(() => ({ body: json }));
  const user = new CliUser();
  const named = JSON.stringify({ "x-claude-code-session-id": "s1" });
  const env = { ANTHROPIC_BASE_URL: model.url };
  const args = ["proxy", "--", process.execPath, program(user), named];
  for (const _ of [1, 2]) await user.run(args, { env, isOwnProcess: true });
  const sessions = await sessionsIn(user.cwd);
  assert.deepEqual(sessions.map((each) => each.id).sort()[1], "claude-code.s1");

  const at = Date.now();
  const usage = { input_tokens: 10, output_tokens: 5 };
  const rows = [promptRow("Hello", { at }), answerRow(id, { at, usage })];
  writeClaude(user.home, "-home-me-app/s1.jsonl", rows);
  const { totals } = JSON.parse((await user.run(["usage", "--json"])).stdout);
  assert.deepEqual([totals.total, totals.agents.length], [15, 1], JSON.stringify(totals));
  const listed = await user.run(["ls", "--json"]);
  const ids = listed.stdout
    .split("\n")
    .filter(Boolean)
    .map((line) => JSON.parse(line));
  assert.equal(ids.filter((row) => row.hooks === "claude-code.s1").length, 1, listed.stdout);
  assert.ok(!ids.some((row) => row.id === "claude-code.s1"));
});

test("a session that Codex names costs what Codex's own file says, if that is there", async () => {
  const model = await modelServer(() => ({ body: responsesJson("Hi.") }));
  const user = new CliUser();
  const id = "019c3a00-0000-7000-8000-000000000001";
  const script = `fetch(process.env.OPENAI_BASE_URL + "/responses", { method: "POST",
    headers: { "user-agent": "codex_exec/0.169.0", "thread-id": "${id}" },
    body: JSON.stringify({ model: "gpt-5.5", tools: [{ name: "look" }], input: "Hello" }) })`;
  const env = { OPENAI_BASE_URL: `${model.url}/v1` };
  const command = ["--", process.execPath, "-e", script];
  await user.run(["proxy", ...command], { env, isOwnProcess: true });
  const total = async () => {
    const { totals } = JSON.parse((await user.run(["usage", "--json"])).stdout);
    return [totals.responses, totals.total];
  };
  const [, recorded] = await total();
  assert.ok(recorded > 0);

  const timestamp = "2026-02-07T22:04:01.000Z";
  const used = { input_tokens: 400, cached_input_tokens: 0, output_tokens: 50, total_tokens: 450 };
  const info = { total_token_usage: used, last_token_usage: used };
  const rows = [
    { timestamp, type: "session_meta", payload: { id, timestamp, cwd: user.cwd } },
    { timestamp, type: "turn_context", payload: { cwd: user.cwd, model: "gpt-5.5" } },
  ];
  const counted = { timestamp, type: "event_msg", payload: { type: "token_count", info } };
  const folder = join(user.home, ".codex/sessions/2026/02/07");
  const lines = (all: readonly unknown[]) => all.map((row) => `${JSON.stringify(row)}\n`).join("");
  mkdirSync(folder, { recursive: true });
  const path = join(folder, `rollout-2026-02-07T22-04-00-${id}.jsonl`);
  writeFileSync(path, lines(rows));
  assert.deepEqual(await total(), [1, recorded], "Codex's file counts nothing yet");
  writeFileSync(path, lines([...rows, counted]));
  assert.deepEqual(await total(), [1, 450]);
  const explain = ["usage", "--explain", `codex.${id}`, "--root", user.cwd];
  assert.match((await user.run(explain)).stdout, new RegExp(`the same as in ${id}; counted there`));
});

test("without a command it prints the addresses and runs until it is stopped", async () => {
  const user = new CliUser();
  const ran = await user.run(["proxy", "--to", "ftp://x", "--", "true"]);
  assert.equal(ran.code, 2);
  const missing = await user.run(["proxy", "--", "no-such-command"], { isOwnProcess: true });
  assert.deepEqual([missing.code, missing.stdout], [127, ""]);
});

test("--to takes all calls to one server", async () => {
  const model = await modelServer(() => ({ body: responsesJson("Hi.") }));
  const user = new CliUser();
  mkdirSync(join(user.cwd, "store"));
  const script = `fetch(process.env.OPENAI_BASE_URL + "/responses",
    { method: "POST", body: JSON.stringify({ model: "m", input: "Hello" }) })`;
  const to = ["--to", `${model.url}/v1`, "--root", "store"];
  const command = ["--", process.execPath, "-e", script];
  const ran = await user.run(["proxy", ...to, ...command], { isOwnProcess: true });
  assert.equal(ran.code, 0, ran.stderr);
  assert.equal(model.calls[0]?.path, "/v1/responses");
  const [session] = await sessionsIn(join(user.cwd, "store"));
  assert.deepEqual(session?.said, ["user: Hello", "assistant: Hi."]);
});

test("a command is replayed without a server, from a session that was recorded with --raw", async () => {
  let count = 0;
  const model = await modelServer(() => ({ body: anthropicJson(`Answer ${++count}.`) }));
  const user = new CliUser();
  const command = ["--", process.execPath, program(user)];
  const env = { ANTHROPIC_BASE_URL: model.url };
  const how = { env, isOwnProcess: true };
  await user.run(["proxy", ...command], how);
  const refused = await user.run(["proxy", "--replay", "last", ...command]);
  assert.equal(refused.code, 2);
  assert.match(refused.stderr, /no calls as they were: record it with verbatim proxy --raw/);

  const first = await user.run(["proxy", "--raw", "--sign", ...command], how);
  const again = await user.run(["proxy", "--replay", "last", ...command], { isOwnProcess: true });
  assert.deepEqual([again.code, again.stdout], [first.code, first.stdout]);
  assert.match(again.stderr, /1 call taken by the replay/);
  assert.equal(model.calls.length, 2);
  const verified = await user.run(["verify", "last", "--root", user.cwd]);
  assert.equal(verified.code, 0);
  const live = ["--replay", "last", "--live-after", "0"];
  assert.equal((await user.run(["proxy", ...live, ...command], how)).stdout, "Answer 3. true\n");
});

test("replay options that do not fit together are refused", async () => {
  const user = new CliUser();
  for (const [args, why] of [
    [["--live-after", "1"], /name its session with --replay/],
    [["--replay", "last", "--raw"], /records nothing/],
    [["--replay", "last", "--sign"], /records nothing/],
  ] as const) {
    const { code, stderr } = await user.run(["proxy", ...args, "--", "true"]);
    assert.equal(code, 2);
    assert.match(stderr, why);
  }
});

test("if nothing can be recorded, the command continues, and stderr reports it once", async () => {
  const model = await modelServer(() => ({ body: anthropicJson("Hi.") }));
  const user = new CliUser();
  writeFileSync(join(user.cwd, ".verbatim"), "no directory");
  const twice = `const { ANTHROPIC_BASE_URL: url } = process.env;
    for (const n of [1, 2]) await (await fetch(url + "/v1/messages",
      { method: "POST", body: JSON.stringify({ messages: [{ role: "user", content: "Hi" + n }] }) })).text();`;
  const args = ["proxy", "--", process.execPath, "--input-type=module", "-e", twice];
  const ran = await user.run(args, { env: { ANTHROPIC_BASE_URL: model.url }, isOwnProcess: true });
  assert.equal(ran.code, 0, ran.stderr);
  assert.equal(ran.stderr.split("calls are not recorded, and go on").length, 2, ran.stderr);
});
