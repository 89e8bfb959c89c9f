/** `verbatim usage statusline`, in a process of its own, as Claude Code runs it. */

import assert from "node:assert/strict";
import { appendFileSync, mkdirSync, utimesSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { expect, test } from "vitest";
import { CliUser } from "../cli/cli.ts";
import { until } from "../support/until.ts";

const MODEL = "claude-opus-4-5-20251101";

/** One response costs a dollar. */
const row = (id: string, model = MODEL, output = 40_000) =>
  `${JSON.stringify({
    type: "assistant",
    sessionId: "s1",
    cwd: "/app",
    requestId: `r-${id}`,
    uuid: id,
    timestamp: new Date().toISOString(),
    message: { id, model, usage: { input_tokens: 0, output_tokens: output } },
  })}\n`;

function userWith(text: string) {
  const user = new CliUser();
  const path = join(user.home, ".claude/projects/-app/s1.jsonl");
  mkdirSync(dirname(path), { recursive: true });
  writeFileSync(path, text);
  const status = async (given: unknown = { session_id: "s1", transcript_path: path }) => {
    const input = typeof given === "string" ? given : JSON.stringify(given);
    return user.run(["usage", "statusline"], { input, isOwnProcess: true });
  };
  return { user, path, status };
}

test("the status line shows what the last look at all sessions counted", async () => {
  const { user, path, status } = userWith(row("a"));
  await user.run(["usage"]);
  const { code, stdout, stderr } = await status();
  assert.deepEqual([code, stderr], [0, ""]);
  expect(stdout).toMatch(/^\$1\.00 session · \$[\d.]+ today · \dh \d+m left/);
  appendFileSync(path, row("b"));
  await user.run(["usage"]);
  expect((await status()).stdout).toMatch(/^\$2\.00 session/);
});

test("a line begins a look in the background, which later lines have", async () => {
  const { status } = userWith(row("a"));
  const { code, stdout } = await status();
  assert.deepEqual([code, stdout], [0, "usage is being counted\n"]);
  await until(async () => (await status()).stdout.startsWith("$1.00 session"), "the look");
});

test("a session that was not counted has no cost yet", async () => {
  const { user, status } = userWith(row("a"));
  await user.run(["usage"]);
  const { stdout } = await status({ session_id: "s2" });
  expect(stdout).toMatch(/^session not counted yet · \$[\d.]+ today/);
});

test("an old look is shown with its age", async () => {
  const { user, status } = userWith(row("a"));
  await user.run(["usage"]);
  const ledger = join(user.home, ".local/share/verbatim/usage/ledger.bin");
  const twoHoursAgo = Date.now() / 1000 - 7_260;
  utimesSync(ledger, twoHoursAgo, twoHoursAgo);
  expect((await status()).stdout).toMatch(/ · as of 2h ago\n$|as of 121m ago\n$/);
});

test("a model without a known price is never priced at nothing", async () => {
  const { user, status } = userWith(row("a") + row("b", "my-model"));
  await user.run(["usage"]);
  expect((await status()).stdout).toMatch(/^\$1\.00 \+ \? session/);
});

test("whatever is on stdin, there is one line and no stack", async () => {
  const { user, path, status } = userWith(row("a"));
  await user.run(["usage"]);
  for (const given of [
    "",
    "not JSON",
    "[",
    "null",
    "7",
    "[]",
    '{"session_id":7,"transcript_path":{}}',
    '{"transcript_path":"/nowhere/s.jsonl"}',
    '{"transcript_path":"/dev/zero"}',
    '{"transcript_path":"a\\u0000b"}',
    `{"transcript_path":${JSON.stringify(dirname(path))}}`,
    `{"session_id":"../../x","transcript_path":"${"y".repeat(5_000)}"}`,
  ]) {
    const { code, stdout, stderr } = await status(given);
    assert.equal(stdout.split("\n").length, 2, given.slice(0, 80));
    assert.ok(code === 0 || code === 1);
    assert.doesNotMatch(stdout + stderr, /^\s+at |Error:/m);
  }
});

test.each([
  ["snapshot.bin", /^\$1\.00 session/],
  ["ledger.bin", /^\$1\.00 session/],
  ["sums.bin", /^usage is being counted\n$/],
])("a damaged %s does not break the line", async (name, line) => {
  const { user, status } = userWith(row("a"));
  await user.run(["usage"]);
  writeFileSync(join(user.home, ".local/share/verbatim/usage", name), "damaged");
  expect((await status()).stdout).toMatch(line);
});

test("own prices that are refused are said to be, and no cost is shown", async () => {
  const { user, status } = userWith(row("a"));
  await user.run(["usage"]);
  const config = join(user.home, ".config/verbatim");
  mkdirSync(config, { recursive: true });
  writeFileSync(join(config, "prices.json"), "[]");
  const { code, stdout, stderr } = await status();
  assert.deepEqual([code, stdout], [1, "usage unknown\n"]);
  expect(stderr).toMatch(/prices\.json is refused.*\(BAD_SETTING\)/);
});
