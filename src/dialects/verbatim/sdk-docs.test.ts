/** The examples of docs/formats/sdk.md, checked against the code. */

import assert from "node:assert/strict";
import { test } from "vitest";
import { docsPage } from "../../../test/support/docs-page.ts";
import { complete } from "./complete.ts";
import { decode } from "./decode.ts";
import { LINE_TYPES, takingBack } from "./line.ts";
import { signing } from "./sdk-dialect.ts";

const page = docsPage("formats/sdk");
const lines = page.lines("jsonl sdk-line");
const natives = lines.map((line) => JSON.parse(line) as Record<string, unknown>);

test("the page has a line of each kind", () => {
  assert.deepEqual([...new Set(natives.map(({ type }) => type))].sort(), [...LINE_TYPES].sort());
});

test("the example lines are what the writer makes from an integration's input", () => {
  for (const [n, native] of natives.entries()) {
    const { id, at, ...given } = native;
    const facts = { id: "d/s", nowMs: Date.parse(String(at)), newId: () => String(id) };
    const made = complete(given, { ...facts, agent: null, cwd: "/", version: "0", model: null });
    assert.equal(JSON.stringify(made), lines[n]);
  }
});

test("the example lines are decoded as the page says", () => {
  const entries = natives.map((native) => {
    const { entry, fault } = decode(native);
    assert.equal(fault, null);
    return entry;
  });
  assert.deepEqual(
    entries.map(({ kind, role, parts }) => [kind, role, parts.map(({ type }) => type).join()]),
    [
      ["message", "user", "text"],
      ["message", "assistant", "tool_call"],
      ["message", "tool", "tool_result"],
      ["other", null, ""],
      ["other", null, ""],
      ["message", "user", "text"],
      ["other", null, ""],
      ["message", "assistant", "tool_call,tool_result,text"],
      ["message", "user", "text"],
      ["message", "user", "text"],
      ["other", null, ""],
      ["other", null, ""],
      ["other", null, ""],
    ],
  );
  assert.deepEqual(entries[1]?.parts[0], {
    type: "tool_call",
    callId: "c1",
    tool: "look",
    input: { room: "kitchen" },
  });
  assert.deepEqual([entries[7]?.isPartial, entries[7]?.stopReason], [true, "stopped"]);
  assert.deepEqual(
    natives.map((native) => (takingBack.says(native) ? "said" : takingBack.takesBack(native))),
    [
      "said",
      "said",
      "said",
      1,
      Number.POSITIVE_INFINITY,
      "said",
      null,
      "said",
      null,
      "said",
      null,
      null,
      null,
    ],
  );
  assert.deepEqual(
    natives.map((native) => signing.turnMark(native, null)),
    [
      "opens",
      "works",
      "works",
      null,
      null,
      "opens",
      null,
      "works",
      "opens",
      "opens",
      null,
      null,
      null,
    ],
  );
});

test("the bad lines are refused for the reasons on the page", () => {
  const faults = page.lines("jsonl sdk-bad-line").map((line) => decode(JSON.parse(line)).fault);
  assert.deepEqual(faults, page.lines("text sdk-reason"));
});
