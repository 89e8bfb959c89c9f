/** The examples of docs/formats/copilot-cli.md, checked against the code. */

import assert from "node:assert/strict";
import { test } from "vitest";
import { docsPage } from "../../../../test/support/docs-page.ts";
import type { Entry, Native } from "../../../core/model/entry.ts";
import { copilotCli } from "./dialect.ts";

const events = docsPage("formats/copilot-cli")
  .lines("jsonl copilot-event")
  .map((line) => JSON.parse(line) as Native);

function read(natives: readonly Native[]): Entry[] {
  const memory = copilotCli.reading.remembers?.();
  return natives.map((native) => {
    const { entry } = copilotCli.reading.decode(native);
    assert.ok(entry && memory);
    return memory.read(entry);
  });
}

test("the example events are decoded as the page says", () => {
  const entries = read(events);
  assert.deepEqual(
    entries.map(({ kind, role, saidBy, native }) =>
      [kind, role, saidBy, copilotCli.reading.asideOf?.(native, null)].join(" ").trim(),
    ),
    [
      "start",
      "other",
      "message system",
      "message user",
      "other",
      "message assistant",
      "other",
      "message tool",
      "message assistant  other_agent",
      "message user program",
      "message user summary",
      "other",
      "end",
    ],
  );
  assert.deepEqual(entries[5]?.parts, [
    { type: "reasoning", text: "Count." },
    { type: "text", text: "I count." },
    { type: "tool_call", callId: "c1", tool: "bash", input: { command: "wc -l README" } },
  ]);
  assert.equal(entries[5]?.model, "claude-sonnet-4.6");
  assert.ok(events.every((event) => copilotCli.reading.isOwn?.(event)));
  assert.deepEqual(
    events.map((event) => copilotCli.reading.about?.(event, "")).filter((about) => about !== null),
    [{ cwd: "/home/me/app", branch: "main" }, { title: "Lines of the readme" }],
  );
});

test("the usage of a session is the sum of its runs, killed ones included", () => {
  const shutdown = (inputTokens: number, outputTokens: number) => ({
    type: "session.shutdown",
    data: { modelMetrics: { m: { usage: { inputTokens, outputTokens, cacheReadTokens: 10 } } } },
  });
  const answer = (messageId: string, outputTokens: number) => ({
    type: "assistant.message",
    data: { messageId, content: "a", outputTokens },
  });
  const resume = { type: "session.resume", data: {} };
  const ends = read([
    answer("1", 5),
    shutdown(100, 5),
    answer("2", 2),
    shutdown(150, 7),
    resume,
    answer("3", 4),
    answer("3", 4),
    resume,
    answer("4", 1),
    shutdown(30, 1),
  ]).filter(({ kind }) => kind === "end");
  assert.deepEqual(
    ends.map(({ usage }) => [usage?.inputTokens, usage?.outputTokens, usage?.cacheReadTokens]),
    [
      [90, 5, 10],
      [140, 7, 10],
      [160, 12, 20],
    ],
  );
});

test("a report without counts leaves the input unknown, and does not make it 0", () => {
  const answer = {
    type: "assistant.message",
    data: { messageId: "1", content: "a", outputTokens: 5 },
  };
  const endAfter = (modelMetrics: object) =>
    read([answer, { type: "session.shutdown", data: { modelMetrics } }]).at(-1)?.usage;
  assert.deepEqual(endAfter({ m: { requests: { count: 1 } } }), endAfter({}));
  assert.equal(endAfter({ m: { requests: { count: 1 } } })?.inputTokens, undefined);
});

test("a memory continues from its state, whatever that is", () => {
  const [start, model, , , , answer] = events as [Native, Native, Native, Native, Native, Native];
  const memory = copilotCli.reading.remembers?.();
  for (const native of [start, model]) {
    const { entry } = copilotCli.reading.decode(native);
    if (entry) memory?.read(entry);
  }
  const state: unknown = JSON.parse(JSON.stringify(memory?.state()));
  const { entry } = copilotCli.reading.decode(answer);
  assert.ok(entry);
  assert.equal(copilotCli.reading.remembers?.(state).read(entry).model, "claude-sonnet-4.6");
  for (const odd of [null, 7, { before: 1, run: [], since: "x" }]) {
    assert.equal(copilotCli.reading.remembers?.(odd).read(entry).role, "assistant");
  }
});

test("both places of a session have ids, and the directories follow the variables", () => {
  assert.equal(copilotCli.naming.idAt(["session-state", "6f1c", "events.jsonl"]), "6f1c/events");
  assert.equal(copilotCli.naming.idAt(["session-state", "6f1c.jsonl"]), "6f1c");
  assert.equal(copilotCli.naming.idAt(["session-state", "6f1c", "other.jsonl"]), null);
  assert.deepEqual(copilotCli.naming.logPath("6f1c/events"), [
    "session-state",
    "6f1c",
    "events.jsonl",
  ]);
  assert.equal(copilotCli.naming.nameOf?.("6f1c/events"), "6f1c");
  const roots = (environment: Record<string, string>) =>
    copilotCli.program?.roots({ environment, home: "/home/me", platform: "linux" });
  assert.deepEqual(roots({ COPILOT_HOME: "/srv/copilot" }), ["/srv/copilot"]);
  assert.deepEqual(roots({ XDG_STATE_HOME: "/state" }), ["/home/me/.copilot", "/state/.copilot"]);
});
