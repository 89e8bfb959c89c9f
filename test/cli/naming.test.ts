/** How a session is named: by id, id prefix or path. Never by guessing. */

import assert from "node:assert/strict";
import { appendFileSync, mkdirSync, symlinkSync } from "node:fs";
import { join } from "node:path";
import { expect, test } from "vitest";
import { nodeHost } from "../../src/core/base/node-host.ts";
import { findSession } from "../../src/sessions/list/find-session.ts";
import { storesAt } from "../../src/sessions/list/find-stores.ts";
import { refusal } from "../support/refusal.ts";
import { tempDirectory } from "../support/temp-directory.ts";
import { CliUser } from "./cli.ts";
import { event, put, putThread, putTurns, turn } from "./stores.ts";

test("a session is found by id, id prefix or path, from any current directory", async () => {
  const cwd = tempDirectory();
  const log = putThread(cwd, "test/tools/write-1771");
  putThread(cwd, "hello-1");
  putThread(cwd, "hello-12");
  const inside = join(cwd, "src/deep");
  mkdirSync(inside, { recursive: true });
  const find = async (name: string, from = cwd, root?: string) => {
    const { dialect, id, path } = await findSession(nodeHost, name, { cwd: from, root });
    return [dialect, id, path];
  };
  const nested = ["rye", "test/tools/write-1771", log];

  assert.deepEqual(await find("test/tools/write-1771"), nested);
  assert.deepEqual(await find("test/to"), nested);
  assert.deepEqual(await find("write-17"), nested, "by its last part");
  assert.deepEqual(await find("write-17", inside), nested, "from below the project");
  assert.deepEqual(await find(".ai/threads/test/tools/write-1771"), nested, "by its directory");
  assert.deepEqual(await find(log, "/"), nested, "by its absolute path");
  assert.deepEqual(await find("../../.ai/threads/test/tools/write-1771", inside), nested);
  assert.deepEqual(
    await find(".ai/threads/test/tools/write-1771", "/", cwd),
    nested,
    "below --root",
  );
  // A full id is exact, even if it is a prefix of another.
  assert.equal((await find("hello-1"))[1], "hello-1");
});

test("HomeAgent sessions are found by either id, by a prefix of either, and by path", async () => {
  const base = tempDirectory();
  const path = put(join(base, "agents/cook/sessions/2026-11-15.jsonl"), "");
  put(join(base, "agents/nurse/sessions/2026-11-16.jsonl"), "");
  const find = async (name: string) => findSession(nodeHost, name, { cwd: "/", root: base });

  for (const name of ["cook/2026-11-15", "cook", "cook/2026", "2026-11-15", path]) {
    assert.deepEqual(await find(name), {
      dialect: "homeagent",
      root: base,
      id: "cook/2026-11-15",
      path,
    });
  }
  await refusal(find("2026-11-1"), "SESSION_NOT_FOUND");
});

test("an ambiguous name is refused with at most ten candidates", async () => {
  const user = new CliUser();
  for (let n = 10; n < 23; n++) putThread(user.cwd, `hello-${n}`);
  putTurns(user, "hello-agent/s1");
  const { code, stdout, stderr } = await user.run(["show", "hello-"]);

  assert.deepEqual([code, stdout], [7, ""]);
  expect(stderr).toContain("one of 14 sessions");
  assert.equal(stderr.match(/^ {2}hello-.*\((rye|homeagent)\)$/gm)?.length, 10);
  expect(stderr).toContain("and 4 more");
  expect(stderr).toContain("SESSION_NOT_FOUND");
  const narrowed = await user.run(["show", "hello-", "--dialect", "homeagent"]);
  assert.equal(narrowed.code, 0);
  expect(narrowed.stdout).toContain("I am hello-agent/s1");
});

