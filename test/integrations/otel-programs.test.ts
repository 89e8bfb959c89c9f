/** Spans of sessions whose lines name no model: SDKs and hooks of coding agents. */

import assert from "node:assert/strict";
import { mkdirSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";
import type { UIMessageChunk } from "ai";
import { test } from "vitest";
import { nodeHost } from "../../src/core/base/node-host.ts";
import type { DialectName } from "../../src/dialects/registry.ts";
import { VerbatimSession } from "../../src/doors/openai-agents.ts";
import { exportSpans } from "../../src/doors/otel.ts";
import { providerOf } from "../../src/integrations/otel/span-shapes.ts";
import { Store } from "../../src/sessions/store/store.ts";
import { embeddedChats, says } from "../doors/chatting.ts";
import { tempDirectory } from "../support/temp-directory.ts";
import { meaningOf, spansIn } from "./collector.ts";

type Told = { readonly name: string; readonly attributes: Record<string, unknown> };

async function exported(root: string, dialect: DialectName, id: string): Promise<Told[]> {
  const store = new Store(nodeHost, { dialect, root });
  const bodies: string[] = [];
  const exporter = async (body: string) => void bodies.push(body);
  await exportSpans(store.session(id), { exporter, content: true });
  await store.close();
  return bodies.flatMap(spansIn).map((span) => meaningOf(span) as Told);
}

function span(spans: readonly Told[], name: string): Told["attributes"] {
  return spans.find((each) => each.name === name)?.attributes ?? assert.fail(name);
}

function put(root: string, path: string, lines: readonly object[]): void {
  mkdirSync(dirname(join(root, path)), { recursive: true });
  writeFileSync(join(root, path), lines.map((line) => `${JSON.stringify(line)}\n`).join(""));
}

test("a session of the OpenAI Agents SDK has the provider openai, its tools' type and its usage", async () => {
  const root = tempDirectory();
  const session = new VerbatimSession({ root, sessionId: "s" });
  const usage = {
    input_tokens: 30,
    output_tokens: 5,
    total_tokens: 35,
    input_tokens_details: { cached_tokens: 10 },
  };
  const call = { callId: "c", arguments: "{}", status: "completed" } as const;
  await session.addItems([
    { role: "user", content: "Is it warm?" },
    { type: "function_call", name: "look", ...call },
    { type: "function_call_result", name: "look", callId: "c", status: "completed", output: "yes" },
    { type: "hosted_tool_call", name: "web_search", id: "w", status: "completed", output: "sun" },
    {
      type: "message",
      role: "assistant",
      status: "completed",
      content: [{ type: "output_text", text: "Yes." }],
      providerData: { usage },
    },
  ]);
  await session.close();
  const spans = await exported(root, "sdk", "openai-agents/s");
  assert.equal(span(spans, "invoke_agent")["gen_ai.provider.name"], "openai");
  assert.equal(span(spans, "execute_tool look")["gen_ai.tool.type"], "function");
  assert.equal(span(spans, "execute_tool web_search")["gen_ai.tool.type"], "extension");
  const chat = spans.findLast(({ name }) => name === "chat")?.attributes ?? assert.fail();
  assert.equal(chat["gen_ai.provider.name"], "openai");
  assert.equal(chat["gen_ai.usage.input_tokens"], 30);
  assert.equal(chat["gen_ai.usage.cache_read.input_tokens"], 10);
  assert.equal(chat["gen_ai.usage.output_tokens"], 5);
});

test("an AI SDK message's metadata is exported as its model and its usage", async () => {
  const { chats, root } = await embeddedChats();
  const totalUsage = {
    inputTokens: 100,
    inputTokenDetails: { noCacheTokens: 60, cacheReadTokens: 30, cacheWriteTokens: 10 },
    outputTokens: 7,
    totalTokens: 107,
  };
  const searched = { toolCallId: "w", toolName: "web_search", providerExecuted: true } as const;
  const chunks: UIMessageChunk[] = [
    { type: "start", messageMetadata: { model: "gpt-5" } },
    { type: "tool-input-available", ...searched, input: {} },
    { type: "tool-output-available", toolCallId: "w", providerExecuted: true, output: "sun" },
    { type: "finish", messageMetadata: { totalUsage } },
  ];
  const answer = () => ReadableStream.from(chunks) as ReadableStream<UIMessageChunk>;
  await (await chats.respond("c", { message: says("Is it warm?"), answer })).text();
  assert.equal((await chats.loadMessages("c")).length, 2);
  const spans = await exported(root, "sdk", "ai-sdk/c");
  const chat = span(spans, "chat gpt-5");
  assert.equal(chat["gen_ai.provider.name"], "openai");
  assert.equal(chat["gen_ai.usage.input_tokens"], 100);
  assert.equal(chat["gen_ai.usage.cache_creation.input_tokens"], 10);
  assert.equal(chat["gen_ai.usage.output_tokens"], 7);
  assert.equal(span(spans, "execute_tool web_search")["gen_ai.tool.type"], "extension");
});

test("sessions that hooks recorded have the provider of the agent", async () => {
  const root = tempDirectory();
  const lines = ["UserPromptSubmit", "Stop"].map((hook_event_name, n) => ({
    type: "hook",
    timestamp: `2026-11-15T10:00:0${n}.000Z`,
    hook: { hook_event_name, prompt: "Is it warm?", last_assistant_message: "Yes." },
  }));
  for (const [project, provider] of [
    ["claude-code-hooks", "anthropic"],
    ["codex-hooks", "openai"],
  ] as const) {
    put(root, `.verbatim/claude/${project}/s/transcript.jsonl`, lines);
    const spans = await exported(root, "claude", `${project}/s`);
    assert.equal(span(spans, "chat")["gen_ai.provider.name"], provider);
    assert.equal(span(spans, "invoke_agent")["gen_ai.provider.name"], provider);
  }
});

test("text of a program or an agent in the user role is not a user's message", async () => {
  const root = tempDirectory();
  const row = (n: number, type: string, content: unknown, more: object = {}) => ({
    type,
    uuid: `u${n}`,
    timestamp: `2026-11-15T10:00:0${n}.000Z`,
    message: { role: type, content },
    ...more,
  });
  put(root, ".verbatim/claude/app/s/transcript.jsonl", [
    row(0, "user", "Is it warm?"),
    row(1, "user", "<task-notification>done</task-notification>"),
    row(2, "assistant", [{ type: "text", text: "Yes." }]),
  ]);
  const chat = span(await exported(root, "claude", "app/s"), "chat");
  assert.deepEqual(JSON.parse(String(chat["gen_ai.input.messages"])), [
    { role: "user", parts: [{ type: "text", content: "Is it warm?" }] },
    {
      role: "system",
      name: "program",
      parts: [{ type: "text", content: "<task-notification>done</task-notification>" }],
    },
  ]);
});

test("the provider follows from the model's name, whatever a gateway puts before it", () => {
  const names = {
    "anthropic/claude-opus-5": "anthropic",
    "anthropic:claude-opus-5": "anthropic",
    opus: "anthropic",
    "openai.responses:gpt-5": "openai",
    "ft:gpt-5:acme": "openai",
    "us.anthropic.claude-opus-5-v1:0": "aws.bedrock",
    "models/gemini-3-pro": "gcp.gemini",
    "llama-5": "_OTHER",
  };
  const session = { dialect: "sdk", id: "openai-agents/s" };
  for (const [name, provider] of Object.entries(names)) {
    assert.equal(providerOf(name, session), provider, name);
  }
});
