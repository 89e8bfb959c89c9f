import assert from "node:assert/strict";
import { appendFileSync, readFileSync, rmSync } from "node:fs";
import { join } from "node:path";
import { test } from "vitest";
import { GuardedUser } from "../../test/support/guarding.ts";
import { tempDirectory } from "../../test/support/temp-directory.ts";
import { nodeHost } from "../core/base/node-host.ts";
import { readGuardedRoot } from "../dialects/files/guard-store.ts";
import { restore } from "./restore.ts";
import { WHOLE_EVERY } from "./versions.ts";

const PATH = "tmp/abc/chats/session-2026-01-01T10-00-1234.json";

interface Message {
  readonly id: string;
  readonly type: string;
  readonly content: string;
}

function message(id: number, content = `text ${id}`): Message {
  return { id: `m${id}`, type: id % 2 ? "user" : "gemini", content };
}

function document(messages: readonly Message[], lastUpdated = messages.length): string {
  return JSON.stringify({ sessionId: "1234", lastUpdated, messages }, null, 2);
}

function rowsOf(text: string | null): unknown[] {
  const lines = (text ?? "").split("\n").filter((line) => line !== "");
  return lines.map((line) => JSON.parse(line).id ?? "header");
}

async function restored(user: GuardedUser, options: { generation?: number; version?: number }) {
  const root = readGuardedRoot(user.directory);
  assert.ok(root);
  const to = tempDirectory();
  const session = { root, kept: user.kept(PATH) };
  await restore(nodeHost, session, { to, exportTo: to, ...options });
  return readFileSync(join(to, PATH), "utf8");
}

test("of a document that is written again, each new message is appended as a line", async () => {
  const user = new GuardedUser({ dialect: "gemini-cli" });
  user.write(PATH, document([message(1)]), Date.now() - 9000);
  await user.pass();
  user.write(PATH, document([message(1), message(2)]), Date.now() - 8000);
  await user.pass();
  assert.deepEqual(user.happened(), ["began"]);
  assert.deepEqual(rowsOf(user.copyOf(PATH)), ["header", "m1", "header", "m2"]);
});

test("a changed message is appended, and a disappeared one closes the generation", async () => {
  const user = new GuardedUser({ dialect: "gemini-cli" });
  const guard = await user.open();
  user.directory = guard.directory;
  user.write(PATH, document([message(1), message(2)]), Date.now() - 9000);
  await guard.scan();
  user.write(PATH, document([message(1), message(2, "other")]), Date.now() - 8000);
  await guard.scan();
  assert.deepEqual(user.happened(), ["began", "rows_changed"]);
  user.write(PATH, document([message(2, "other")]), Date.now() - 7000);
  await guard.scan();
  assert.equal(user.events[0]?.lost, 1);
  assert.deepEqual(user.happened(), ["source_rewritten", "began"]);
  assert.deepEqual(rowsOf(user.copyOf(PATH, 2)), ["header", "m2"]);
});

test("each version of a document is restored byte for byte, and costs what it added", async () => {
  const user = new GuardedUser({ dialect: "gemini-cli" });
  const guard = await user.open();
  user.directory = guard.directory;
  const versions: string[] = [];
  const messages: Message[] = [];
  for (let turn = 1; turn <= WHOLE_EVERY + 6; turn++) {
    messages.push(message(turn, `${turn} `.repeat(400)));
    versions.push(document(messages));
    user.write(PATH, versions.at(-1) ?? "", Date.now() - 100_000 + turn * 1000);
    await guard.scan();
  }
  for (const [at, expected] of versions.entries()) {
    assert.equal(await restored(user, { version: at + 1 }), expected);
  }
  assert.equal(await restored(user, {}), versions.at(-1));
  const stored = readFileSync(join(user.directory, `${PATH}.versions`)).length;
  assert.ok(stored < (versions.at(-1) ?? "").length, `${stored} bytes for all versions`);
});

test("the last version before a loss is the generation that is restored", async () => {
  const user = new GuardedUser({ dialect: "gemini-cli" });
  const whole = document([message(1), message(2), message(3)]);
  user.write(PATH, whole, Date.now() - 9000);
  await user.pass();
  user.write(PATH, document([message(1)]), Date.now() - 8000);
  await user.pass();
  rmSync(user.pathOf(PATH));
  await user.pass();
  assert.deepEqual(user.happened().slice(1), ["source_rewritten", "began", "source_deleted"]);
  assert.equal(await restored(user, { generation: 1 }), whole);
  assert.equal(await restored(user, { generation: 2 }), document([message(1)]));
});

test("a line that a crash left incomplete is written again", async () => {
  const user = new GuardedUser({ dialect: "gemini-cli" });
  user.write(PATH, document([message(1)]), Date.now() - 9000);
  await user.pass();
  appendFileSync(join(user.directory, `${PATH}.1`), '{"id":"m');
  appendFileSync(join(user.directory, `${PATH}.versions`), '{"v":1,"ver');
  const next = document([message(1), message(2)]);
  user.write(PATH, next, Date.now() - 8000);
  await user.pass();
  assert.deepEqual(rowsOf(user.copyOf(PATH)), ["header", "m1", "header", "m2"]);
  assert.equal(await restored(user, {}), next);
});

test("a compressed rollout of Codex is guarded as rows and restored byte for byte", async () => {
  const user = new GuardedUser({ dialect: "codex" });
  const path =
    "sessions/2025/09/25/rollout-2025-09-25T10-00-00-6f1c2d3e-0000-4000-8000-000000000001.jsonl.zst";
  const line = '{"type":"response_item","payload":{"type":"message","role":"user","content":[]}}\n';
  const block = Buffer.alloc(3);
  block.writeUIntLE((line.length << 3) | 1, 0, 3); // A last block, stored as it is.
  const head = Buffer.from([0x28, 0xb5, 0x2f, 0xfd, 0, 0x38]);
  const frame = Buffer.concat([head, block, Buffer.from(line)]);
  user.write(path, frame);
  await user.pass();
  assert.equal(user.copyOf(path), line);
  rmSync(user.pathOf(path));
  await user.pass();
  const root = readGuardedRoot(user.directory);
  assert.ok(root);
  const session = { root, kept: user.kept(path) };
  const restored = await restore(nodeHost, session, { exportTo: tempDirectory() });
  assert.equal(restored.path, user.pathOf(path));
  assert.ok(readFileSync(restored.path).equals(frame));
});
