/**
 * A data directory of streams can be read as a store of sessions: ls, show, tail, search, resume.
 */

import assert from "node:assert/strict";
import { readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { onTestFinished, test } from "vitest";
import { nodeHost } from "../../src/core/base/node-host.ts";
import { emptyEntry } from "../../src/core/model/entry.ts";
import { resumeSession } from "../../src/resume/resume.ts";
import { findSession } from "../../src/sessions/list/find-session.ts";
import { findStores } from "../../src/sessions/list/find-stores.ts";
import { renderEntry } from "../../src/sessions/render/entry-markdown.ts";
import { Store } from "../../src/sessions/store/store.ts";
import { type LocalStore, openLocalStore } from "../../src/streams/files/local-store.ts";
import { refusal } from "../support/refusal.ts";
import { SigningUser } from "../support/signing-user.ts";
import { tempDirectory } from "../support/temp-directory.ts";

const JSON_STREAM = {
  contentType: "application/json",
  body: new Uint8Array(0),
  isClosed: false,
};

async function append(store: LocalStore, path: string, value: unknown): Promise<void> {
  await store.append(path, { body: Buffer.from(JSON.stringify(value)), close: false });
}

async function textsOf(root: string, id: string): Promise<string[]> {
  const session = new Store(nodeHost, { dialect: "streams", root }).session(id);
  const texts: string[] = [];
  for await (const { kind, role, parts, native } of session.entries()) {
    const text = parts.map((part) => ("text" in part ? part.text : part.type)).join("|");
    if (kind === "other") assert.match(renderEntry({ ...emptyEntry(native), parts }), /^```json\n/);
    texts.push(kind === "message" ? `${role}: ${text}` : `${kind}: ${JSON.stringify(native)}`);
  }
  await session.release();
  return texts;
}

/** Some chats, a fork, a deleted stream, one that was created again; not closed. */
async function served(): Promise<{ root: string; store: LocalStore }> {
  new SigningUser(); // The test's own pins, keys and catalog.
  const root = tempDirectory();
  const store = await openLocalStore({ dataDirectory: root, writeBackMs: 1e9 });
  onTestFinished(() => store.close());
  for (const path of ["/chat/1", "/gone", "/again", "/numbers"])
    await store.create(path, JSON_STREAM);
  await append(store, "/chat/1", { role: "user", content: "hello" });
  await append(store, "/chat/1", { role: "assistant", content: [{ type: "text", text: "hi" }] });
  await store.create("/fork", { ...JSON_STREAM, fork: { source: "/chat/1" } });
  await store.create("/bare", { ...JSON_STREAM, fork: { source: "/chat/1" } });
  await append(store, "/chat/1", { role: "user", content: "after the fork" });
  await append(store, "/fork", { role: "user", parts: [{ type: "text", text: "in the fork" }] });
  await append(store, "/fork", { progress: 0.5 });
  await append(store, "/gone", { role: "user", content: "secret" });
  await append(store, "/again", { role: "user", content: "first life" });
  await store.remove("/gone");
  await store.remove("/again");
  await store.create("/again", JSON_STREAM);
  await append(store, "/again", {
    kind: "message",
    role: "user",
    parts: [{ type: "text", text: "2" }],
  });
  await append(store, "/numbers", { n: 1 });
  await append(store, "/numbers", [7]);
  await store.create("/raw", { ...JSON_STREAM, contentType: "text/plain" });
  return { root, store };
}

const CHAT = ["user: hello", "assistant: hi", "user: after the fork"];

test("streams are sessions named by their paths, next to a running server and after it", async () => {
  const { root, store } = await served();
  assert.deepEqual(await findStores({ cwd: "/", root }), [{ dialect: "streams", root }]);
  const check = async () => {
    const ids = (await new Store(nodeHost, { dialect: "streams", root }).list()).map(
      ({ id }) => id,
    );
    assert.deepEqual(ids.sort(), ["/again", "/bare", "/chat/1", "/fork", "/numbers"]);
    assert.deepEqual(await textsOf(root, "/chat/1"), CHAT);
    assert.deepEqual(await textsOf(root, "/fork"), [
      ...CHAT.slice(0, 2),
      "user: in the fork",
      'other: {"progress":0.5}',
    ]);
    assert.deepEqual(await textsOf(root, "/bare"), CHAT.slice(0, 2));
    assert.deepEqual(await textsOf(root, "/again"), ["user: 2"]);
    assert.deepEqual(await textsOf(root, "/numbers"), ['other: {"n":1}', 'other: {"value":7}']);
    await refusal(findSession(nodeHost, "/gone", { cwd: "/", root }), "SESSION_NOT_FOUND");
  };
  await check();
  const before = readdirSync(root, { recursive: true }).sort();
  await append(store, "/chat/1", { role: "user", content: "more" });
  CHAT.push("user: more");
  await check();
  assert.deepEqual(readdirSync(root, { recursive: true }).sort(), before, "nothing is written");
  await store.close();
  await check();
});

test("a growing stream can be followed, and cannot be appended to as a session", async () => {
  const { root, store } = await served();
  const streams = new Store(nodeHost, { dialect: "streams", root });
  const session = streams.session("/fork");
  const seen: string[] = [];
  const stopping = new AbortController();
  for await (const { parts } of session.follow({ signal: stopping.signal })) {
    seen.push(parts.map((part) => ("text" in part ? part.text : "")).join(""));
    if (seen.length === 4) await append(store, "/fork", { role: "user", content: "live" });
    if (seen.length === 5) break;
  }
  assert.deepEqual(seen, ["hello", "hi", "in the fork", '```json\n{"progress":0.5}\n```', "live"]);
  await session.release();
  const bytes = readFileSync(join(root, "logs/chat__1.jsonl"));
  const chat = streams.session("/chat/1");
  await refusal(chat.append({ kind: "message", role: "user", parts: [] }), "BAD_SETTING");
  await refusal(streams.create({ id: "/new" }), "BAD_SETTING");
  assert.deepEqual(readFileSync(join(root, "logs/chat__1.jsonl")), bytes);
});

test("a stream of chat messages can be resumed, and one without any is refused", async () => {
  const { root } = await served();
  const options = { for: "anthropic", root, allowUnsigned: true, prompt: null } as const;
  const { messages } = await resumeSession(nodeHost, "/fork", options);
  assert.deepEqual(
    messages.map(({ role }) => role),
    ["user", "assistant", "user"],
  );
  assert.match(JSON.stringify(messages), /hello.*hi.*in the fork/);
  assert.doesNotMatch(JSON.stringify(messages), /progress/);
  const error = await refusal(resumeSession(nodeHost, "/numbers", options), "NOTHING_UNDERSTOOD");
  assert.match(error.message, /none is a message of the dialect streams/);
});
