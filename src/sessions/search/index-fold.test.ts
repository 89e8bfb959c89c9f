import assert from "node:assert/strict";
import { test } from "vitest";
import { type Entry, emptyEntry, type Part, type Role } from "../../core/model/entry.ts";
import { NO_TOOLS, ToolFold } from "./index-fold.ts";

function said(role: Role, ...parts: Part[]): Entry {
  return { ...emptyEntry({}), kind: "message", role, parts };
}

const call = (callId: string | null, tool: string): Part => {
  return { type: "tool_call", callId, tool, input: {} };
};

test("a failure is counted for the call that failed, not for an interrupted one with its id or none", () => {
  for (const id of ["1", null]) {
    const fold = new ToolFold(NO_TOOLS);
    const failure = { output: null, error: "no", durationMs: 5 };
    const entries = [
      said("assistant", call(id, "deploy")),
      said("user", { type: "text", text: "stop" }),
      said("assistant", call(id, "status")),
      said("tool", { type: "tool_result", callId: id, ...failure }),
    ];
    for (const entry of entries) fold.add(entry, "2026-11-15", null, 0);
    const counted = fold.take().map(({ tool, calls, errors }) => [tool, calls, errors]);
    assert.deepEqual(counted, [
      ["deploy", 1, 0],
      ["status", 1, 1],
    ]);
  }
});

test("a call that its growing message repeats counts once; another message's is another call", () => {
  const result: Part = {
    type: "tool_result",
    callId: "c1",
    output: "here",
    error: null,
    durationMs: 5,
  };
  const where = call("c1", "where");
  const entries = [
    { ...said("assistant", where), messageId: "m1" },
    { ...said("assistant", where, result), messageId: "m1" },
    { ...said("assistant", where, result, { type: "text", text: "Home." }), messageId: "m1" },
    { ...said("assistant", where, result, where, result), messageId: "m1" },
    { ...said("assistant", where, result), messageId: "m2" },
    said("assistant", where, result),
  ];
  // Method: saved after any number of entries, so that all it knows must be in its state.
  for (let cut = 0; cut <= entries.length; cut++) {
    const counts = { calls: 0, timed: 0 };
    let state = NO_TOOLS;
    for (const piece of [entries.slice(0, cut), entries.slice(cut)]) {
      const fold = new ToolFold(state);
      for (const entry of piece) fold.add(entry, "2026-11-15", null, 0);
      for (const { calls, timed } of fold.take()) {
        counts.calls += calls;
        counts.timed += timed;
      }
      state = JSON.parse(JSON.stringify(fold.state()));
    }
    assert.deepEqual(counts, { calls: 4, timed: 4 }, `cut at ${cut}`);
  }
});
