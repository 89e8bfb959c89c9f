/** A resumable session: one call to resume or create, and messages for each request that cost what is new. */

import assert from "node:assert/strict";
import { appendFileSync, readFileSync, writeFileSync } from "node:fs";
import { basename } from "node:path";
import fc from "fast-check";
import { test } from "vitest";
import type { NewEntry } from "../../src/core/model/entry.ts";
import { openResumable, resume } from "../../src/doors/resume.ts";
import { openResumable as resumableOn } from "../../src/resume/resumable.ts";
import { TARGET_NAMES } from "../../src/resume/resume.ts";
import { Store } from "../../src/sessions/store/store.ts";
import { refusal } from "../support/refusal.ts";
import { runs } from "../support/seed.ts";
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
  "a chat creates a session, continues it in the next process, and gives what resume gives (%s)",
  async (_name, shape) => {
    const user = new SigningUser();
    const root = tempDirectory();
    const id = idFor(shape);
    const words: unknown[] = [];
    for (const [process, isNew] of [true, false, false].entries()) {
      const store = await user.store({ ...shape, root });
      const chat = await openResumable(store, id, FOR);
      assert.equal(chat.isNew, isNew);
      for (const turn of [1, 2]) {
        const text = `${process}.${turn}`;
        await chat.session.append(said(text));
        assert.deepEqual(wordsOf(await chat.resume()), [...words, text]);
        await chat.session.append(answered(`${text}: done`));
        words.push(text, `${text}: done`);
        const prompt = "And now?";
        assert.deepEqual(wordsOf(await chat.resume({ prompt })), [...words, prompt]);
      }
      const { report } = await chat.resume({ prompt: null });
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
    await before.session(id).appendAll(sayable(before.dialect, long));
    await before.close();

    const files = new WatchedFiles();
    const options = { ...shape, root, sign: true, durability: "os", agent: "hello" } as const;
    const store = new Store(files.host, options);
    const chat = await resumableOn(files.host, store, id, FOR);
    const log = basename(chat.session.path);
    const bytesRead = async () => {
      files.calls.length = 0;
      await chat.resume();
      return files.made("read", log).reduce((sum, { bytes }) => sum + bytes, 0);
    };
    const size = readFileSync(chat.session.path).length;
    assert.ok(size > 20 * 32 * 1024);
    await bytesRead(); // The report of resuming.
    await chat.session.append(said("new"));
    const read = await bytesRead();
    assert.ok(read > 0 && read < 32 * 1024, `${read} of ${size} bytes`);
    assert.equal(await bytesRead(), 0);
    await store.close();
  },
);

const FOREIGN = {
  type: "entry",
  id: "x",
  at: "2026-11-16T10:00:00.000Z",
  entry: { kind: "message", role: "user", parts: [{ type: "text", text: "not mine" }] },
};

test("a line of another program is judged with all others, and refused", async () => {
  const user = new SigningUser();
  const root = tempDirectory();
  const store = await user.store({ dialect: "verbatim", root });
  const chat = await openResumable(store, "chat", FOR);
  await chat.session.append(said("mine"));
  appendFileSync(chat.session.path, `${JSON.stringify(FOREIGN)}\n`);
  await chat.session.append(said("mine again"));
  const { details } = await refusal(chat.resume(), "NOT_VERIFIED");
  assert.equal(details.verdict, "incomplete");
  await store.close();
});

test("a line that another program appends just before a write is judged, too", async () => {
  const user = new SigningUser();
  const root = tempDirectory();
  await (await user.store({ dialect: "verbatim", root })).close(); // Makes the key.
  const files = new WatchedFiles();
  const store = new Store(files.host, { dialect: "verbatim", root, sign: true });
  const chat = await resumableOn(files.host, store, "chat", FOR);
  await chat.session.append(said("mine"));
  assert.equal((await chat.resume()).messages.length, 1);
  const { path } = chat.session;
  files.before = ({ call, name }) => {
    if (call !== "write" || name !== basename(path)) return undefined;
    files.before = () => undefined;
    appendFileSync(path, `${JSON.stringify(FOREIGN)}\n`);
    return undefined;
  };
  await chat.session.append(said("mine again"));
  await refusal(chat.resume(), "NOT_VERIFIED");
  await store.close();
});

test("an altered session is refused, and a session without a line is begun again", async () => {
  const user = new SigningUser();
  const root = tempDirectory();
  const store = await user.store({ dialect: "verbatim", root });
  const { session } = await openResumable(store, "chat", FOR);
  await session.appendAll(turnOf("one"));
  await openResumable(store, "empty", FOR);
  await store.close();
  writeFileSync(session.path, readFileSync(session.path, "utf8").replace("one: done", "two: done"));

  const next = await user.store({ dialect: "verbatim", root });
  await refusal(openResumable(next, "chat", FOR), "NOT_VERIFIED");
  const { isNew } = await openResumable(next, "empty", FOR);
  assert.ok(isNew);
  await next.close();
});

test("a store that does not sign needs allowUnsigned, before the first line is written", async () => {
  const user = new SigningUser();
  const store = await user.store({ dialect: "verbatim", root: tempDirectory(), sign: false });
  await refusal(openResumable(store, "chat", FOR), "BAD_SETTING");
  assert.equal(await store.has("chat"), false);
  const chat = await openResumable(store, "chat", { ...FOR, allowUnsigned: true });
  await chat.session.append(said("hi"));
  const { messages, report } = await chat.resume();
  assert.deepEqual([messages.length, report.verdict, report.unverified], [1, "unsigned", 1]);
  await store.close();
});

