/** The examples of docs/formats/claude.md, checked against the code. */

import assert from "node:assert/strict";
import { test } from "vitest";
import { docsPage } from "../../../test/support/docs-page.ts";
import type { Native } from "../../core/model/entry.ts";
import { parseSpooled, SPOOL_WAITING_MAX, sessionOfHook, spoolLine } from "./hook-spool.ts";
import { hookLine } from "./hooks.ts";
import { asideOf, complete, decode, isDeletion, once } from "./lines.ts";
import {
  ID_CHARS_MAX,
  ID_SEGMENTS_MAX,
  parseSessionKey,
  type SessionKey,
  sessionIdOf,
} from "./session-id.ts";

const page = docsPage("formats/claude");

function entriesOf(info: string) {
  return page.lines(info).map((line) => {
    const native = JSON.parse(line) as Native;
    const { entry } = decode(native);
    assert.ok(entry);
    assert.equal(JSON.stringify(complete(native)), line);
    return entry;
  });
}

test("the example keys have the ids on the page, and the ids map back to the keys", () => {
  for (const [key, id] of JSON.parse(page.block("json claude-ids")) as [SessionKey, string][]) {
    assert.equal(sessionIdOf(key), id);
    assert.deepEqual(parseSessionKey(id), key);
  }
});

test("the example entries are written unchanged, and decoded as the page says", () => {
  const entries = entriesOf("jsonl claude-entry");
  assert.deepEqual(
    entries.map(({ kind, role, parts }) => [kind, role, parts.map(({ type }) => type).join()]),
    [
      ["message", "user", "text"],
      ["message", "assistant", "tool_call"],
      ["message", "tool", "tool_result"],
      ["other", null, ""],
      ["other", null, ""],
    ],
  );
  assert.deepEqual(entries.map(({ native }) => isDeletion(native)).indexOf(true), 4);
  assert.deepEqual(
    entries.map(({ native }) => once.idOf(native) !== null),
    [true, true, true, false, false],
  );
});

test("the example hooks are what the recorder writes, and are decoded as the page says", () => {
  const entries = entriesOf("jsonl claude-hook");
  for (const { native, at } of entries) {
    const { hook, text = null, uuid } = native as { hook: Native; text?: string; uuid?: string };
    const facts = { nowMs: Date.parse(at ?? ""), text, ...(uuid ? { uuid } : {}) };
    assert.deepEqual(hookLine(hook, facts), native);
  }
  assert.deepEqual(
    entries.map(({ kind, role, parts }) => [kind, role, parts[0]]),
    [
      ["start", null, undefined],
      ["message", "user", { type: "text", text: "How long is the readme?" }],
      [
        "message",
        "assistant",
        {
          type: "tool_call",
          callId: "toolu_01X",
          tool: "Bash",
          input: { command: "wc -l README" },
        },
      ],
      [
        "message",
        "tool",
        {
          type: "tool_result",
          callId: "toolu_01X",
          output: { stdout: "3 README" },
          error: null,
          durationMs: null,
        },
      ],
      [
        "message",
        "tool",
        {
          type: "tool_result",
          callId: "toolu_01Y",
          output: null,
          durationMs: null,
          error: "NOT STARTED: permission was denied, the tool did not run: It deletes a file.",
        },
      ],
      ["message", "assistant", { type: "text", text: "Three lines." }],
      ["message", "assistant", { type: "text", text: "Three " }],
      [
        "message",
        "tool",
        {
          type: "tool_result",
          callId: "toolu_01X",
          output: { stdout: "3 README" },
          error: null,
          durationMs: null,
        },
      ],
      ["message", "system", { type: "text", text: "They counted lines." }],
      ["message", "system", { type: "text", text: "API Error: try later" }],
      ["end", null, undefined],
      ["other", null, undefined],
    ],
  );
});