test("our record of an agent's session is preferred to the agent's own file, which is named", async () => {
  const user = new CliUser();
  const uuid = "4cbd609f-0000-4000-8000-000000000001";
  const row = (text: string) => {
    const message = { role: "user", content: text };
    const fields = { parentUuid: null, sessionId: uuid, version: "2.0.0", cwd: user.cwd, uuid };
    const timestamp = "2026-11-15T06:00:00.000Z";
    return `${JSON.stringify({ ...fields, type: "user", message, timestamp })}\n`;
  };
  const theirs = put(join(user.home, `.claude/projects/-app/${uuid}.jsonl`), row("theirs"));
  const input = row("ours");
  await user.run(["record", "--dialect", "claude", `--session=-app/${uuid}`], { input });
  for (const name of ["4cbd609f", uuid, `-app/${uuid}`]) {
    const { code, stdout, stderr } = await user.run(["show", "--", name]);
    assert.equal(code, 0, stderr);
    expect(stdout).toContain("ours");
    expect(stderr).toContain(`own file of this session is ${theirs}; --dialect claude-code`);
  }
  const agents = await user.run(["show", "4cbd609f", "--dialect", "claude-code"]);
  expect(agents.stdout).toContain("theirs");

  const hooks = `claude-code-hooks/${uuid}`;
  await user.run(["record", "--dialect", "claude", "--session", hooks], { input });
  const other = await user.run(["show", "4cbd609f"]);
  assert.equal(other.code, 0, "the record of its hooks says less than the agent's own file");
  expect(other.stderr).toContain(`own file of this session is ${theirs}`);
});

test("`last` without any session says that there is none", async () => {
  const { code, stderr } = await new CliUser().run(["show", "last"]);
  assert.equal(code, 7);
  expect(stderr).toContain("there are no sessions yet");
});

test("an unknown session is SESSION_NOT_FOUND and exit code 7, with the places that were searched", async () => {
  const user = new CliUser();
  const { cwd } = user;
  putThread(cwd, "hello-1");
  put(join(cwd, "plain-file"), "");
  const names = ["nope", "../nope", "a..b", "nope.jsonl", "plain-file/x", "\\", "x".repeat(300)];
  for (const name of names) {
    const { message } = await refusal(findSession(nodeHost, name, { cwd }), "SESSION_NOT_FOUND");
    expect(message).toContain(cwd);
  }
  const nowhere = await user.run(["show", "nope"]);
  assert.deepEqual([nowhere.code, nowhere.stdout], [7, ""]);
  expect(nowhere.stderr).toMatch(/^error: .*SESSION_NOT_FOUND\)\n$/);
  const noRoot = await user.run(["show", "hello-1", "--root", "nowhere"]);
  assert.equal(noRoot.code, 7);
  expect(noRoot.stderr).toContain(join(cwd, "nowhere"));
  // An empty name, which a script may pass by mistake, is a prefix of every id: it is refused as
  // such.
  assert.equal((await user.run(["show", ""])).code, 2);
});

test("a project with stores of several dialects is listed once among the searched places", async () => {
  const root = tempDirectory();
  putThread(root, "hello-1");
  mkdirSync(join(root, ".entire/metadata"), { recursive: true });
  mkdirSync(join(root, ".verbatim/claude"), { recursive: true });
  const where = { cwd: "/", root };
  assert.equal(storesAt(where).length, 3);
  const { message } = await refusal(findSession(nodeHost, "nosuch", where), "SESSION_NOT_FOUND");
  expect(message).toContain(`no session with this id is in ${root}; `);
});

