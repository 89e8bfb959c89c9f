/** What agents record about edits, as numbers of lines; compared with the files they have read. */

import assert from "node:assert/strict";
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { test } from "vitest";
import { SESSIONS } from "../../scripts/agent-samples/scenarios.mjs";
import { dialectNamed } from "../../src/dialects/all.ts";
import { toolViews } from "../../src/dialects/tool-table.ts";
import { OutlineFold } from "../../src/sessions/outline/outline-fold.ts";
import { changesIn, recordedChanges } from "../../src/sessions/render/changes.ts";
import {
  type NumberedLine,
  numberLines,
  readHunks,
} from "../../src/sessions/render/html/diff-lines.ts";
import { ENTIRE_CHECKPOINTS } from "../support/entire-checkpoints.ts";
import { sampleLogs } from "../support/samples.ts";
import { sharedFiles } from "../support/shared-files.ts";
import { rowsIn } from "./read-session.ts";

const UNIFIED = "--- a.ts\tCurrent\n+++ a.ts\tProposed\n@@ -11,3 +11,4 @@\n a\n-b\n+c\n+d\n e\n";
const PATCH = [{ oldStart: 11, newStart: 11, lines: [" a", "-b", "+c", "+d", " e"] }];

/** A row of each agent with the same edit. */
const ROWS: Readonly<Record<string, object>> = {
  "claude-code": {
    type: "user",
    toolUseResult: { structuredPatch: PATCH },
    message: { role: "user", content: [{ type: "tool_result", tool_use_id: "c1" }] },
  },
  codex: {
    type: "event_msg",
    payload: {
      type: "patch_apply_end",
      call_id: "c1",
      success: true,
      changes: { "/w/a.ts": { type: "update", unified_diff: UNIFIED.replace(/^.*\n.*\n/, "") } },
    },
  },
  "gemini-cli": { toolCalls: [{ id: "c1", resultDisplay: { fileDiff: UNIFIED } }] },
  qwen: { toolCallResult: { callId: "c1", resultDisplay: { fileDiff: UNIFIED } } },
  opencode: { parts: [{ callID: "c1", state: { metadata: { diff: UNIFIED } } }] },
  "copilot-cli": { data: { toolCallId: "c1", result: { detailedContent: `\n${UNIFIED}` } } },
  pi: {
    message: {
      toolCallId: "c1",
      // As older versions do, which number lines before the change from 1.
      details: { diff: "     ...\n   1 a\n- 12 b\n+ 12 c\n+ 13 d\n  13 e\n     ..." },
    },
  },
};

for (const [name, row] of Object.entries(ROWS)) {
  test(`an edit in a row of ${name} has the numbers that the agent recorded`, () => {
    const [view, ...more] = dialectNamed(name).reading.resultViews?.(row as never) ?? [];
    assert.deepEqual([view?.callId, more.length], ["c1", 0]);
    const lines = numberLines(readHunks(view?.diff ?? "") ?? []).filter(
      ({ kind }) => kind !== "place",
    );
    assert.deepEqual(
      lines.map(({ kind, number, text }) => `${kind} ${number} ${text}`),
      ["same 11 a", "gone 12 b", "new 12 c", "new 13 d", "same 14 e"],
    );
  });
}

test("rows that are not as expected have no view, whatever they hold", () => {
  for (const name of Object.keys(ROWS)) {
    const { resultViews } = dialectNamed(name).reading;
    for (const bad of [null, 1, "x", [], {}, "@@ -1 +1 @@", [{}], { diff: 1 }]) {
      const rows = [
        { toolUseResult: bad, toolCalls: bad, parts: bad, data: bad, message: bad, payload: bad },
        { type: "event_msg", payload: { type: "patch_apply_end", call_id: "c", changes: bad } },
        { toolUseResult: { structuredPatch: bad }, message: { content: bad } },
        { message: { toolCallId: "c", details: { diff: bad } } },
      ];
      for (const row of rows) assert.deepEqual(resultViews?.(row as never) ?? [], [], name);
    }
  }
});

const shared = sharedFiles("samples");
const [checkpoint] = ENTIRE_CHECKPOINTS;
const own = sampleLogs("claude-code").find(({ id }) => id.endsWith(SESSIONS.tools));

