/**
 * A session that is there twice, in the agent's own file and as the hooks that were recorded: it is
 * listed once, the agent's file is shown and resumed, and the signed record is verified.
 */

import assert from "node:assert/strict";
import { rmSync } from "node:fs";
import { join } from "node:path";
import { expect, test } from "vitest";
import { CliUser, jsonLines } from "./cli.ts";
import { linkedClient } from "./linked-client.ts";
import { put } from "./stores.ts";

const UUID = "4cbd609f-0000-4000-8000-000000000001";
const HOOKS = `claude-code-hooks/${UUID}`;
const RECORD = `.verbatim/claude/claude-code-hooks/${UUID}/transcript.jsonl`;

/** The agent's own file, which has the answer; its hooks say only the prompt. */
async function recordedTwice({ isSigned = true } = {}): Promise<{ user: CliUser; own: string }> {
  const user = new CliUser();
  const row = (n: number, role: string, content: unknown) => {
    const fields = { parentUuid: n === 0 ? null : `r${n - 1}`, uuid: `r${n}`, cwd: user.cwd };
    const timestamp = `2026-11-15T06:00:0${n}.000Z`;
    const message = { role, content };
    return JSON.stringify({
      ...fields,
      sessionId: UUID,
      version: "2.1.0",
      type: role,
      message,
      timestamp,
    });
  };
  const own = put(
    join(user.home, `.claude/projects/-app/${UUID}.jsonl`),
    `${row(0, "user", "Is it warm?")}\n${row(1, "assistant", [{ type: "text", text: "30 degrees" }])}\n`,
  );
  const hook = { session_id: UUID, hook_event_name: "UserPromptSubmit", prompt: "Is it warm?" };
  const sign = isSigned ? ["--sign", "append"] : [];
  const args = ["record", "--from", "claude-code-hooks", "--within", "60000", ...sign];
  const { code, stderr } = await user.run(args, { input: JSON.stringify(hook) });
  assert.deepEqual([code, stderr], [0, ""]);
  await user.run(["ls"]); // Moves the hook from the spool into its session.
  return { user, own };
}

test("a session that hooks recorded is listed once, with the record's id", async () => {
  const { user, own } = await recordedTwice();
  const { stdout } = await user.run(["ls", "--json"]);
  assert.deepEqual(
    jsonLines(stdout).map(({ path, hooks }) => [path, hooks]),
    [[own, HOOKS]],
  );
  const text = await user.run(["ls"]);
  assert.equal(text.stdout.trimEnd().split("\n").length, 2, "a heading and a session");
  expect(text.stderr).toContain("1 session also recorded by hooks");
  const records = await user.run(["ls", "--json", "--dialect", "claude"]);
  assert.deepEqual(
    jsonLines(records.stdout).map(({ id }) => id),
    [HOOKS],
  );
});

test("a search finds a prompt once, in the agent's own file, and in the record if that is named", async () => {
  const { user, own } = await recordedTwice();
  const sessionsWith = async (...args: string[]) => {
    const { stdout } = await user.run(["search", "--json", ...args]);
    return jsonLines(stdout).map(({ session }) => session);
  };
  const program = `-app/${UUID}`;
  assert.deepEqual(await sessionsWith("warm"), [program]);
  const whose = async (...args: string[]) =>
    jsonLines((await user.run([...args, "--json"])).stdout).map(({ program, agent }) => [
      program,
      agent,
    ]);
  assert.deepEqual(await whose("search", "warm"), [["Claude Code", null]]);
  assert.deepEqual(await whose("ls"), [["Claude Code", null]]);
  assert.deepEqual(await sessionsWith("warm", "--dialect", "claude"), [HOOKS]);
  assert.deepEqual(await sessionsWith("warm dialect:claude"), [HOOKS]);
  assert.deepEqual(await sessionsWith(`warm session:${HOOKS}`), [HOOKS]);
  rmSync(own);
  assert.deepEqual(await sessionsWith("warm"), [HOOKS]);
});

test("the agent's own file is shown, and the record is named", async () => {
  const { user } = await recordedTwice();
  for (const name of [UUID, "4cbd609f", "last"]) {
    const { code, stdout, stderr } = await user.run(["show", name]);
    assert.equal(code, 0, stderr);
    expect(stdout).toContain("30 degrees");
    expect(stderr).toContain(`${RECORD}; --dialect claude reads it`);
  }
  const record = await user.run(["show", HOOKS]);
  expect(record.stdout).not.toContain("30 degrees");
});

test("verify judges the signed record, and says that the agent's own file is another", async () => {
  const { user, own } = await recordedTwice();
  const { code, stdout, stderr } = await user.run(["verify", UUID]);
  assert.equal(code, 0, stderr);
  expect(stdout).toContain(HOOKS);
  expect(stderr).toContain(`the agent's own file ${own} is not signed`);
});

test("resume takes the signed record, or the agent's own file with --allow-unsigned, and says which", async () => {
  const { user, own } = await recordedTwice();
  const resume = ["resume", UUID, "--for", "openai-chat", "--model", "gpt-5.5", "--json"];
  const strict = await user.run(resume);
  assert.equal(strict.code, 0, strict.stderr);
  expect(strict.stdout).not.toContain("30 degrees");
  expect(strict.stderr).toContain(`${RECORD} is resumed`);
  expect(strict.stderr).toContain(`the agent's own file of this session is ${own}`);
  const full = await user.run([...resume, "--allow-unsigned"]);
  assert.equal(full.code, 0, full.stderr);
  expect(full.stdout).toContain("30 degrees");
  expect(full.stderr).toContain(`${own} is resumed`);
});

test("a record that is not signed is never preferred", async () => {
  const { user } = await recordedTwice({ isSigned: false });
  const { stdout } = await user.run(["verify", UUID]);
  expect(stdout).toContain(`-app/${UUID}: unsigned`);
  expect(stdout).not.toContain(HOOKS);
});

test("a server lists the agent's own session, which names the record", async () => {
  const { user } = await recordedTwice();
  const { sessions } = await linkedClient(user.start(["serve", "--port", "0"]));
  const [own, ...more] = (await sessions.list()).sessions;
  assert.deepEqual([own?.program, more], ["Claude Code", []]);
  const { hooks } = await sessions.get(own?.id ?? "");
  const record = await sessions.get(hooks ?? "");
  assert.deepEqual([record.session, record.hooks], [HOOKS, null]);
});