const callId = fc.constantFrom("c1", "c2", "c3");
const words = fc.constantFrom("one", "two", " ", "line\u0000break");
const part = fc.oneof(
  words.map((text) => ({ type: "text", text }) as const),
  fc.record({
    type: fc.constant("reasoning" as const),
    text: words,
    signature: fc.constantFrom("c2ln", undefined),
  }),
  fc.record({
    type: fc.constant("tool_call" as const),
    callId,
    tool: fc.constantFrom("bash", "no tool!"),
    input: fc.constantFrom({ n: 1 }, "text"),
  }),
  fc.record({
    type: fc.constant("tool_result" as const),
    callId,
    output: words,
    error: fc.constantFrom(null, "failed"),
    durationMs: fc.constant(1),
  }),
);
/** Anything a program may append: calls are answered late, twice or never, messages in pieces. */
const anyEntry = fc.oneof(
  {
    weight: 6,
    arbitrary: fc.record({
      kind: fc.constant("message" as const),
      role: fc.constantFrom("user" as const, "assistant" as const, "tool" as const),
      parts: fc.array(part, { minLength: 1, maxLength: 3 }),
      messageId: fc.constantFrom("m1", "m2"),
    }),
  },
  { weight: 1, arbitrary: fc.constant({ kind: "turn_start" as const }) },
  {
    weight: 1,
    arbitrary: fc.constant({
      kind: "message" as const,
      role: "system" as const,
      parts: [{ type: "text" as const, text: "Be brief." }],
    }),
  },
) as fc.Arbitrary<NewEntry>;

test.each(["verbatim", "claude"] as const)(
  "after every append a chat is what a fresh resume is, for every provider (%s)",
  async (dialect) => {
    const user = new SigningUser();
    const pieces = fc.array(fc.array(anyEntry, { maxLength: 4 }), { minLength: 2, maxLength: 6 });
    await fc.assert(
      fc.asyncProperty(pieces, fc.constantFrom(...TARGET_NAMES), async (appends, target) => {
        const store = await user.store({ dialect, root: tempDirectory(), sign: false });
        const id = idFor({ dialect });
        const options = { for: target, allowUnsigned: true } as const;
        const chat = await openResumable(store, id, options);
        await chat.session.append(said("first"));
        const earlier = [];
        for (const entries of appends) {
          const given = sayable(dialect, entries);
          if (given.length > 0) await chat.session.appendAll(given);
          for (const prompt of [undefined, null]) {
            const kept = await chat.resume(prompt === undefined ? {} : { prompt });
            const ask = { ...options, ...(prompt === undefined ? {} : { prompt }) };
            const fresh = await resume(chat.session, ask);
            const facts = ({ messages, system, model, tools, report }: typeof fresh) => {
              return { messages, system, model, tools, report };
            };
            assert.deepEqual(facts(kept), facts(fresh));
            earlier.push([kept, structuredClone(facts(kept))] as const);
          }
        }
        // What was returned stays, and callers may change it: the last call is as if they had not.
        for (const [kept, copy] of earlier) {
          assert.deepEqual(kept.messages, copy.messages);
          assert.deepEqual(kept.report, copy.report);
        }
        await store.close();
      }),
      { numRuns: runs(25) },
    );
  },
);

test.each(TARGET_NAMES)(
  "no caller can change what later calls return: the list is its own, everything else is frozen (%s)",
  async (target) => {
    const user = new SigningUser();
    const store = await user.store({ dialect: "verbatim", root: tempDirectory() });
    const chat = await openResumable(store, "chat", { for: target });
    const call = { type: "tool_call", callId: "c", tool: "bash", input: { deep: [{}] } } as const;
    await chat.session.appendAll(turnOf("one"));
    await chat.session.append({ kind: "message", role: "assistant", parts: [call] });
    const { messages, tools, report } = await chat.resume({ prompt: null });
    const before = structuredClone({ messages, tools, report });
    assertFrozen([...messages, ...report.messages, ...report.actions, report.head]);

    const [copy] = structuredClone(messages);
    Object.assign(copy as object, { content: "changed" });
    messages.length = 0;
    (tools as string[]).push("another");
    (report.messages as unknown[]).length = 0;
    (report.actions as unknown[]).length = 0;
    const next = await chat.resume({ prompt: null });
    assert.deepEqual({ messages: next.messages, tools: next.tools, report: next.report }, before);
    await store.close();
  },
);

function assertFrozen(value: unknown): void {
  if (typeof value !== "object" || value === null) return;
  for (const inner of Object.values(value)) {
    assert.ok(typeof inner !== "object" || Object.isFrozen(inner), JSON.stringify(inner));
    assertFrozen(inner);
  }
}

test("messages are assembled once: the next call returns the very objects", async () => {
  const user = new SigningUser();
  const store = await user.store({ dialect: "verbatim", root: tempDirectory() });
  const chat = await openResumable(store, "chat", { for: "anthropic" });
  for (const text of ["one", "two", "three"]) await chat.session.appendAll(turnOf(text));
  const first = await chat.resume({ prompt: "And now?" });
  await chat.session.appendAll(turnOf("four"));
  const second = await chat.resume();
  assert.equal(first.messages.length, 7);
  for (const [at, message] of first.messages.slice(0, 5).entries()) {
    assert.equal(second.messages[at], message);
  }
  await store.close();
});
