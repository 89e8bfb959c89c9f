/**
 * Claude Code's hooks, as its settings.json starts them: recorded, and never an obstacle to the
 * agent.
 */

import assert from "node:assert/strict";
import { spawn } from "node:child_process";
import { readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { HOOK_EVENTS } from "@anthropic-ai/claude-agent-sdk";
import { expect, onTestFinished, test } from "vitest";
import { nodeHost } from "../../src/core/base/node-host.ts";
import { Store } from "../../src/sessions/store/store.ts";
import { diskTest, SmallDisk } from "../crash/small-disk.ts";
import { Child } from "../support/child.ts";
import { docsPage } from "../support/docs-page.ts";
import { CliUser, type Ran, type RunOptions, root } from "./cli.ts";

const SECRET = "sk-secret";
const HOOK = { session_id: "6f1c", hook_event_name: "UserPromptSubmit", prompt: SECRET };

const snippet = docsPage("formats/claude").block("json claude-code-settings");
const settings = JSON.parse(snippet) as {
  hooks: Record<string, { hooks: { type: string; command: string; timeout: number }[] }[]>;
};

function record(user: CliUser, hook: unknown, options: RunOptions = {}, ...more: string[]) {
  const input = typeof hook === "string" ? hook : JSON.stringify(hook);
  const args = ["record", "--from", "claude-code-hooks", "--within", "60000", ...more];
  return user.run(args, { input, ...options });
}

function session(directory: string, id = "claude-code-hooks/6f1c") {
  return new Store(nodeHost, { dialect: "claude", root: directory }).session(id);
}

const logOf = (user: CliUser) => join(user.home, ".local/state/verbatim/hooks.log");

/** The hook failed as it may: silently, with a message that names the log file with the reason. */
function failedQuietly({ code, stdout, stderr }: Ran, log: string): string {
  assert.deepEqual([code, stdout], [0, ""]);
  assert.match(stderr, /^verbatim: a hook was not recorded.*\n$/);
  assert.ok(stderr.includes(log), stderr);
  const last = readFileSync(log, "utf8").trimEnd().split("\n").at(-1) ?? "";
  assert.ok(!last.includes(SECRET) && !stderr.includes(SECRET));
  const { reason } = JSON.parse(last) as { reason: string };
  return reason;
}

test("a hook that creates .verbatim keeps it out of Git, as every writer does", async () => {
  const user = new CliUser();
  assert.equal((await record(user, HOOK)).code, 0);
  assert.equal(readFileSync(join(user.cwd, ".verbatim/.gitignore"), "utf8"), "*\n");
});

test("concurrent hooks are recorded unchanged, including events of an unknown name", async () => {
  const user = new CliUser();
  const names = ["UserPromptSubmit", "PreToolUse", "PostToolUse", "SomethingNew"];
  const told = names.map((name, n) => ({
    session_id: "6f1c",
    cwd: "/elsewhere",
    hook_event_name: name,
    prompt: "Hi",
    tool_name: "Bash",
    tool_input: { n },
    tool_use_id: "t",
    n: n / 3,
  }));
  const env = { CLAUDE_PROJECT_DIR: user.cwd };
  const runs = await Promise.all(told.map((hook) => record(user, hook, { env })));
  for (const ran of runs) assert.deepEqual(ran, { code: 0, stdout: "", stderr: "" });

  const hooks: Record<string, unknown>[] = [];
  for await (const { native } of session(user.cwd).entries()) {
    hooks.push(native.hook as Record<string, unknown>);
  }
  const byNumber = (a: Record<string, unknown>, b: Record<string, unknown>) =>
    Number(a.n) - Number(b.n);
  assert.deepEqual(hooks.sort(byNumber), told);
});

test("the settings on the page name hooks that Claude Code has, and the command that is documented", () => {
  assert.ok(Object.keys(settings.hooks).length >= 9);
  for (const [name, matchers] of Object.entries(settings.hooks)) {
    assert.ok((HOOK_EVENTS as readonly string[]).includes(name), name);
    for (const { hooks } of matchers) {
      for (const { type, command, timeout } of hooks) {
        assert.deepEqual([type, command], ["command", "verbatim record --from claude-code-hooks"]);
        assert.ok(timeout > 10, "it ends by itself before its agent ends it");
      }
    }
  }
});

test("the example, killed with its hooks and run again, loses no recorded hook", async () => {
  const user = new CliUser();
  const argv = [join(root, "examples/claude-code-hooks.mjs"), user.cwd];
  const env = { PATH: process.env.PATH ?? "", HOME: user.home };
  // In its own process group: a running hook dies with it.
  const agent = spawn(process.execPath, argv, { env, detached: true });
  const killed = new Child(agent);
  onTestFinished(() => killed.kill());
  for (let line = await killed.line(); line !== "recorded: UserPromptSubmit"; ) {
    line = (await killed.line()) ?? assert.fail("it ended by itself");
  }
  process.kill(-killed.pid, "SIGKILL");
  await killed.kill();

  const again = new Child(spawn(process.execPath, argv, { env }));
  onTestFinished(() => again.kill());
  const [, known] = /^(\d) hooks/.exec((await again.line()) ?? "") ?? [];
  assert.ok(Number(known) >= 2, `${known} are there`);
  assert.equal(await again.exitCode(), 0);
  const names: unknown[] = [];
  for await (const { native } of session(user.cwd).entries()) {
    names.push((native.hook as Record<string, unknown>).hook_event_name);
  }
  const all = ["SessionStart", "UserPromptSubmit", "PreToolUse", "PostToolUse", "Stop"];
  assert.deepEqual(names, all);
});

test("a failed recording is logged with its reason, without the hook's content", async () => {
  const user = new CliUser();
  const cases: [string, RegExp, ...string[]][] = [
    [`{"session_id":"6f1c","prompt":"${SECRET}`, /not JSON/],
    [JSON.stringify({ prompt: SECRET }), /no session_id/],
    [JSON.stringify(HOOK), /--dialect has no meaning/, "--dialect", "rye"],
    [JSON.stringify(HOOK), /not a directory|ENOTDIR/i, "--root", join(user.cwd, "file")],
  ];
  writeFileSync(join(user.cwd, "file"), "");
  for (const [input, reason, ...more] of cases) {
    const ran = await record(user, input, {}, ...more);
    assert.match(failedQuietly(ran, logOf(user)), reason);
  }
  const wrong = await record(user, HOOK, {}, "--no-such-option");
  assert.deepEqual([wrong.code, wrong.stdout], [0, ""]);
  assert.match(readFileSync(logOf(user), "utf8"), /command is refused[^\n]*\n$/);
});

test("a hook ends at its time limit if stdin does not end", async () => {
  const user = new CliUser();
  const running = user.start(["record", "--from", "claude-code-hooks", "--within", "300"]);
  running.write('{"session_id":');
  assert.equal(await running.exitCode(), 0);
  assert.match(running.stderr, /not recorded; why: /);
  assert.match(readFileSync(logOf(user), "utf8"), /it took over 300 ms/);
});

diskTest("on a full disk a hook is not recorded, and the agent continues", async () => {
  const disk = SmallDisk.mount();
  const user = new CliUser();
  await record(user, HOOK, {}, "--root", disk.path);
  expect((await session(disk.path).last(5)).length).toBe(1);
  disk.fill();
  const big = { ...HOOK, prompt: SECRET.repeat(1000) };
  const ran = await record(user, big, {}, "--root", disk.path);
  assert.match(failedQuietly(ran, logOf(user)), /ENOSPC/);
  disk.empty();
  expect((await session(disk.path).last(5)).length).toBe(1);
});
