import assert from "node:assert/strict";
import { existsSync } from "node:fs";
import { test } from "vitest";
import { type Native, type NewEntry, openStore, type StoreOptions } from "../../src/doors/index.ts";
import { refusal } from "../support/refusal.ts";
import { SigningUser } from "../support/signing-user.ts";
import { tempDirectory } from "../support/temp-directory.ts";

const said = (text: string): NewEntry => ({
  kind: "message",
  role: "user",
  parts: [{ type: "text", text }],
});

/** A line of each dialect that its own programs would write. */
const LINES: readonly [StoreOptions["dialect"], string | undefined, Native][] = [
  ["verbatim", undefined, { type: "entry", entry: said("a line") }],
  ["rye", undefined, { type: "user_message", text: "a line", role: "user" }],
  ["homeagent", "cook/1", { turnId: "1", role: "user", content: "a line", ts: 1 }],
  ["entire", undefined, { type: "user", message: { content: "a line" } }],
  ["claude", "app/1", { type: "user", uuid: "u-1", message: { role: "user", content: "a line" } }],
  ["sdk", "openai-agents/1", { type: "item", item: { role: "user", content: "a line" } }],
];

for (const sign of [false, true]) {
  test.each(LINES)(
    `%s: entries and lines appended together are read in order, each to its offset (sign: ${sign})`,
    async (dialect, id, line) => {
      new SigningUser(); // Its own keys and pins.
      const root = tempDirectory();
      const store = await openStore({ dialect, root, agent: "a", sign } as StoreOptions);
      const session = id === undefined ? await store.create() : store.session(id);
      const one = await session.append(said("one"));
      const ends = await session.append([said("two"), line, said("three")]);
      const alone = await session.append(dialect === "claude" ? { ...line, uuid: "u-2" } : line);
      const entries = [];
      for await (const { kind, parts, end } of session.entries()) {
        if (kind === "message") entries.push({ text: textOf(parts), end });
      }
      assert.deepEqual(
        entries.map(({ text }) => text),
        ["one", "two", "a line", "three", "a line"],
      );
      assert.deepEqual(
        entries.map(({ end }) => end),
        [one, ...ends, alone],
      );
      await store.close();
    },
  );
}

function textOf(parts: NewEntry["parts"]): string {
  return (parts ?? []).map((part) => (part.type === "text" ? part.text : "")).join("");
}

test("if one of a list is refused, none of it is written, and no file is made", async () => {
  const store = await openStore({ dialect: "rye", root: tempDirectory(), agent: "a" });
  const session = store.session("a-1");
  const bad = { kind: "message", role: "nurse" } as unknown as NewEntry;
  const { details } = await refusal(session.append([said("one"), bad]), "INVALID_ENTRY");
  assert.equal(details.field, "role");
  await refusal(session.append([said("one"), {}]), "INVALID_ENTRY");
  assert.equal(existsSync(session.path), false);
  assert.deepEqual(await session.append([]), []);
  assert.equal(existsSync(session.path), false);
  await store.close();
});

test("an object with an entry's kind is an entry; with another kind and a type it is a line", async () => {
  const store = await openStore({ dialect: "rye", root: tempDirectory(), agent: "a" });
  const session = store.session("a-1");
  const both = { kind: "message", type: "user_message", text: "hi" };
  const refused = await refusal(session.append(both as unknown as NewEntry), "INVALID_ENTRY");
  assert.equal(refused.details.field, "type");
  const misspelt = { kind: "mesage", role: "user" } as unknown as NewEntry;
  assert.equal((await refusal(session.append(misspelt), "INVALID_ENTRY")).details.field, "kind");
  await session.append({ type: "user_message", text: "hi", kind: "fast" } as Native);
  const [entry] = await session.last(1);
  assert.equal(entry?.native.kind, "fast");
  await store.close();
});

test.each([[null], [undefined], [5], ["text"], [true], [() => {}], [[["nested"]]], [[null]]])(
  "what is neither an entry nor a line is refused: %j",
  async (given) => {
    const store = await openStore({ root: tempDirectory() });
    const session = await store.create();
    await refusal(session.append(given as unknown as NewEntry), "INVALID_ENTRY");
    await store.close();
  },
);

test("a list that ends the session gives it its files", async () => {
  const store = await openStore({ dialect: "entire", root: tempDirectory(), model: "m" });
  const session = await store.create();
  const [first, end] = await session.append([said("one"), { kind: "end" }]);
  assert.equal(first, end);
  assert.ok(existsSync(session.path.replace("full.jsonl", "context.md")));
  await store.close();
});

test("a closed session refuses every form of append", async () => {
  const store = await openStore({ root: tempDirectory() });
  const session = await store.create();
  await session.close();
  for (const given of [said("one"), [said("one")], [], { type: "entry", entry: said("x") }]) {
    await refusal(session.append(given as NewEntry), "LOG_CLOSED");
  }
});

test("the compiler refuses a misspelt field of an entry, and takes any line", async () => {
  const store = await openStore({ dialect: "rye", root: tempDirectory(), agent: "a" });
  const session = store.session("a-1");
  // @ts-expect-error `rol` is not a field of an entry.
  await refusal(session.append({ kind: "message", rol: "user" }), "INVALID_ENTRY");
  const row: Readonly<Record<string, unknown>> = { type: "user_message", text: "hi" };
  await session.append(row);
  await session.append({ type: "user_message", text: "again" });
  await store.close();
});
