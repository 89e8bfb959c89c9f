/** What is durable before the journal says it, after a guard was killed, and if the journal fails. */

import assert from "node:assert/strict";
import { appendFileSync, mkdirSync, renameSync, rmSync, utimesSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { test } from "vitest";
import { GuardedUser } from "../../test/support/guarding.ts";
import { tempDirectory } from "../../test/support/temp-directory.ts";
import { type FileCall, WatchedFiles } from "../../test/support/watched-files.ts";
import { nodeHost } from "../core/base/node-host.ts";
import { JOURNAL, readGuardedRoot } from "../dialects/files/guard-store.ts";
import { restore } from "./restore.ts";

const PATH = "projects/-app/one.jsonl";
const COPY = "one.jsonl.1";

/** Where the calls were made, in this order; fails if one is missing or earlier. */
function assertOrder(calls: readonly FileCall[], ...order: readonly [FileCall["call"], string][]) {
  let after = -1;
  for (const [call, name] of order) {
    const at = calls.findIndex((made, index) => {
      return index > after && made.call === call && made.name === name;
    });
    assert.notEqual(at, -1, `${call} of ${name} comes after ${after}`);
    after = at;
  }
}

test("a copy that a killed guard wrote and did not record is durable before it is recorded", async () => {
  const files = new WatchedFiles();
  const user = new GuardedUser({ host: files.host });
  user.write(PATH, "first\n");
  const guard = await user.open();
  const copy = join(guard.directory, `${PATH}.1`);
  mkdirSync(dirname(copy), { recursive: true });
  writeFileSync(copy, "first\n");
  files.calls.length = 0;
  await guard.scan();
  assertOrder(files.calls, ["sync", COPY], ["syncDirectory", "-app"], ["write", JOURNAL]);
  assert.deepEqual(user.happened(), ["began"]);
});

test("bytes that a killed guard left unsynced are synced by the next guard", async () => {
  const files = new WatchedFiles();
  const user = new GuardedUser({ host: files.host });
  user.write(PATH, "first\n");
  await user.pass();
  const grown = "first\nsecond\n";
  user.write(PATH, grown, Date.now() - 5000);
  appendFileSync(join(user.directory, `${PATH}.1`), "second\n");
  files.calls.length = 0;
  await user.pass();
  assert.equal(user.copyOf(PATH), grown);
  assert.equal(files.made("sync", COPY).length, 1);
});

test("a copy is synced before the journal says that its source is deleted", async () => {
  const files = new WatchedFiles();
  const user = new GuardedUser({ host: files.host });
  user.write(PATH, "first\n");
  await user.pass();
  appendFileSync(join(user.directory, `${PATH}.1`), "unsynced\n");
  rmSync(user.pathOf(PATH));
  files.calls.length = 0;
  await user.pass();
  assertOrder(files.calls, ["sync", COPY], ["write", JOURNAL]);
  assert.deepEqual(user.happened(), ["began", "source_deleted"]);
});

test("a copy is synced before the journal says that its source was rewritten", async () => {
  const files = new WatchedFiles();
  const user = new GuardedUser({ host: files.host });
  user.write(PATH, "first\n");
  await user.pass();
  appendFileSync(join(user.directory, `${PATH}.1`), "unsynced\n");
  user.write(PATH, "other\n");
  files.calls.length = 0;
  await user.pass();
  assertOrder(files.calls, ["sync", COPY], ["write", JOURNAL]);
  assert.deepEqual(user.happened(), ["began", "source_rewritten", "began"]);
});

test("each version of a document is synced, the first with its directory", async () => {
  const files = new WatchedFiles();
  const user = new GuardedUser({ dialect: "gemini-cli", host: files.host });
  const name = "session-2026-01-01T10-00-1234.json";
  const write = (type: string, ageMs: number) => {
    const messages = [{ id: "m1", type, content: "text" }];
    const document = JSON.stringify({ sessionId: "1234", lastUpdated: ageMs, messages });
    user.write(`tmp/abc/chats/${name}`, document, Date.now() - ageMs);
  };
  write("user", 9000);
  await user.pass();
  assertOrder(files.calls, ["sync", `${name}.versions`], ["syncDirectory", "chats"]);
  files.calls.length = 0;
  write("gemini", 8000);
  await user.pass();
  assert.equal(files.made("sync", `${name}.versions`).length, 1);
});

test("an event that the disk did not take is recorded by the next scan", async () => {
  const files = new WatchedFiles();
  const user = new GuardedUser({ host: files.host });
  const guard = await user.open();
  user.write(PATH, "first\n");
  let isFull = true;
  files.before = ({ call, name }) => {
    const isRefused = isFull && call === "write" && name === JOURNAL;
    if (isRefused) throw Object.assign(new Error("full"), { code: "ENOSPC" });
    return undefined;
  };
  await assert.rejects(guard.scan());
  isFull = false;
  await guard.scan();
  user.directory = guard.directory;
  assert.deepEqual(user.happened(), ["began"]);
  assert.equal(user.kept(PATH).generation, 1);
  assert.equal(user.copyOf(PATH), "first\n");
});

test("a file that is replaced while it is opened is still copied byte by byte", async () => {
  const { files } = nodeHost;
  let replace = () => {};
  const openDirectory: typeof files.openDirectory = async (path, options) => {
    const directory = await files.openDirectory(path, options);
    const open = directory.open.bind(directory);
    directory.open = (name, mode) => {
      const file = open(name, mode);
      if (name === "one.jsonl") replace();
      return file;
    };
    return directory;
  };
  const user = new GuardedUser({ host: { ...nodeHost, files: { ...files, openDirectory } } });
  user.write(PATH, "first\nfirst\n");
  replace = () => {
    replace = () => {};
    user.write("projects/-app/new", "other\nother\n");
    renameSync(user.pathOf("projects/-app/new"), user.pathOf(PATH));
  };
  await user.pass();
  assert.equal(user.kept(PATH).kind, "bytes");
  assert.equal(user.copyOf(PATH), "first\nfirst\n");
  await user.pass();
  assert.deepEqual(user.happened(), ["began", "source_rewritten", "began"]);
  assert.equal(user.copyOf(PATH, 2), "other\nother\n");
});

test("other bytes of the same size and time are seen if the copy is compressed", async () => {
  const user = new GuardedUser();
  const text = '{"a":1}\n'.repeat(500);
  const mtimeMs = Date.now() - 10_000;
  user.write(PATH, text, mtimeMs);
  const guard = await user.open();
  user.directory = guard.directory;
  await guard.scan();
  user.nowMs = () => Date.now() + 8 * 86_400_000;
  await guard.compressCold();
  await guard.close();
  writeFileSync(user.pathOf(PATH), text.slice(0, 80));
  utimesSync(user.pathOf(PATH), mtimeMs / 1000, mtimeMs / 1000);
  await user.pass();
  assert.deepEqual(user.happened(), ["began", "source_rewritten", "began"]);
  assert.equal(user.copyOf(PATH, 1), text);
});

test("a session whose name cannot be an id is reported", async () => {
  const user = new GuardedUser();
  user.write("projects/a\nb/one.jsonl", "first\n");
  await user.pass();
  assert.match(user.warnings.join(), /its name cannot be an id/);
});

test("a rollout that Codex compressed is not reported as deleted when its plain file vanishes", async () => {
  const user = new GuardedUser({ dialect: "codex" });
  const rollout =
    "archived_sessions/rollout-2025-09-25T09-49-46-01998190-fba6-7f40-9309-dc4e48c5844a";
  user.write(`${rollout}.jsonl`, '{"type":"world_state","payload":{}}\n');
  const guard = await user.open();
  await guard.scan();
  renameSync(user.pathOf(`${rollout}.jsonl`), user.pathOf(`${rollout}.jsonl.zst`));
  assert.equal(await guard.look(`${rollout}.jsonl`), false, "a scan decides");
  await guard.scan();
  assert.ok(!user.happened().includes("source_deleted"));
});

test("a session that is back after a moment was only being replaced", async () => {
  const user: GuardedUser = new GuardedUser({
    host: {
      ...nodeHost,
      clock: { ...nodeHost.clock, sleep: async () => user.write(PATH, "first\nsecond\n") },
    },
  });
  user.write(PATH, "first\n");
  await user.pass();
  rmSync(user.pathOf(PATH));
  await user.pass();
  assert.deepEqual(user.happened(), ["began"]);
});

test("a compressed copy is durable before the plain one is removed", async () => {
  const files = new WatchedFiles();
  const user = new GuardedUser({ host: files.host });
  user.write(PATH, "first\n".repeat(100));
  const guard = await user.open();
  await guard.scan();
  user.nowMs = () => Date.now() + 8 * 86_400_000;
  files.calls.length = 0;
  await guard.compressCold();
  const written = `${COPY}.gz.tmp`;
  assertOrder(files.calls, ["write", written], ["sync", written], ["rename", written]);
  assertOrder(files.calls, ["rename", written], ["syncDirectory", "-app"], ["remove", COPY]);
});

test("a restored file is durable before it takes its place, and its name is durable after", async () => {
  const user = new GuardedUser();
  user.write(PATH, "first\n");
  await user.pass();
  rmSync(user.pathOf(PATH));
  const root = readGuardedRoot(user.directory);
  assert.ok(root);
  const files = new WatchedFiles();
  await restore(files.host, { root, kept: user.kept(PATH) }, { exportTo: tempDirectory() });
  const written = ".one.jsonl.restoring";
  assertOrder(files.calls, ["sync", written], ["rename", written], ["syncDirectory", "-app"]);
  assert.equal(user.sourceOf(PATH), "first\n");
});