test("the spool example is what a hook writes, and is read back", () => {
  const [line = ""] = page.lines("jsonl claude-spool");
  const spooled = parseSpooled(`${line}\n`);
  assert.ok(spooled);
  assert.equal(spoolLine(spooled.hook, spooled.mac), `${line}\n`);
  assert.equal(
    sessionOfHook("claude-code-hooks", JSON.parse(spooled.hook.hook)),
    "claude-code-hooks/6f1c",
  );
  assert.ok(page.text.includes(SPOOL_WAITING_MAX.toLocaleString("en")));
  for (const odd of [
    "",
    "7",
    "{}",
    line.replace('"v":1', '"v":2'),
    line.replace("claude-code", "x"),
  ]) {
    assert.equal(parseSpooled(odd), null);
  }
});

test("displayed messages are not part of the conversation, and their pieces share a message id", () => {
  const told = (hook: object) => hookLine({ ...hook }, { nowMs: 0, text: null });
  const shown = (more: object) =>
    told({ hook_event_name: "MessageDisplay", message_id: "m1", ...more });
  const pieces = [
    { index: 0, final: false, delta: "a\n" },
    { index: 1, final: true, delta: "b" },
  ];
  assert.deepEqual(
    pieces.map((more) => decode(shown(more)).entry).map((e) => [e?.messageId, e?.isPartial]),
    [
      ["m1", true],
      ["m1", undefined],
    ],
  );
  assert.equal(decode(shown({ final: true, delta: "" })).entry?.kind, "other");
  assert.equal(asideOf(shown({ delta: "a" }), null), "program");
  assert.equal(
    asideOf(told({ hook_event_name: "StopFailure", error: "overloaded" }), null),
    "program",
  );
  assert.equal(asideOf(told({ hook_event_name: "PostCompact", compact_summary: "s" }), null), null);
  for (const odd of [{ tool_calls: "no list" }, { tool_calls: [null, 7, {}] }, {}]) {
    const { entry } = decode(told({ hook_event_name: "PostToolBatch", ...odd }));
    assert.equal(entry?.kind, "other");
  }
});

test("any hook decodes, and a failed call has its error", () => {
  const failed = decode(
    hookLine(
      { hook_event_name: "PostToolUseFailure", tool_use_id: "t", error: "no such file" },
      { nowMs: 0, text: null },
    ),
  ).entry;
  assert.deepEqual(failed?.parts[0], {
    type: "tool_result",
    callId: "t",
    output: null,
    error: "no such file",
    durationMs: null,
  });
  for (const hook of [{}, { hook_event_name: "Later" }, { hook_event_name: "Stop" }]) {
    assert.equal(decode(hookLine(hook, { nowMs: 0, text: null })).entry?.kind, "other");
  }
  assert.equal(decode({ type: "hook", hook: "no object" }).entry?.kind, "other");
});

test("a call without an id gets one derived from its tool and input, which does not reveal them", () => {
  const callOf = (name: string, more: object) => {
    const hook = { hook_event_name: name, tool_name: "Bash", tool_input: { command: "ls" } };
    const { entry } = decode(hookLine({ ...hook, ...more }, { nowMs: 0, text: null }));
    const [part] = entry?.parts ?? [];
    return part?.type === "tool_call" || part?.type === "tool_result" ? part.callId : null;
  };
  const id = callOf("PreToolUse", {});
  assert.match(id ?? "", /^hook_[0-9a-f]{16}$/);
  for (const name of ["PostToolUse", "PostToolUseFailure", "PermissionDenied"]) {
    assert.equal(callOf(name, { tool_response: "x", error: "x", reason: "x" }), id);
  }
  const others = [{ tool_name: "Read" }, { tool_input: { command: "ls -a" } }, { agent_id: "7" }];
  for (const other of others) assert.notEqual(callOf("PostToolUse", other), id);
  const deep = JSON.parse("[".repeat(100_000) + "]".repeat(100_000));
  assert.equal(
    callOf("PreToolUse", { tool_input: deep }),
    callOf("PostToolUse", { tool_input: deep }),
  );
});

test("the page names the limits in the code", () => {
  assert.ok(page.text.includes(`more than ${ID_SEGMENTS_MAX} directories`));
  assert.ok(page.text.includes(ID_CHARS_MAX.toLocaleString("en")));
});
