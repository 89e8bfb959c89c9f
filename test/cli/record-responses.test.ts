/**
 * `verbatim record --from anthropic-sse | openai-sse`: a provider's responses, with their usage.
 */

import assert from "node:assert/strict";
import { existsSync, readFileSync } from "node:fs";
import { dirname } from "node:path";
import { test } from "vitest";
import { ANTHROPIC, CHAT, RESPONSES, sseBytes } from "../support/provider-streams.ts";
import { CliUser, jsonLines } from "./cli.ts";

const DIALECTS = {
  rye: ["--directive", "hello_world"],
  homeagent: ["--agent", "kitchen", "--root", "."],
  entire: ["--model", "m"],
  claude: ["--session", "project/s1"],
  sdk: ["--session", "agents/s1"],
} as const;

const record = (dialect: keyof typeof DIALECTS, from: string, ...rest: readonly string[]) => [
  "record",
  "--dialect",
  dialect,
  "--from",
  from,
  ...DIALECTS[dialect],
  ...rest,
];

test.each(Object.keys(DIALECTS) as (keyof typeof DIALECTS)[])(
  "a response of Anthropic is recorded with its usage in %s",
  async (dialect) => {
    const user = new CliUser();
    const input = sseBytes(ANTHROPIC);
    const ran = await user.run(record(dialect, "anthropic-sse", "--ack"), { input });
    assert.deepEqual([ran.code, ran.stderr], [0, ""]);
    const [opened, ack] = jsonLines(ran.stdout);
    const path = String(opened?.path);
    assert.equal(ack?.offset, readFileSync(path).length);
    const shown = await user.run(["show", path, "--json"]);
    const entries = jsonLines(shown.stdout).filter(({ role }) => role === "assistant");
    const usage = entries.map((entry) => entry.usage).find(Boolean);
    assert.ok(JSON.stringify(usage).includes("472"), shown.stdout);
  },
);

test("several responses on one stdin become one entry each, for both OpenAI APIs", async () => {
  const user = new CliUser();
  const input = Buffer.concat([
    sseBytes(CHAT, { done: true }),
    sseBytes(RESPONSES),
    sseBytes(CHAT),
  ]);
  const ran = await user.run(record("entire", "openai-sse", "--ack"), { input });
  assert.deepEqual([ran.code, ran.stderr], [0, ""]);
  const [opened, ...acks] = jsonLines(ran.stdout);
  const rows = jsonLines(readFileSync(String(opened?.path), "utf8"));
  assert.deepEqual([rows.length, acks.length], [3, 3]);
  for (const { message } of rows) {
    assert.ok((message as { usage?: { input_tokens?: number } }).usage?.input_tokens);
  }
});

test("a response that breaks off is kept as partial and reported, and the next one is recorded", async () => {
  const user = new CliUser();
  const input = Buffer.concat([sseBytes(ANTHROPIC.slice(0, -3)), sseBytes(ANTHROPIC)]);
  const ran = await user.run(record("entire", "anthropic-sse"), { input });
  assert.equal(ran.code, 2);
  assert.match(
    ran.stderr,
    /^response 1: the message of anthropic is incomplete.*kept as partial\n$/,
  );
  const [opened] = jsonLines(ran.stdout);
  const rows = jsonLines(readFileSync(String(opened?.path), "utf8"));
  assert.deepEqual(
    rows.map(({ partial }) => partial),
    [true, undefined],
  );
});

test("input that is not an event stream is reported, and nothing is recorded", async () => {
  const user = new CliUser();
  const input = '{"type":"error","error":{"type":"authentication_error"}}\n';
  const ran = await user.run(record("rye", "anthropic-sse"), { input });
  assert.equal(ran.code, 2);
  assert.match(
    ran.stderr,
    /stdin has no event that --from anthropic-sse reads; nothing is recorded/,
  );
  const [opened] = jsonLines(ran.stdout);
  assert.equal(existsSync(dirname(String(opened?.path))), false);
});

test("a thread that begins with a response gets its start first", async () => {
  const user = new CliUser();
  const ran = await user.run(record("rye", "anthropic-sse"), { input: sseBytes(ANTHROPIC) });
  const [opened] = jsonLines(ran.stdout);
  const types = jsonLines(readFileSync(String(opened?.path), "utf8")).map(({ type }) => type);
  assert.equal(types[0], "thread_start");
  assert.ok(types.includes("assistant_text"), types.join());
});

test("rows have the recording program's version unless they have their own", async () => {
  const user = new CliUser();
  const args = ["record", "--dialect", "entire", "--model", "m", "--agent-version", "0.0.44"];
  const row = { type: "user", message: { content: "Hi" } };
  const input = `${JSON.stringify(row)}\n${JSON.stringify({ ...row, version: "1.2.3" })}\n`;
  const ran = await user.run(args, { input });
  assert.equal(ran.code, 0, ran.stderr);
  const [opened] = jsonLines(ran.stdout);
  const rows = jsonLines(readFileSync(String(opened?.path), "utf8"));
  assert.deepEqual(
    rows.map(({ version }) => version),
    ["0.0.44", "1.2.3"],
  );
});

test("options that would do nothing with a provider's stream are refused", async () => {
  const user = new CliUser();
  for (const [option, ...args] of [
    ["--within", ...record("entire", "anthropic-sse", "--within", "500")],
    ["--on-error", ...record("entire", "anthropic-sse", "--on-error", "skip")],
    ["--agent-version", ...record("rye", "anthropic-sse", "--agent-version", "1")],
  ] as const) {
    const { code, stderr } = await user.run(args, { input: "" });
    assert.equal(code, 2, option);
    assert.ok(stderr.includes(option), stderr);
  }
});
