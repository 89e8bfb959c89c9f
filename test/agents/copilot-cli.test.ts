import assert from "node:assert/strict";
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { test } from "vitest";
import { sharedFiles } from "../support/shared-files.ts";
import { type Counts, countsOf, filesIn, parsedLines, readSession } from "./sample.ts";

const { path: samples, isThere } = sharedFiles(
  ...(["samples", "real sessions", "tests of Copilot CLI are"] as const),
);
const PATH = "session-state/6f1c/events.jsonl";

// biome-ignore lint/suspicious/noExplicitAny: events of real files.
function counted(events: any[]): Counts {
  const of = (type: string) => events.filter((event) => event.type === type);
  const requests = of("assistant.message").flatMap(({ data }) => data.toolRequests ?? []);
  const asked = new Set(requests.map(({ toolCallId }) => toolCallId));
  const unasked = of("tool.execution_start").filter(({ data }) => !asked.has(data.toolCallId));
  return {
    prompts: of("user.message").filter(({ data }) => data.content !== "").length,
    answers: of("assistant.message").length + unasked.length,
    calls: requests.length + unasked.length,
    results: of("tool.execution_complete").length,
  };
}

test.skipIf(!isThere)("every event of real sessions is an entry, and counts agree", async () => {
  const files = ["copilot-cli", "more/copilot"].flatMap((name) => filesIn(join(samples, name)));
  assert.ok(files.length >= 4);
  for (const file of files) {
    const events = parsedLines(file);
    const read = await readSession("copilot-cli", PATH, readFileSync(file));
    assert.equal(read.entries.length, events.length, file);
    assert.equal(read.badLines, 0);
    assert.deepEqual(countsOf(read), counted(events), file);
  }
});

test.skipIf(!isThere)("totals of a real session are those of another tool", async () => {
  const folder = join(samples, "copilot-cli");
  const { summary, entries } = await readSession(
    ...(["copilot-cli", PATH, readFileSync(join(folder, "vct-copilot.jsonl"))] as const),
  );
  const expected = JSON.parse(readFileSync(join(folder, "vct-copilot.expected.json"), "utf8"));
  const [{ conversationUsage, folderPath }] = expected.records;
  const [counts] = Object.values<Record<string, number>>(conversationUsage);
  const usage = entries.findLast(({ kind }) => kind === "end")?.usage;
  assert.ok(usage && counts);
  const { cacheReadTokens = 0, cacheWriteTokens = 0 } = usage;
  assert.equal((summary.inputTokens ?? 0) + cacheReadTokens, counts.input_tokens);
  assert.equal(cacheReadTokens, counts.cache_read_input_tokens);
  assert.equal(cacheWriteTokens, counts.cache_creation_input_tokens);
  const { output_tokens: output = 0, reasoning_output_tokens: reasoning = 0 } = counts;
  assert.equal(summary.outputTokens, output + reasoning);
  assert.equal(summary.project, folderPath);
  assert.equal(summary.model, "claude-sonnet-4.6");
  assert.equal(summary.status, "completed");
});

test("a tool that ran without being asked for is a call, unless reading began inside its turn", async () => {
  const event = (type: string, data: object, id: string) => ({ type, data, id });
  const asks = { messageId: "m", content: "", toolRequests: [{ toolCallId: "a", name: "view" }] };
  const start = (id: string) =>
    event("tool.execution_start", { toolCallId: id, toolName: "glob", arguments: { p: 1 } }, id);
  const end = (id: string) => event("tool.execution_complete", { toolCallId: id, result: {} }, id);
  const callsIn = async (events: readonly object[]) => {
    const log = Buffer.from(events.map((each) => `${JSON.stringify(each)}\n`).join(""));
    const { entries } = await readSession("copilot-cli", PATH, log);
    return entries.flatMap(({ parts }) => {
      return parts.flatMap((part) => (part.type === "tool_call" ? [part.callId] : []));
    });
  };
  const tail = [start("a"), end("a"), start("b"), end("b")];
  assert.deepEqual(await callsIn([event("assistant.message", asks, "1"), ...tail]), ["a", "b"]);
  assert.deepEqual(await callsIn(tail), []);
});
