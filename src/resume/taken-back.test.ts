import assert from "node:assert/strict";
import { onTestFinished, test } from "vitest";
import { tempDirectory } from "../../test/support/temp-directory.ts";
import { nodeHost } from "../base/node-host.ts";
import { Store } from "../store/store.ts";
import { resumeSession } from "./resume.ts";

function item(role: string, content: string) {
  return { type: "item", item: { type: "message", role, content } };
}

async function resumed(lines: readonly Record<string, unknown>[], upTo?: number) {
  const root = tempDirectory();
  const store = new Store(nodeHost, { dialect: "sdk", root, durability: "os" });
  onTestFinished(() => store.close());
  const session = store.session("openai-agents/s");
  await session.appendNatives(lines);
  await session.release();
  const { messages, report } = await resumeSession(nodeHost, "openai-agents/s", {
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

test("what was taken back is no part of what is resumed, and is reported", async () => {
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

test("up to a turn, what was taken back after it is still there", async () => {
  const lines = [item("user", "one"), item("assistant", "two"), item("user", "three")];
  const answered = [...lines, item("assistant", "four"), { type: "pop", count: 3 }];
  assert.deepEqual((await resumed(answered, 1)).said, ["one", "two"]);
  assert.deepEqual((await resumed(answered)).said, ["one"]);
});
