import assert from "node:assert/strict";
import { onTestFinished, test } from "vitest";
import { tempDirectory } from "../../test/support/temp-directory.ts";
import { nodeHost } from "../core/base/node-host.ts";
import { emptyEntry } from "../core/model/entry.ts";
import { dialectNamed } from "../dialects/all.ts";
import { Store } from "../sessions/store/store.ts";
import { resumeSession } from "./resume.ts";
import { TakeBackFilter } from "./retractions.ts";

function item(role: string, content: string) {
  return { type: "item", item: { type: "message", role, content } };
}

async function resumed(
  lines: readonly Record<string, unknown>[],
  upTo?: number,
  dialect: "sdk" | "claude" = "sdk",
) {
  const root = tempDirectory();
  const store = new Store(nodeHost, { dialect, root, durability: "os" });
  onTestFinished(() => store.close());
  const session = store.session("app/s");
  await session.appendLines(lines);
  await session.release();
  const { messages, report } = await resumeSession(nodeHost, "app/s", {
    for: "openai-chat",
    root,
    allowUnsigned: true,
    prompt: null,
    ...(upTo === undefined ? {} : { upTo }),
  });
  const leftOut = report.actions.filter(({ why }) => why === "taken_back");
  return {
    said: messages.map(({ content }) => content),
    leftOut: leftOut.map(({ line }) => line),
    entries: report.entries,
  };
}

test("undone entries are not resumed, and are reported", async () => {
  const pop = (count: number) => ({ type: "pop", count });
  assert.deepEqual(
    await resumed([
      item("user", "one"),
      item("assistant", "two"),
      item("user", "three"),
      pop(1),
      pop(1),
      item("assistant", "four"),
      item("user", "five"),
      pop(0),
    ]),
    { said: ["one", "four", "five"], leftOut: [2, 3], entries: 8 },
  );
  assert.deepEqual(
    await resumed([item("user", "one"), pop(9), { type: "clear" }, item("user", "two")]),
    { said: ["two"], leftOut: [1], entries: 4 },
  );
});

test("up to a turn, entries undone after it are still there", async () => {
  const lines = [item("user", "one"), item("assistant", "two"), item("user", "three")];
  const answered = [...lines, item("assistant", "four"), { type: "pop", count: 3 }];
  assert.deepEqual((await resumed(answered, 1)).said, ["one", "two"]);
  assert.deepEqual((await resumed(answered)).said, ["one"]);
});

test("neutral entries belong to no framework, and are neither popped nor cleared", async () => {
  const note = (text: string) => {
    const parts = [{ type: "text", text }];
    return { type: "entry", entry: { kind: "message", role: "user", parts } };
  };
  const lines = [item("user", "one"), note("two"), { type: "pop", count: 1 }, note("three")];
  assert.deepEqual(await resumed([...lines, item("user", "four"), { type: "clear" }]), {
    said: ["two", "three"],
    leftOut: [1, 5],
    entries: 6,
  });
});

test("a turn ends with its regenerated answer", async () => {
  const asked = [item("user", "one"), item("assistant", "two"), { type: "pop", count: 1 }];
  const lines = [...asked, item("assistant", "three"), item("user", "four"), item("assistant", "")];
  assert.deepEqual((await resumed(lines, 1)).said, ["one", "three"]);
  assert.deepEqual((await resumed(asked, 1)).said, ["one"]);
});

test("of a cleared session only later entries are resumed", async () => {
  const row = (type: string, content: string) => ({ type, message: { role: type, content } });
  const deleted = [
    row("user", "one"),
    { ...row("user", "to another agent"), isSidechain: true },
    { type: "custom-title", customTitle: "One" },
    row("assistant", "two"),
    { type: "verbatim:deleted", timestamp: "2026-11-15T12:01:00.000Z" },
  ];
  const later = [row("user", "three"), row("assistant", "four")];
  const leftOut = [1, 2, 3, 4];
  assert.deepEqual(await resumed([...deleted, ...later], undefined, "claude"), {
    said: ["three", "four"],
    leftOut,
    entries: 7,
  });
  assert.deepEqual((await resumed(deleted, undefined, "claude")).leftOut, leftOut);
  assert.deepEqual((await resumed([...deleted, ...later], 1, "claude")).said, ["one", "two"]);
});

test("entries that can no longer be undone are not held", () => {
  const passed: number[] = [];
  const entries = new TakeBackFilter(dialectNamed("sdk").turns, ({ line }) => passed.push(line));
  const add = (native: Record<string, unknown>, line: number) => {
    entries.add({ ...emptyEntry(native), start: line, end: line + 1, line, verified: true });
  };
  add({ type: "entry", entry: {} }, 1);
  assert.deepEqual(passed, [1]);
  add(item("user", "one"), 2);
  add({ type: "entry", entry: {} }, 3);
  assert.deepEqual(passed, [1]);
  add({ type: "clear" }, 4);
  assert.deepEqual(passed, [1, 2, 3, 4]);
  add(item("user", "two"), 5);
  entries.finish();
  assert.deepEqual(passed, [1, 2, 3, 4, 5]);
});
