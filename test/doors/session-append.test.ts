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
    `%s: entries and lines are read in order, each to its offset (sign: ${sign})`,
    async (dialect, id, line) => {
      new SigningUser(); // Its own keys and pins.
      const root = tempDirectory();
      const store = await openStore({ dialect, root, agent: "a", sign } as StoreOptions);
      const session = id === undefined ? await store.create() : store.session(id);
      const one = await session.append(said("one"));
      const more = await session.appendAll([said("two"), said("three")]);
      const again = dialect === "claude" ? { ...line, uuid: "u-2" } : line;
      const lines = await session.appendLines([line, again]);
      const entries = [];
      for await (const { kind, parts, end } of session.entries()) {
        if (kind === "message") entries.push({ text: textOf(parts), end });
      }
      assert.deepEqual(
        entries.map(({ text }) => text),
        ["one", "two", "three", "a line", "a line"],
      );
      assert.deepEqual(
        entries.map(({ end }) => end),
        [one, ...more, ...lines],
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
  const { details } = await refusal(session.appendAll([said("one"), bad]), "INVALID_ENTRY");
  assert.equal(details.field, "role");
  await refusal(session.appendAll([said("one"), {} as NewEntry]), "INVALID_ENTRY");
  await refusal(session.appendLines([{ type: "user_message", text: "hi" }, {}]), "INVALID_ENTRY");
  assert.equal(existsSync(session.path), false);
  assert.deepEqual(await session.appendAll([]), []);
  assert.deepEqual(await session.appendLines([]), []);
  assert.equal(existsSync(session.path), false);
  await store.close();
});

test("append takes entries alone, and names the method for anything else", async () => {
  const store = await openStore({ dialect: "rye", root: tempDirectory(), agent: "a" });
  const session = store.session("a-1");
  const line = { type: "user_message", text: "hi" } as unknown as NewEntry;
  const refused = await refusal(session.append(line), "INVALID_ENTRY");
  assert.match(refused.message, /appendLines/);
  const misspelt = { kind: "mesage", role: "user" } as unknown as NewEntry;
  assert.equal((await refusal(session.append(misspelt), "INVALID_ENTRY")).details.field, "kind");
  const list = [said("hi")] as unknown as NewEntry;
  assert.match((await refusal(session.append(list), "INVALID_ENTRY")).message, /list/);
  await store.close();
});

test.each([[null], [undefined], [5], ["text"], [true], [() => {}], [[["nested"]]], [[null]]])(
  "what is not an entry is refused by every form of append: %j",
  async (given) => {
    const store = await openStore({ root: tempDirectory() });
    const session = await store.create();
    const untyped = given as never;
    await refusal(session.append(untyped), "INVALID_ENTRY");
    await refusal(session.appendAll([untyped]), "BAD_SETTING");
    await refusal(session.appendLines([untyped]), "BAD_SETTING");
    await refusal(session.appendAll("text" as never), "BAD_SETTING");
    await store.close();
  },
);

test("a list that ends the session gives it its files", async () => {
  const store = await openStore({ dialect: "entire", root: tempDirectory(), model: "m" });
  const session = await store.create();
  const [first, end] = await session.appendAll([said("one"), { kind: "end" }]);
  assert.equal(first, end);
  assert.ok(existsSync(session.path.replace("full.jsonl", "context.md")));
  await store.close();
});

test("a closed session refuses every form of append", async () => {
  const store = await openStore({ root: tempDirectory() });
  const session = await store.create();
  await session.close();
  await refusal(session.append(said("one")), "LOG_CLOSED");
  await refusal(session.appendAll([said("one")]), "LOG_CLOSED");
  await refusal(session.appendAll([]), "LOG_CLOSED");
  await refusal(session.appendLines([{ type: "entry", entry: said("x") }]), "LOG_CLOSED");
});
