import assert from "node:assert/strict";
import { test } from "vitest";
import { type Entry, emptyEntry, type Part, type Role } from "../../core/model/entry.ts";
import { IndexFold, NO_TOOLS, NOTHING_FOLDED, ToolFold } from "./index-fold.ts";

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

test("a file is edited once for each call that does not fail, and a prompt ends with its last answer", () => {
  const edit = (callId: string, path: string): Part => {
    const input = { path, old_string: "a", new_string: "b" };
    return { type: "tool_call", callId, tool: "edit", input };
  };
  const result = (callId: string, error: string | null): Part => {
    return { type: "tool_result", callId, output: null, error, durationMs: null };
  };
  const text = (words: string): Part => ({ type: "text", text: words });
  const entries = [
    said("user", text("Mend it")),
    said("assistant", edit("1", "a.ts"), edit("2", "b.ts")),
    said("tool", result("1", "no such text"), result("2", null)),
    said("assistant", edit("3", "a.ts")),
    said("assistant", text("Done")),
    said("system", text("idle")),
    said("user", text("<system-reminder>No person typed this</system-reminder>")),
    said("user", text("Thanks")),
  ].map((entry, minute) => ({ ...entry, at: `2026-11-15T10:0${minute}:00.000Z` }));
  // Method: saved after any number of entries, so that all it knows must be in its state.
  for (let cut = 0; cut <= entries.length; cut++) {
    let state = NOTHING_FOLDED;
    const edits = new Map<string, number>();
    const prompts = new Map<number, number>();
    for (const [from, to] of [
      [0, cut],
      [cut, entries.length],
    ] as const) {
      const fold = new IndexFold(state);
      for (const [n, entry] of entries.slice(from, to).entries()) fold.add(entry, from + n);
      const piece = fold.take();
      for (const { file, edits: count } of piece.edits) {
        edits.set(file, (edits.get(file) ?? 0) + count);
      }
      for (const { start, ms } of piece.prompts) prompts.set(start, ms);
      state = JSON.parse(JSON.stringify(fold.state()));
    }
    assert.deepEqual(Object.fromEntries(edits), { "a.ts": 1, "b.ts": 1 }, String(cut));
    assert.deepEqual([...prompts], [[0, 240_000]], String(cut));
  }
});

test("what a fold remembers of open edits is bounded, whatever a session names", () => {
  const fold = new IndexFold();
  const patch = (n: number) =>
    Array.from({ length: 40 }, (_, file) => `*** Add File: ${n}/${"x".repeat(900)}${file}\n+a`);
  for (let n = 0; n < 140; n++) {
    const input = `*** Begin Patch\n${patch(n).join("\n")}\n*** End Patch`;
    fold.add(said("assistant", { type: "tool_call", callId: `c${n}`, tool: "patch", input }), n);
    fold.take();
  }
  assert.ok(JSON.stringify(fold.state()).length < 500_000);
});
