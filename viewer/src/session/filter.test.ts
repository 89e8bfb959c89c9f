import assert from "node:assert/strict";
import { test } from "vitest";
import type { EntryItem } from "../../../src/client/session-shapes.ts";
import { emptyEntry, type Part } from "../../../src/core/model/entry.ts";
import { type FilterName, formatFilter, matching, parseFilter } from "./filter.ts";

let start = 0;
function item(role: EntryItem["role"], parts: readonly Part[], kinds: string[] = []): EntryItem {
  start += 10;
  const tools = kinds.map((kind) => ({ kind, verb: "", subject: null, path: null, lines: null }));
  const entry = { ...emptyEntry({}), kind: "message" as const, role, parts };
  const place = {
    start,
    end: start + 10,
    bytes: 10,
    at: null,
    fault: null,
    aside: null,
    results: [],
  };
  return { ...place, kind: "message", role, entry, tools: tools as EntryItem["tools"] };
}
const text = (words: string): Part => ({ type: "text", text: words });
const call = (callId: string): Part => ({ type: "tool_call", callId, tool: "t", input: {} });
const result = (callId: string, error: string | null): Part => {
  return { type: "tool_result", callId, output: "", error, durationMs: null };
};

const ITEMS = [
  item("user", [text("Do it")]),
  item("user", [text("<system-reminder>x</system-reminder>")]),
  item("assistant", [{ type: "reasoning", text: "hm" }]),
  item("assistant", [text("I will"), call("a")], ["command"]),
  item("tool", [result("a", "exit 1")]),
  item("assistant", [call("b")], ["edit"]),
  item("tool", [result("b", null)]),
  { ...item("user", []), entry: null, fault: "not JSON" },
];

const chosen = (...names: FilterName[]) => {
  return matching(ITEMS, new Set(names)).map((each) => ITEMS.indexOf(each));
};

test("each kind of a filter shows its entries, and calls with their results", () => {
  assert.deepEqual(chosen("prompts"), [0]);
  assert.deepEqual(chosen("answers"), [3]);
  assert.deepEqual(chosen("thinking"), [2]);
  assert.deepEqual(chosen("tools"), [3, 4, 5, 6]);
  assert.deepEqual(chosen("errors"), [3, 4, 7]);
  assert.deepEqual(chosen("edits"), [5, 6]);
  assert.deepEqual(chosen("prompts", "edits"), [0, 5, 6]);
  assert.equal(matching(ITEMS, new Set()).length, ITEMS.length);
});

test("a filter is read back from its address, and any text is some filter", () => {
  assert.equal(formatFilter(parseFilter("edits,errors")), "errors,edits");
  assert.equal(parseFilter("nonsense,").size, 0);
});
