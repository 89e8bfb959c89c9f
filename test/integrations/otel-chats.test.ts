/** Chats of the AI SDK as spans and in usage: a message grows, line by line, and is one. */

import assert from "node:assert/strict";
import type { UIMessage, UIMessageChunk } from "ai";
import { test } from "vitest";
import { openStore } from "../../src/doors/index.ts";
import { exportSpans } from "../../src/doors/otel.ts";
import { IndexFold } from "../../src/sessions/search/index-fold.ts";
import { embeddedChats, says } from "../doors/chatting.ts";
import { spansIn } from "./collector.ts";

test("a tool that the browser runs is called once, however often its message is repeated", async () => {
  const { chats, root } = await embeddedChats();
  const respond = async (message: UIMessage, chunks: UIMessageChunk[]) => {
    const answer = () => ReadableStream.from(chunks) as ReadableStream<UIMessageChunk>;
    await (await chats.respond("c", { message, answer })).text();
  };
  const call = { type: "tool-input-available", toolCallId: "c1", toolName: "where" } as const;
  await respond(says("Where am I?"), [
    ...([{ type: "start" }, { type: "start-step" }] as const),
    { ...call, input: { exact: true } },
    ...([{ type: "finish-step" }, { type: "finish" }] as const),
  ]);
  const asking = (await chats.loadMessages("c")).at(-1) ?? assert.fail();
  const parts = asking.parts.map((part) => {
    return "toolCallId" in part ? { ...part, state: "output-available", output: "home" } : part;
  });
  await respond({ ...asking, parts } as UIMessage, [
    ...([{ type: "start" }, { type: "start-step" }] as const),
    { type: "text-start", id: "t" },
    { type: "text-delta", id: "t", delta: "At home." },
    { type: "text-end", id: "t" },
    ...([{ type: "finish-step" }, { type: "finish" }] as const),
  ]);

  assert.equal((await chats.loadMessages("c")).length, 2);

  const store = await openStore({ dialect: "sdk", root });
  const session = store.session("ai-sdk/c");
  const bodies: string[] = [];
  const exporter = async (body: string) => void bodies.push(body);
  const { strayResults } = await exportSpans(session, { exporter, content: true });
  const spans = bodies.flatMap(spansIn);
  assert.deepEqual(
    spans.map(({ name }) => name),
    ["execute_tool where", "chat", "turn", "invoke_agent"],
  );
  assert.equal(strayResults, 0);
  const told = spans[1]?.attributes.find(({ key }) => key === "gen_ai.output.messages");
  const said = JSON.parse(String(told?.value.stringValue)) as { parts: { type: string }[] }[];
  assert.deepEqual(
    said.flatMap((message) => message.parts.map(({ type }) => type)),
    ["tool_call", "tool_call_response", "text"],
  );

  const fold = new IndexFold();
  for await (const entry of session.entries()) fold.add(entry, entry.start);
  assert.deepEqual(
    fold.take().tools.map(({ tool, calls, timed }) => ({ tool, calls, timed })),
    [{ tool: "where", calls: 1, timed: 1 }],
  );
  await store.close();
});
