/** `verbatim serve` and sessions: which stores it serves, as a process. */

import assert from "node:assert/strict";
import { mkdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { test } from "vitest";
import { VerbatimClient } from "../../src/doors/client.ts";
import { browserClient } from "../server/auth/browser-user.ts";
import { CliUser, type Running } from "./cli.ts";
import { linkedClient } from "./linked-client.ts";

async function clientOf(running: Running): Promise<VerbatimClient> {
  const line = (await running.line()) ?? assert.fail(running.stderr);
  const [url] = /http:\/\/\S+/.exec(line) ?? assert.fail(line);
  return new VerbatimClient({ url });
}

function plant(root: string, id: string): void {
  mkdirSync(join(root, ".ai/threads", id), { recursive: true });
  const line = { ts: "2026-01-01T00:00:00Z", type: "user_message", thread_id: id, text: id };
  writeFileSync(join(root, ".ai/threads", id, "transcript.jsonl"), `${JSON.stringify(line)}\n`);
}

function plantTurn(base: string, session: string): void {
  mkdirSync(join(base, "agents/cook/sessions"), { recursive: true });
  const turn = { turnId: "1", role: "user", content: session, ts: 1_700_000_000_000 };
  writeFileSync(join(base, `agents/cook/sessions/${session}.jsonl`), `${JSON.stringify(turn)}\n`);
}

async function titles({ sessions }: VerbatimClient): Promise<(string | null)[]> {
  return (await sessions.list()).sessions.map(({ title }) => title).sort();
}

test("serve shows the sessions that ls finds: those of the enclosing project and of the home directory", async () => {
  const user = new CliUser();
  plant(user.cwd, "here-1");
  plantTurn(join(user.home, ".homeagent"), "at home");
  const running = user.start(["serve", "--port", "0"]);
  assert.deepEqual(await titles(await linkedClient(running)), ["at home", "here-1"]);
});

test("a session that Claude Code deleted is served from the guard's copy, and says what is kept", async () => {
  const user = new CliUser();
  const project = join(user.home, ".claude/projects/-home-me-app");
  mkdirSync(project, { recursive: true });
  const message = { role: "user", content: "keep me" };
  const row = {
    type: "user",
    sessionId: "s1",
    uuid: "u1",
    timestamp: "2026-01-01T00:00:00Z",
    message,
  };
  const path = join(project, "s1.jsonl");
  writeFileSync(path, `${JSON.stringify({ ...row, uuid: "u0" })}\n`.repeat(2));
  assert.equal((await user.run(["guard", "--once"])).code, 0);
  writeFileSync(path, `${JSON.stringify(row)}\n`);
  assert.equal((await user.run(["guard", "--once"])).code, 0);
  rmSync(path);
  assert.equal((await user.run(["guard", "--once"])).code, 0);
  const running = user.start(["serve", "--port", "0"]);
  const [session] = (await (await linkedClient(running)).sessions.list()).sessions;
  assert.deepEqual([session?.title, session?.isKept], ["keep me", true]);
  assert.match(session?.deletedAt ?? "", /^20\d\d-/);
  assert.deepEqual([session?.program, session?.fullerGeneration], ["Claude Code", 1]);
});

test("verbatim open makes a new link while a server runs, and else says how to start one", async () => {
  const user = new CliUser();
  plantTurn(join(user.home, ".homeagent"), "at home");
  const before = await user.run(["open", "--print"]);
  assert.deepEqual([before.code, before.stdout], [1, ""]);
  assert.match(before.stderr, /start one with `verbatim serve`/);
  const running = user.start(["serve", "--port", "0"]);
  const first = await linkedClient(running);
  assert.deepEqual(await titles(first), ["at home"]);
  const { code, stdout } = await user.run(["open", "--print"]);
  assert.equal(code, 0);
  const url = /^(http:\/\/127\.0\.0\.1:\d+)\/open\?key=\S+\n$/.exec(stdout)?.[1];
  assert.deepEqual(await titles(await browserClient(url ?? assert.fail(stdout), stdout.trim())), [
    "at home",
  ]);
  const opened = join(user.home, "opened");
  writeFileSync(join(user.cwd, "xdg-open"), `#!/bin/sh\necho "$1" > ${opened}\n`, { mode: 0o755 });
  const env = { PATH: `${user.cwd}:${process.env.PATH}` };
  assert.equal((await user.run(["open"], { env })).code, 0);
  await browserClient(url ?? "", readFileSync(opened, "utf8").trim());
  running.signal("SIGTERM");
  await running.exitCode();
  assert.equal((await user.run(["open", "--print"])).code, 1);
});

test("serve --root shows the sessions of the named stores only", async () => {
  const user = new CliUser();
  plant(user.cwd, "here-1");
  plant(join(user.cwd, "a"), "in-a-1");
  plantTurn(join(user.cwd, "b"), "in b");
  const running = user.start(["serve", "--port", "0", "--root", "a", "--root", "b"]);
  assert.deepEqual(await titles(await clientOf(running)), ["in b", "in-a-1"]);
});

test("serve refuses a missing root, and names it", async () => {
  const user = new CliUser();
  const { code, stderr } = await user.run(["serve", "--port", "0", "--root", "nowhere"]);
  assert.equal(code, 7);
  assert.match(stderr, /there is no directory .*nowhere; check --root/);
});
