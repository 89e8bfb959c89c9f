/** A history: one call to resume or create, and messages for each request that cost what is new. */

import assert from "node:assert/strict";
import { appendFileSync, readFileSync, writeFileSync } from "node:fs";
import { basename } from "node:path";
import { test } from "vitest";
import { openHistory as historyOn } from "../../src/resume/history.ts";
import { openHistory, resume } from "../../src/resume.ts";
import { Store } from "../../src/store/store.ts";
import { refusal } from "../support/refusal.ts";
import {
  ALL_SHAPES,
  answered,
  idFor,
  SigningUser,
  said,
  sayable,
  turnOf,
} from "../support/signing-user.ts";
import { tempDirectory } from "../support/temp-directory.ts";
import { WatchedFiles } from "../support/watched-files.ts";

const FOR = { for: "openai-chat" } as const;

function wordsOf({ messages }: { readonly messages: readonly { readonly content: unknown }[] }) {
  return messages.map(({ content }) => content);
}

test.each(Object.entries(ALL_SHAPES))(
  "a history creates a session, continues it in the next process, and gives what resume gives (%s)",
  async (_name, shape) => {
    const user = new SigningUser();
    const root = tempDirectory();
    const id = idFor(shape);
    const words: unknown[] = [];
    for (const [process, isNew] of [true, false, false].entries()) {
      const store = await user.store({ ...shape, root });
      const history = await openHistory(store, id, FOR);
      assert.equal(history.isNew, isNew);
      for (const turn of [1, 2]) {
        const text = `${process}.${turn}`;
        await history.session.append(said(text));
        assert.deepEqual(wordsOf(await history.resume()), [...words, text]);
        await history.session.append(answered(`${text}: done`));
        words.push(text, `${text}: done`);
        const prompt = "And now?";
        assert.deepEqual(wordsOf(await history.resume({ prompt })), [...words, prompt]);
      }
      const { report } = await history.resume({ prompt: null });
      assert.deepEqual([report.verdict, report.unverified], ["verified", 0]);
      await store.close();
      const whole = await resume(id, { ...FOR, root, prompt: null });
      assert.deepEqual(wordsOf(whole), words);
    }
  },
);

test.each(Object.entries(ALL_SHAPES))(
  "a call reads what was appended since the last one, however long the session is (%s)",
  async (_name, shape) => {
    const user = new SigningUser();
    const root = tempDirectory();
    const id = idFor(shape);
    const before = await user.store({ ...shape, root });
    const long = Array.from({ length: 200 }, (_, n) =>
      turnOf(`${n} ${"long ".repeat(400)}`),
    ).flat();
    await before.session(id).append(sayable(before.dialect, long));
    await before.close();

    const files = new WatchedFiles();
    const options = { ...shape, root, sign: true, durability: "os", agent: "hello" } as const;
    const store = new Store(files.host, options);
    const history = await historyOn(files.host, store, id, FOR);
    const log = basename(history.session.path);
    const bytesRead = async () => {
      files.calls.length = 0;
      await history.resume();
      return files.made("read", log).reduce((sum, { bytes }) => sum + bytes, 0);
    };
    const size = readFileSync(history.session.path).length;
    assert.ok(size > 20 * 32 * 1024);
    await bytesRead(); // The report of resuming.
    await history.session.append(said("new"));
    const read = await bytesRead();
    assert.ok(read > 0 && read < 32 * 1024, `${read} of ${size} bytes`);
    assert.equal(await bytesRead(), 0);
    await store.close();
  },
);

test("a line of another program is judged with all others, and refused", async () => {
  const user = new SigningUser();
  const root = tempDirectory();
  const store = await user.store({ dialect: "verbatim", root });
  const history = await openHistory(store, "chat", FOR);
  await history.session.append(said("mine"));
  const entry = { kind: "message", role: "user", parts: [{ type: "text", text: "not mine" }] };
  const line = { type: "entry", id: "x", at: "2026-11-16T10:00:00.000Z", entry };
  appendFileSync(history.session.path, `${JSON.stringify(line)}\n`);
  await history.session.append(said("mine again"));
  const { details } = await refusal(history.resume(), "NOT_VERIFIED");
  assert.equal(details.verdict, "incomplete");
  await store.close();
});

test("an altered session is refused, and a session without a line is begun again", async () => {
  const user = new SigningUser();
  const root = tempDirectory();
  const store = await user.store({ dialect: "verbatim", root });
  const { session } = await openHistory(store, "chat", FOR);
  await session.append(turnOf("one"));
  await openHistory(store, "empty", FOR);
  await store.close();
  writeFileSync(session.path, readFileSync(session.path, "utf8").replace("one: done", "two: done"));

  const next = await user.store({ dialect: "verbatim", root });
  await refusal(openHistory(next, "chat", FOR), "NOT_VERIFIED");
  const { isNew } = await openHistory(next, "empty", FOR);
  assert.ok(isNew);
  await next.close();
});

test("a store that does not sign needs allowUnsigned, before the first line is written", async () => {
  const user = new SigningUser();
  const store = await user.store({ dialect: "verbatim", root: tempDirectory(), sign: false });
  await refusal(openHistory(store, "chat", FOR), "BAD_SETTING");
  assert.equal(await store.has("chat"), false);
  const history = await openHistory(store, "chat", { ...FOR, allowUnsigned: true });
  await history.session.append(said("hi"));
  const { messages, report } = await history.resume();
  assert.deepEqual([messages.length, report.verdict, report.unverified], [1, "unsigned", 1]);
  await store.close();
});
