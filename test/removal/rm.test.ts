/** `verbatim rm`: what a person sees, and every byte that is left afterwards. */

import assert from "node:assert/strict";
import { existsSync, mkdirSync, readdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { basename, dirname, join } from "node:path";
import { expect, test } from "vitest";
import { nodeHost } from "../../src/core/base/node-host.ts";
import { LogLock } from "../../src/core/log/lock.ts";
import { CliUser, jsonLines } from "../cli/cli.ts";
import { promptRow, writeClaude } from "../support/agent-home.ts";
import { until } from "../support/until.ts";
import { filesIn, holding } from "./byte-search.ts";

const AT = Date.parse("2026-11-15T10:00:00.000Z");
/** One word, so that a full-text index holds it whole. */
const VALUE = "quixote90417zebra";

const LOGS = {
  rye: ["hello-1739012630", ".ai/threads/hello-1739012630/transcript.jsonl"],
  entire: ["2026-01-01-hello", ".entire/metadata/2026-01-01-hello/full.jsonl"],
  verbatim: ["hello", ".verbatim/sessions/hello.jsonl"],
  sdk: ["app/hello", null],
  homeagent: ["hello/2026-01-01", null],
} as const;

const MORE: Readonly<Record<string, readonly string[]>> = {
  rye: ["--directive", "hello"],
  homeagent: ["--agent", "hello"],
};

class Remover extends CliUser {
  async record(dialect: string, id: string, text: string, isSigned = true): Promise<void> {
    const input = `${JSON.stringify(lineOf(dialect, text))}\n`;
    const session = dialect === "homeagent" ? id.slice(id.indexOf("/") + 1) : id;
    const args = ["record", "--dialect", dialect, "--session", session, "--root", this.cwd];
    const more = MORE[dialect] ?? [];
    const { code, stderr } = await this.run([...args, ...more, ...(isSigned ? ["--sign"] : [])], {
      input,
    });
    assert.equal(code, 0, stderr);
  }

  /** Of files in the store; those of locks and of the trash itself are not a session's. */
  get sessionFiles(): Record<string, string> {
    const names = filesIn(this.cwd).filter((name) => !/\.lock$|\.gitignore$|registry/.test(name));
    return Object.fromEntries(
      names.map((name) => [name, readFileSync(join(this.cwd, name), "latin1")]),
    );
  }
}

/** Locks a log as its writer does. */
async function lockLog(path: string): Promise<{ release(): void }> {
  const directory = await nodeHost.files.openDirectory(dirname(path), { create: false });
  const lock = new LogLock(nodeHost, directory, basename(path));
  await lock.acquire(0);
  return {
    release() {
      lock.close();
      directory.close();
    },
  };
}

function lineOf(dialect: string, text: string): object {
  if (dialect === "rye") return { type: "user_message", text };
  if (dialect === "entire") return { type: "user", message: { role: "user", content: text } };
  if (dialect === "homeagent") return { turnId: "t1", role: "user", content: text, ts: 1e12 };
  const entry = { kind: "message", role: "user", parts: [{ type: "text", text }] };
  return { type: "entry", entry };
}

test.each(Object.entries(LOGS))(
  "a removed session is in no list, no search and no file but the trash, and comes back whole (%s)",
  async (dialect, [id, log]) => {
    const user = new Remover();
    await user.record(dialect, id, `my name is ${VALUE}`);
    const root = ["--root", user.cwd];
    for (const args of [["ls"], ["search", VALUE], ["usage"], ["scan", id]]) {
      await user.run([...args, ...root]);
    }
    const before = user.sessionFiles;
    if (log !== null) assert.ok(log in before, Object.keys(before).join());
    const { code, stdout, stderr } = await user.run(["rm", id, "--reason", "a test", ...root]);
    expect([code, stdout]).toEqual([0, expect.stringContaining(`${id} is in the trash; `)]);
    expect(stderr).toBe("");
    assert.deepEqual(holding(user.home, VALUE), []);
    const inTrash = holding(user.cwd, VALUE);
    assert.ok(inTrash.length > 0);
    for (const name of inTrash) assert.match(name, /^\.verbatim\/trash\//);
    const listed = await user.run(["ls", ...root, "--json"]);
    assert.deepEqual([jsonLines(listed.stdout), listed.code], [[], listed.code]);
    assert.equal((await user.run(["search", VALUE, ...root])).code, 1);
    const verified = await user.run(["verify", id, ...root, "--json"]);
    const [report] = jsonLines(verified.stdout);
    expect([verified.code, report?.verdict]).toEqual([8, "deleted"]);
    const [entry] = jsonLines((await user.run(["rm", "--list", "--json", ...root])).stdout);
    expect(entry).toMatchObject({ session: id, dialect, reason: "a test", hasTombstone: true });
    const restored = await user.run(["restore", id, ...root]);
    expect([restored.code, restored.stderr]).toEqual([0, ""]);
    assert.deepEqual(user.sessionFiles, before);
    const again = await user.run(["verify", id, ...root]);
    expect([again.code, again.stdout]).toEqual([0, expect.stringContaining("verified")]);
    const purged = await user.run(["rm", id, "--purge", "--yes", ...root]);
    expect([purged.code, purged.stdout]).toEqual([0, expect.stringContaining("for good")]);
    assert.deepEqual([...holding(user.home, VALUE), ...holding(user.cwd, VALUE)], []);
    if (log !== null) assert.deepEqual(Object.keys(user.sessionFiles), []);
    assert.equal((await user.run(["restore", id, ...root])).code, 7);
  },
);

test("a session in the trash is purged by its id, and the trash is empty then", async () => {
  const user = new Remover();
  await user.record("verbatim", "hello", VALUE, false);
  await user.run(["rm", "hello"]);
  const purged = await user.run(["rm", "hello", "--purge", "--yes"]);
  expect([purged.code, purged.stdout]).toEqual([0, "hello is removed for good\n"]);
  assert.deepEqual(holding(user.cwd, VALUE), []);
  const listed = await user.run(["rm", "--list"]);
  expect([listed.code, listed.stderr]).toEqual([0, "the trash is empty\n"]);
});

test("a session that is being written is refused, and nothing of it is changed; others go", async () => {
  const user = new Remover();
  await user.record("verbatim", "hello", VALUE);
  const before = user.sessionFiles;
  const holder = await lockLog(join(user.cwd, ".verbatim/sessions/hello.jsonl"));
  const refused = await user.run(["rm", "hello"]);
  expect([refused.code, refused.stderr]).toEqual([7, expect.stringContaining("LOG_LOCKED")]);
  assert.deepEqual(user.sessionFiles, before);
  await user.record("verbatim", "other", VALUE);
  const partly = await user.run(["rm", "other", "hello", "other"]);
  expect([partly.code, partly.stderr]).toEqual([7, expect.stringContaining("LOG_LOCKED")]);
  expect(partly.stdout).toMatch(/^other is in the trash[^\n]*\n$/);
  holder.release();
  assert.equal((await user.run(["rm", "hello"])).code, 0);
});

test("a held session is refused by name and by rule until it is released", async () => {
  const user = new Remover();
  await user.record("verbatim", "case", VALUE, false);
  await user.record("verbatim", "other", VALUE, false);
  assert.equal((await user.run(["rm", "--hold", "case"])).code, 2);
  const held = await user.run(["rm", "--hold", "case", "--reason", "case 4711"]);
  expect([held.code, held.stdout]).toEqual([0, "case is held: nothing removes it\n"]);
  const refused = await user.run(["rm", "case"]);
  expect([refused.code, refused.stderr]).toEqual([7, expect.stringContaining("case 4711")]);
  expect(refused.stderr).toContain("`verbatim rm --release case`");
  const ruled = await user.run(["rm", "--larger-than", "1B", "--yes"]);
  expect([ruled.code, ruled.stderr]).toEqual([7, expect.stringContaining("1 refused")]);
  expect(ruled.stdout).toContain("other is in the trash");
  assert.ok(existsSync(join(user.cwd, ".verbatim/sessions/case.jsonl")));
  assert.equal((await user.run(["rm", "--release", "case"])).code, 0);
  assert.equal((await user.run(["rm", "case"])).code, 0);
});

test("a session from which another began is refused unless that one may be left", async () => {
  const user = new Remover();
  await user.record("verbatim", "parent", VALUE, false);
  const line = { type: "entry", parent: "parent", entry: { kind: "start" } };
  await user.run(["record", "--session", "child"], { input: `${JSON.stringify(line)}\n` });
  const refused = await user.run(["rm", "parent"]);
  expect([refused.code, refused.stderr]).toEqual([7, expect.stringContaining("--leave-forks")]);
  expect(refused.stderr).toContain("child");
  assert.equal((await user.run(["rm", "parent", "--leave-forks"])).code, 0);
});

test("a rule removes a session after those that began from it, and leaves it if one of them stays", async () => {
  const user = new Remover();
  await user.record("verbatim", "parent", VALUE, false);
  for (const child of ["one", "two"]) {
    const line = { type: "entry", parent: "parent", entry: { kind: "start" } };
    await user.run(["record", "--session", child], { input: `${JSON.stringify(line)}\n` });
  }
  const holder = await lockLog(join(user.cwd, ".verbatim/sessions/one.jsonl"));
  const partly = await user.run(["rm", "--larger-than", "1B", "--yes"]);
  assert.equal(partly.code, 7);
  expect(partly.stderr).toMatch(/LOG_LOCKED.*one began from it.*1 session removed.*2 refused/s);
  holder.release();
  const whole = await user.run(["rm", "--larger-than", "1B", "--yes"]);
  expect([whole.code, whole.stderr]).toEqual([0, expect.stringContaining("2 sessions removed")]);
});

test("a shared session is refused unless its shares may be revoked, another of its id is not", async () => {
  const user = new Remover();
  await user.record("verbatim", "hello", "good morning");
  const other = join(user.home, "other");
  mkdirSync(other);
  const entry = `${JSON.stringify(lineOf("verbatim", "good evening"))}\n`;
  await user.run(["record", "--session", "hello", "--root", other], { input: entry });
  mkdirSync(join(user.home, ".local/share/verbatim"), { recursive: true });
  const shared = await user.run(["share", "hello", "--expires", "1d", "--yes"]);
  assert.equal(shared.code, 0, shared.stderr);
  const refused = await user.run(["rm", "hello"]);
  expect([refused.code, refused.stderr]).toEqual([7, expect.stringContaining("--revoke-shares")]);
  const holder = await lockLog(join(user.cwd, ".verbatim/sessions/hello.jsonl"));
  const locked = await user.run(["rm", "hello", "--revoke-shares"]);
  expect(locked.stderr).toContain("LOG_LOCKED");
  assert.equal((await user.run(["rm", "hello", "--root", other, "--revoke-shares"])).code, 0);
  expect((await user.run(["share", "ls"])).stdout).toContain("hello");
  holder.release();
  const removed = await user.run(["rm", "hello", "--revoke-shares"]);
  expect([removed.code, removed.stdout]).toEqual([0, expect.stringContaining("1 share revoked")]);
  const copies = filesIn(user.home).filter((name) => name.endsWith(".vbd"));
  assert.deepEqual(copies, []);
});

test("an unsigned session leaves no tombstone, and a missing signed one is still a rollback", async () => {
  const user = new Remover();
  await user.record("verbatim", "plain", VALUE, false);
  const plain = await user.run(["rm", "plain"]);
  expect(plain.stdout).not.toContain("verify");
  assert.equal((await user.run(["verify", "plain"])).code, 7);
  await user.record("verbatim", "signed", VALUE);
  await user.run(["rm", "signed"]);
  const heads = join(user.home, "state/verbatim/heads.jsonl");
  const path = existsSync(heads) ? heads : join(user.home, ".local/state/verbatim/heads.jsonl");
  const lines = readFileSync(path, "utf8");
  assert.equal((await user.run(["verify", "signed"])).code, 8);
  for (const [from, to] of [
    [/"reason":""/, '"reason":"forged"'],
    [/"by":"[^"]*"/, '"by":"eve@evil"'],
  ] as const) {
    writeFileSync(path, lines.replace(from, to));
    assert.equal((await user.run(["verify", "signed"])).code, 6, String(to));
  }
  writeFileSync(path, lines);
  assert.equal((await user.run(["verify", "signed"])).code, 8);
});

test("an id that was removed can be recorded and signed again, and its loss is noticed", async () => {
  const user = new Remover();
  await user.record("verbatim", "hello", "first");
  await user.run(["rm", "hello"]);
  await user.record("verbatim", "hello", "second");
  const verified = await user.run(["verify", "hello"]);
  expect([verified.code, verified.stdout]).toEqual([0, expect.stringContaining("verified")]);
  const refused = await user.run(["restore", "hello"]);
  expect([refused.code, refused.stderr]).toEqual([7, expect.stringContaining("SESSION_EXISTS")]);
  for (const ending of ["", ".checkpoints"]) {
    rmSync(join(user.cwd, `.verbatim/sessions/hello.jsonl${ending}`));
  }
  assert.equal((await user.run(["verify", "hello"])).code, 6);
});

test("an agent's own session is not touched", async () => {
  const user = new Remover();
  const id = "6f1c2d3e-1000-4000-8000-000000000000";
  writeClaude(user.home, `-home-me-app/${id}.jsonl`, [promptRow(VALUE, { session: id, at: AT })]);
  const before = holding(user.home, VALUE);
  assert.ok(before.length > 0);
  const refused = await user.run(["rm", id]);
  expect([refused.code, refused.stderr]).toEqual([7, expect.stringContaining("REMOVAL_REFUSED")]);
  assert.deepEqual(
    holding(user.home, VALUE).map((name) => basename(name)),
    before.map((name) => basename(name)),
  );
});

test("wrong calls are refused, and remove nothing", async () => {
  const user = new Remover();
  await user.record("verbatim", "hello", VALUE, false);
  const before = user.sessionFiles;
  for (const args of [
    [],
    ["hello", "--older-than", "1d"],
    ["--older-than", "soon"],
    ["--larger-than", "big"],
    ["--list", "--hold"],
    ["--hold", "--older-than", "1d"],
    ["hello", "--purge"],
    ["--older-than", "0d"],
    [""],
  ]) {
    assert.equal((await user.run(["rm", ...args])).code, 2, args.join(" "));
  }
  const setting = await user.run(["rm", "hello"], { env: { VERBATIM_TRASH_DAYS: "soon" } });
  expect([setting.code, setting.stderr]).toEqual([7, expect.stringContaining("BAD_SETTING")]);
  assert.deepEqual(user.sessionFiles, before);
});

/** Until the trash has only the other session's two files and the lock. */
async function serveUntilEmptied(user: Remover): Promise<void> {
  const server = user.start(["serve", "--port", "0"]);
  await until(() => readdirSync(join(user.cwd, ".verbatim/trash")).length === 3);
  server.signal("SIGTERM");
  await server.exitCode();
}

test.each([
  ["guard --once", async (user: Remover) => void (await user.run(["guard", "--once"]))],
  ["rm --list", async (user: Remover) => void (await user.run(["rm", "--list"]))],
  ["serve", serveUntilEmptied],
])(
  "%s empties the trash of what was there for long enough, and leaves the rest",
  async (_, run) => {
    const user = new Remover();
    for (const id of ["due", "later"]) {
      await user.record("verbatim", id, VALUE, false);
      assert.equal((await user.run(["rm", id])).code, 0);
    }
    const trash = join(user.cwd, ".verbatim/trash");
    const records = readdirSync(trash).filter((name) => name.endsWith(".json"));
    const textOf = (name: string) => readFileSync(join(trash, name), "utf8");
    const due = records.find((name) => textOf(name).includes('"id":"due"')) ?? "";
    const at = '"until":"2026-01-01T00:00:00.000Z"';
    writeFileSync(join(trash, due), textOf(due).replace(/"until":"[^"]*"/, at));
    await run(user);
    const left = readdirSync(trash).filter((name) => name !== "trash.lock");
    assert.deepEqual([left.length, left.some((name) => name === due)], [2, false]);
    assert.equal((await user.run(["restore", "later"])).code, 0);
  },
);
