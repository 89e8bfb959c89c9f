import assert from "node:assert/strict";
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { expect, test } from "vitest";
import { PROMPTS, SESSIONS, SUMMARY } from "../../scripts/agent-samples/scenarios.mjs";
import { logsWith, sampleLogs } from "../support/samples.ts";
import { sharedFiles } from "../support/shared-files.ts";
import { type Counts, countsOf, filesIn, parsedLines, readSession } from "./sample.ts";

const samples = sharedFiles("samples");
const PATH = "session-state/6f1c/events.jsonl";

// biome-ignore lint/suspicious/noExplicitAny: events of real files.
function counted(events: any[]): Counts {
  const of = (type: string) => events.filter((event) => event.type === type);
  const requests = of("assistant.message").flatMap(({ data }) => data.toolRequests ?? []);
  const asked = new Set(requests.map(({ toolCallId }) => toolCallId));
  const unasked = of("tool.execution_start").filter(({ data }) => !asked.has(data.toolCallId));
  const typed = of("user.message").filter(({ agentId, data }) => data.content !== "" && !agentId);
  return {
    prompts: typed.length,
    answers: of("assistant.message").length + unasked.length,
    calls: requests.length + unasked.length,
    results: of("tool.execution_complete").length,
  };
}

const LOGS = logsWith("copilot-cli", samples, (folder) =>
  ["copilot-cli", "more/copilot"].flatMap((name) => filesIn(join(folder, name))),
);

test.each(LOGS)("every event of %s is an entry, and counts agree", async (_name, file) => {
  const events = parsedLines(file);
  const read = await readSession("copilot-cli", PATH, readFileSync(file));
  assert.equal(read.entries.length, events.length);
  assert.equal(read.badLines, 0);
  assert.deepEqual(countsOf(read), counted(events));
});

/** The session of a scenario (scripts/agent-samples/scenarios.mjs), which Copilot CLI wrote. */
async function scenario(name: keyof typeof SESSIONS) {
  const id = SESSIONS[name];
  const log = sampleLogs("copilot-cli").find((each) => each.path.includes(id)) ?? assert.fail(id);
  return readSession("copilot-cli", PATH, readFileSync(log.path));
}

test("totals of a resumed session are those of all its answers", async () => {
  const { summary, entries } = await scenario("tools");
  const usage = entries.findLast(({ kind }) => kind === "end")?.usage;
  expect(usage).toMatchObject({
    inputTokens: 900 + 50 + 30 + 20 + 10 + 12,
    outputTokens: 60 + 40 + 35 + 30 + 15 + 3,
    cacheWriteTokens: 300,
    cacheReadTokens: 1200 + 1250 + 1300 + 1350 + 1400,
  });
  expect(summary).toMatchObject({
    inputTokens: usage?.inputTokens,
    outputTokens: usage?.outputTokens,
    title: PROMPTS.tools,
    project: "/home/dev/project",
    branch: "main",
    model: "claude-sonnet-4.5",
    status: "completed",
  });
});

test("what a person typed is a prompt, and the prompt of a subagent is not", async () => {
  const promptsOf = ({ entries }: Awaited<ReturnType<typeof scenario>>) =>
    entries
      .filter(({ role, saidBy }) => role === "user" && !saidBy)
      .map(({ parts }) => parts.flatMap((part) => (part.type === "text" ? part.text : [])).join());
  assert.deepEqual(promptsOf(await scenario("tools")), [PROMPTS.tools, PROMPTS.resumed]);
  assert.deepEqual(promptsOf(await scenario("subagent")), [PROMPTS.delegated]);
  const compacted = await scenario("compaction");
  const { remember, remembered, recall } = PROMPTS;
  assert.deepEqual(promptsOf(compacted), [remember, remembered, recall]);
  const summaries = compacted.entries.filter(({ saidBy }) => saidBy === "summary");
  assert.match(JSON.stringify(summaries.map(({ parts }) => parts)), new RegExp(SUMMARY));
});

test("a prompt is a subagent's if it names an agent or a call, and not only a task", async () => {
  const prompt = (event: object, data: object) => ({
    type: "user.message",
    id: JSON.stringify([event, data]),
    data: { content: "Look.", parentAgentTaskId: "task-1", ...data },
    ...event,
  });
  const events = [
    prompt({}, {}),
    prompt({}, { parentToolCallId: "call-1" }), // As older versions name it.
    prompt({ agentId: "agent-1" }, {}),
  ];
  const log = events.map((event) => `${JSON.stringify(event)}\n`).join("");
  const { entries, summary } = await readSession("copilot-cli", PATH, log);
  assert.deepEqual(
    entries.map(({ saidBy }) => saidBy ?? "a person"),
    ["a person", "agent", "agent"],
  );
  assert.equal(summary.title, "Look.");
});

/** Compares a public session with what another tool counts in it. */
async function compareTotals() {
  const folder = join(samples.path, "copilot-cli");
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
}

if (samples.isThere) test("totals of a public session are those of another tool", compareTotals);

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

test("a command that failed is a failure, although the call of the tool was a success", async () => {
  const errorsOf = ({ entries }: Awaited<ReturnType<typeof scenario>>) =>
    entries.flatMap(({ parts }) =>
      parts.flatMap((part) => (part.type === "tool_result" ? [part.error] : [])),
    );
  const errors = errorsOf(await scenario("tools"));
  assert.deepEqual(
    errors.map((error) => error?.slice(0, 19) ?? null),
    [null, null, null, "Path does not exist", "exit code 3", null],
  );
  const older = (content: string) =>
    `${JSON.stringify({ type: "tool.execution_complete", id: "1", data: { success: true, result: { content } } })}\n`;
  const said = [
    "x\n<exited with exit code 1>",
    "<exited with exit code 0>",
    "<exited with exit code 2> x",
  ];
  const read = await readSession("copilot-cli", PATH, said.map(older).join(""));
  assert.deepEqual(errorsOf(read), ["exit code 1", null, null]);
});
