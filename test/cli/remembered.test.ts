/**
 * Stores that were recorded in are found from every directory: by the commands, the server, MCP and
 * programs. The temporary directory of these users is another one than that of the test.
 */

import assert from "node:assert/strict";
import { existsSync, mkdirSync, readFileSync, rmSync } from "node:fs";
import { join } from "node:path";
import { Client } from "@modelcontextprotocol/sdk/client/index.js";
import { StdioClientTransport } from "@modelcontextprotocol/sdk/client/stdio.js";
import { expect, onTestFinished, test, vi } from "vitest";
import { claudeSessionStore } from "../../src/doors/claude-agent.ts";
import { VerbatimClient } from "../../src/doors/client.ts";
import { openHistory } from "../../src/doors/history.ts";
import { VerbatimSession } from "../../src/doors/openai-agents.ts";
import { refusal } from "../support/refusal.ts";
import { tempDirectory } from "../support/temp-directory.ts";
import { asLines, CliUser, jsonLines, main } from "./cli.ts";
import { linkedClient } from "./linked-client.ts";

const text = (role: string, words: string) => ({
  kind: "message",
  role,
  parts: [{ type: "text", text: words }],
});
const USAGE = { inputTokens: 12, outputTokens: 34, totalTokens: 46, spend: null };
const LINES = asLines(text("user", "Feed the zebra"), {
  ...text("assistant", "It ate."),
  model: "claude-opus-4-5",
  usage: USAGE,
});

/** What turns remembering on for a process, and a temporary directory in which nothing is. */
function environment(user: CliUser) {
  const TMPDIR = join(user.home, "tmp");
  mkdirSync(TMPDIR, { recursive: true });
  return { VERBATIM_REMEMBER: "1", TMPDIR, HOME: user.home, CI: "" };
}

const fileOf = (user: CliUser) => join(user.home, ".local/state/verbatim/stores.jsonl");

/** A user who recorded in a directory, and is in another one now; with what runs commands there. */
async function recordedElsewhere() {
  const recorder = new CliUser();
  const env = environment(recorder);
  for (const session of ["s1", "s2"]) {
    const args = ["record", "--session", session];
    const { code, stderr } = await recorder.run(args, { input: LINES, env });
    assert.deepEqual([code, stderr], [0, ""]);
  }
  const user = new CliUser(recorder.home);
  const run = (...args: string[]) => user.run(args, { env });
  return { user, env, run, root: recorder.cwd };
}

test("what was recorded is listed, found, shown and examined from every directory", async () => {
  const { user, run, root } = await recordedElsewhere();
  assert.equal(readFileSync(fileOf(user), "utf8").trimEnd().split("\n").length, 1);
  const listed = jsonLines((await run("ls", "--json")).stdout);
  assert.deepEqual(
    listed.map((session) => [session.id, session.root]),
    [
      ["s2", root],
      ["s1", root],
    ],
  );
  expect((await run("search", "zebra")).stdout).toContain("Feed the zebra");
  expect((await run("show", "s1")).stdout).toContain("Feed the zebra");
  expect((await run("doctor")).stdout).toContain("looked at 2 sessions");
  expect((await run("usage")).stdout).toMatch(/\b92\b/);

  rmSync(root, { recursive: true });
  assert.equal((await run("ls", "--json")).stdout, "");
});

test("a server shows them to the browser that opened its link, and to no other caller", async () => {
  const { user, env } = await recordedElsewhere();
  const running = user.start(["serve", "--port", "0"], env);
  const [url = ""] = /http:\S+/.exec((await running.line()) ?? "") ?? [];
  const { sessions } = await (await linkedClient(running)).sessions.list();
  assert.equal(sessions.length, 2);
  const stranger = new VerbatimClient({ url });
  const { message } = await refusal(stranger.sessions.list(), "REQUEST_REFUSED");
  assert.match(message, /401: sessions are private/);
});

test("programs and MCP find them too", async () => {
  const { user, env } = await recordedElsewhere();
  for (const [name, value] of Object.entries(env)) vi.stubEnv(name, value);
  onTestFinished(() => void vi.unstubAllEnvs());
  const ids: string[] = [];
  for await (const { id } of openHistory({ cwd: user.cwd }).sessions()) ids.push(id);
  assert.deepEqual(ids.sort(), ["s1", "s2"]);

  const client = new Client({ name: "test", version: "1" });
  const options = { command: process.execPath, args: [...main, "mcp"], cwd: user.cwd };
  await client.connect(new StdioClientTransport({ ...options, env }));
  onTestFinished(() => client.close());
  const found = await client.callTool({ name: "list_sessions", arguments: {} });
  expect(JSON.stringify(found)).toMatch(/s1.*s2|s2.*s1/);
});

test("a signed session that is lost from a remembered store is still named", async () => {
  const recorder = new CliUser();
  const env = environment(recorder);
  const args = ["record", "--session", "s1", "--sign"];
  const { stdout } = await recorder.run(args, { input: LINES, env });
  rmSync(JSON.parse(stdout).path);
  const user = new CliUser(recorder.home);
  const { stderr } = await user.run(["ls"], { env });
  expect(stderr).toMatch(/s1/);
});

test("hooks and the sessions of frameworks are remembered; with remember: false they are not", async () => {
  const user = new CliUser();
  const env = environment(user);
  const unknown = [tempDirectory(), tempDirectory()];
  const remembered = [tempDirectory(), tempDirectory()];
  const hook = { session_id: "h1", hook_event_name: "UserPromptSubmit", prompt: "Hi" };
  const from = ["record", "--from", "claude-code-hooks", "--within", "60000"];
  await user.run([...from, "--root", user.cwd], { input: JSON.stringify(hook), env });
  assert.equal(JSON.parse(readFileSync(fileOf(user), "utf8")).root, user.cwd);

  for (const [name, value] of Object.entries(env)) vi.stubEnv(name, value);
  onTestFinished(() => void vi.unstubAllEnvs());
  const record = async (remember: boolean, [claude = "", openai = ""]: readonly string[]) => {
    const sessions = claudeSessionStore({ root: claude, remember });
    const key = { projectKey: "p", sessionId: "6f1c2d3e-1000-4000-8000-000000000001" };
    await sessions.append(key, [{ type: "user", uuid: "u1" }]);
    await sessions.close();
    const session = new VerbatimSession({ root: openai, remember });
    await session.addItems([{ role: "user", content: "Hi" }]);
    await session.close();
  };
  await record(false, unknown);
  await record(true, remembered);
  const text = readFileSync(fileOf(user), "utf8");
  for (const root of remembered) assert.ok(text.includes(root), text);
  for (const root of unknown) assert.ok(!text.includes(root), text);
});

test("with VERBATIM_REMEMBER=0, and in the temporary directory, nothing is written", async () => {
  const user = new CliUser();
  const env = environment(user);
  for (const other of [
    { ...env, VERBATIM_REMEMBER: "0" },
    { ...env, TMPDIR: user.cwd },
  ]) {
    const { code } = await user.run(["record", "--session", "s1"], { input: LINES, env: other });
    assert.equal(code, 0);
  }
  assert.ok(!existsSync(fileOf(user)));
});
