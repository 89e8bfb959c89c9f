import assert from "node:assert/strict";
import { test } from "vitest";
import type { EntryItem } from "../../../src/client/session-shapes.ts";
import { type Entry, emptyEntry } from "../../../src/model/entry.ts";
import { factOf, turnsOf } from "./turns.ts";

let offset = 0;

function item(fields: Partial<Entry>): EntryItem {
  const entry = { ...emptyEntry({}), ...fields };
  const start = offset;
  offset += 10;
  const { kind, role, at } = entry;
  return { start, end: offset, bytes: 10, kind, role, at, fault: null, tools: [], entry };
}

function turns(...items: readonly EntryItem[]) {
  return turnsOf(items.map(factOf).filter((fact) => fact !== null));
}

const user = (text: string) =>
  item({ kind: "message", role: "user", parts: [{ type: "text", text }] });
const usage = (totalTokens: number, spend: number | null = null) => {
  return { inputTokens: null, outputTokens: null, totalTokens, spend };
};

test("a turn is a user message, with the cost of answering it", () => {
  const failed = { type: "tool_result", callId: "c", output: null, error: "no", durationMs: 1 };
  const shown = turns(
    item({ kind: "start" }),
    user(" first "),
    item({ kind: "message", parts: [{ type: "tool_call", callId: "c", tool: "t", input: {} }] }),
    item({ kind: "message", role: "user", parts: [failed as Entry["parts"][number]] }),
    item({ kind: "turn_end", usage: usage(5, 0.5) }),
    item({ kind: "turn_end", usage: usage(6, 0.25) }),
    user("second"),
    item({ kind: "end", usage: usage(11, 0.75) }),
  );
  assert.deepEqual(
    shown.map(({ title, tokens, spend, calls, errors }) => [title, tokens, spend, calls, errors]),
    [
      ["first", 11, 0.75, 1, 1],
      ["second", null, null, 0, 0],
    ],
  );
});

test("usage that several lines of a message repeat is counted once (TU1)", () => {
  const said = { kind: "message", role: "assistant", messageId: "m" } as const;
  const [turn] = turns(
    user("x"),
    item({ ...said, usage: usage(4) }),
    item({ ...said, usage: usage(7) }),
    item({ ...said, messageId: "n", usage: usage(1) }),
  );
  assert.equal(turn?.tokens, 8);
});

test("entries before the first prompt are a turn without a title, and a bad line is not a turn", () => {
  const shown = turns(item({ kind: "turn_end", usage: usage(3) }), user("x"));
  assert.deepEqual(
    shown.map(({ title }) => title),
    [null, "x"],
  );
  assert.equal(factOf({ ...item({}), entry: null, fault: "no JSON" }), null);
});