/** A log, and how many of its edits have numbers of both kinds. */
const LOGS: readonly (readonly [name: string, path: string, edits: number])[] = [
  ["claude-code", own?.path ?? assert.fail(), 1],
  ["entire", join(checkpoint?.[1] ?? assert.fail(), "full.jsonl"), 3],
  ...(shared.isThere
    ? ([
        ["claude-code", join(shared.path, "claude-code/agentcmd-full-session-four.jsonl"), 8],
        ["entire", join(shared.path, "entire/30/e81e82f6ba/0/full.jsonl"), 5],
        ["pi", join(shared.path, "pi/large-session.jsonl"), 16],
      ] as const)
    : []),
];

test.each(LOGS)(
  "lines found in files that %s has read are those that it recorded",
  (name, path, edits) => {
    assert.equal(compare(name, readFileSync(path, "utf8")), edits);
  },
);

const DEEPER = "gone 1 export const depth = 7;, new 1 export const depth = 9;";
const NOTES = "new 1 The well is 9 deep.";
const LINDEN = "new 1 linden, gone 3 linden";

/** The changed lines of every edit in our samples, once. Codex records none when it runs alone. */
const CHANGES: Readonly<Record<string, readonly string[]>> = {
  "claude-code": [DEEPER],
  "copilot-cli": [DEEPER, NOTES],
  qwen: [DEEPER, NOTES],
  "gemini-cli": [LINDEN],
  openclaw: [LINDEN],
  pi: [LINDEN],
};

test.each(Object.entries(CHANGES))(
  "edits in our samples of %s have the lines that it recorded",
  (name, changes) => {
    const { decode, resultViews } = dialectNamed(name).reading;
    const values = sampleLogs(name).flatMap(({ path }) => rowsIn(readFileSync(path, "utf8")));
    const views = values.flatMap((value) => {
      const { entry } = decode(value);
      return entry === null ? [] : (resultViews?.(entry.native) ?? []);
    });
    const diffs = views.flatMap(({ diff }) => diff ?? []);
    const lines = diffs.map((diff) => numberLines(readHunks(diff) ?? assert.fail(diff)));
    const changed = lines.map((all) =>
      all
        .filter(({ kind }) => kind === "gone" || kind === "new")
        .map(({ kind, number, text }) => `${kind} ${number} ${text}`)
        .join(", "),
    );
    // Copilot CLI records a file that was read as a diff without changes.
    const different = new Set(changed.filter((each) => each !== ""));
    assert.deepEqual([...different].sort(), changes);
  },
);

/** How many edits have numbers of both kinds, all of them the same. */
function compare(name: string, log: string): number {
  const dialect = dialectNamed(name);
  const memory = dialect.reading.remembers?.();
  const fold = new OutlineFold(dialect.reading);
  const diffs = new Map<string, string>();
  const calls = new Map<string, { readonly callId: string; readonly input: unknown }>();
  for (const [start, line] of log.split("\n").entries()) {
    if (line === "") continue;
    const { entry } = dialect.reading.decode(JSON.parse(line));
    if (entry === null) continue;
    const read = memory?.read(entry) ?? entry;
    fold.add(read, start, null);
    for (const { callId, diff } of dialect.reading.resultViews?.(entry.native) ?? []) {
      if (diff !== null) diffs.set(callId, diff);
    }
    const views = toolViews(dialect.reading.tools, read.parts);
    for (const [index, part] of read.parts.entries()) {
      if (part.type !== "tool_call" || !views.some(({ kind }) => kind === "edit")) continue;
      const { callId, input } = part;
      if (callId !== null) calls.set(`${start} ${index}`, { callId, input });
    }
  }
  const edits = fold.marks.filter(({ kind }) => kind === "edit");
  let compared = 0;
  for (const { start, part, lines } of edits) {
    const { callId = "", input } = calls.get(`${start} ${part}`) ?? {};
    const [diff, change] = [diffs.get(callId), changesIn(input)?.list[0]];
    if (diff === undefined || change === undefined || lines === null) continue;
    const recorded = firstChanged(numberLines(readHunks(diff) ?? assert.fail(diff)));
    assert.equal(firstChanged(numberLines(change.lines, lines)), recorded, `${name} at ${start}`);
    compared++;
  }
  return compared;
}

function firstChanged(lines: readonly NumberedLine[]): number | null {
  return lines.find(({ kind }) => kind === "gone" || kind === "new")?.number ?? null;
}

test("hunks that change other lines than the call asked for are not shown as its change", () => {
  const asked = { list: [], rest: {}, added: 1, removed: 1 };
  assert.equal(recordedChanges(asked, UNIFIED), asked);
  assert.equal(recordedChanges({ ...asked, added: 2 }, UNIFIED).list.length, 1);
  assert.equal(recordedChanges(asked, "@@ -1,9 +1,9 @@\n-a\n+b"), asked);
});