test("a log outside any store is recognised by its first line, and its identity is unknown", async () => {
  const user = new CliUser();
  put(
    join(user.cwd, "copy/transcript.jsonl"),
    `${JSON.stringify(event("user_message", { text: "a thread" }))}\n`,
  );
  put(
    join(user.cwd, "turns.jsonl"),
    `not JSON\n${JSON.stringify(turn("user", { content: "a turn" }))}`,
  );
  put(join(user.cwd, "strange.jsonl"), '{"some":"thing"}\n');

  const thread = await user.run(["show", "copy"]);
  assert.equal(thread.code, 0, thread.stderr);
  expect(thread.stdout).toContain("a thread");
  expect(thread.stderr).toMatch(/^identity: unknown; .*\/copy\/transcript.jsonl .* rye\n$/);
  const turns = await user.run(["show", "turns.jsonl"]);
  expect(turns.stdout).toContain("a turn");
  expect(turns.stderr).toMatch(/identity: unknown; .* homeagent\n/);
  const strange = await user.run(["show", "strange.jsonl"]);
  assert.equal(strange.code, 7);
  expect(strange.stderr).toContain("--dialect");
  const told = await user.run(["show", "strange.jsonl", "--dialect", "rye"]);
  assert.equal(told.code, 7); // Nothing of it can be shown.
  expect(told.stderr).toContain("line 1 (missing ts/type)");
});

test("finding a session follows no link", async () => {
  const user = new CliUser();
  const elsewhere = tempDirectory();
  putThread(elsewhere, "secret-1");
  putThread(user.cwd, "hello-1");
  const threads = join(user.cwd, ".ai/threads");
  symlinkSync(join(elsewhere, ".ai/threads/secret-1"), join(threads, "secret-1"));
  mkdirSync(join(threads, "secret-2"));
  symlinkSync(
    join(elsewhere, ".ai/threads/secret-1/transcript.jsonl"),
    join(threads, "secret-2/transcript.jsonl"),
  );

  const where = { cwd: user.cwd };
  await refusal(findSession(nodeHost, "secret", where), "SESSION_NOT_FOUND");
  await refusal(findSession(nodeHost, "secret-1", where), "UNSAFE_PATH");
  const { code, stdout } = await user.run(["show", "secret-2"]);
  assert.deepEqual([code, stdout], [7, ""]);
});

test("stores are found upwards from the current directory, at HomeAgent's base, or at --root", async () => {
  const cwd = tempDirectory();
  const base = tempDirectory();
  assert.deepEqual(storesAt({ cwd, root: base }), []);
  mkdirSync(join(base, "agents"));
  assert.deepEqual(storesAt({ cwd, root: base }), [{ dialect: "homeagent", root: base }]);
  mkdirSync(join(base, ".ai/threads"), { recursive: true });
  assert.deepEqual(
    storesAt({ cwd, root: base }).map(({ dialect }) => dialect),
    ["rye", "homeagent"],
  );
  assert.deepEqual(storesAt({ cwd, dialect: "rye" }), [{ dialect: "rye", root: cwd }]);
  assert.deepEqual(storesAt({ cwd: join(base, "agents"), dialect: "rye" }), [
    { dialect: "rye", root: base },
  ]);
});

test("every command has help with examples, and a misspelt command gets a suggestion", async () => {
  const user = new CliUser();
  const names = ["record", "ls", "show", "export", "usage"];
  const helped = names.map(async (name) => {
    const { code, stdout, stderr } = await user.run([name, "--help"]);
    assert.deepEqual([code, stderr], [0, ""]);
    expect(stdout).toMatch(new RegExp(`\nExamples:\n.*verbatim ${name}`, "s"));
  });
  await Promise.all(helped);
  const { code, stdout } = await user.run(["--version"]);
  assert.equal(code, 0);
  assert.match(stdout, /^\d+\.\d+\.\d+\n$/);
  const misspelt = await user.run(["shwo", "x"]);
  assert.equal(misspelt.code, 2);
  expect(misspelt.stderr).toContain("Did you mean show?");
  const gone = await user.run(["stats", "--days", "30"]);
  assert.equal(gone.code, 2);
  expect(gone.stderr).toMatch(/command 'stats'; `verbatim usage directive --agent rye`/);
});

test("a torn tail is reported, not shown and not changed", async () => {
  const user = new CliUser();
  const path = putThread(user.cwd, "hello-1");
  appendFileSync(path, '{"ts":"x","ty');
  const { code, stdout, stderr } = await user.run(["show", "hello-1"]);

  assert.equal(code, 0);
  expect(stdout).toContain("I am hello-1");
  expect(stderr).toContain("13 torn bytes");
});
