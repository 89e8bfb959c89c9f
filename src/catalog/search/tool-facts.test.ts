import assert from "node:assert/strict";
import { test } from "vitest";
import { type Entry, emptyEntry, type Part, type Role } from "../../model/entry.ts";
import { NO_TOOLS, ToolFold } from "./tool-facts.ts";

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
