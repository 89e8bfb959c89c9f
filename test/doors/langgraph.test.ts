/** Threads of real LangGraph graphs, in logs. */

import assert from "node:assert/strict";
import { appendFileSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import {
  AIMessage,
  type AIMessageFields,
  type BaseMessage,
  HumanMessage,
  ToolMessage,
} from "@langchain/core/messages";
import {
  Annotation,
  Command,
  END,
  interrupt,
  MemorySaver,
  MessagesAnnotation,
  START,
  StateGraph,
} from "@langchain/langgraph";
import { type BaseCheckpointSaver, emptyCheckpoint } from "@langchain/langgraph-checkpoint";
import { onTestFinished, test } from "vitest";
import { openStore } from "../../src/doors/index.ts";
import { VerbatimSaver, type VerbatimSaverOptions } from "../../src/doors/langgraph.ts";
import { verify } from "../../src/doors/signing.ts";
import { CliUser, jsonLines } from "../cli/cli.ts";
import { refusal } from "../support/refusal.ts";
import { tempDirectory } from "../support/temp-directory.ts";

const THREAD = { configurable: { thread_id: "t" } };

function openSaver(options: VerbatimSaverOptions = {}): VerbatimSaver {
  const saver = new VerbatimSaver({ root: tempDirectory(), durability: "os", ...options });
  onTestFinished(() => saver.close());
  return saver;
}

const logOf = (root: string) => join(root, ".verbatim/sdk/langgraph/t.jsonl");
const linesOf = (root: string) => readFileSync(logOf(root), "utf8").trimEnd().split("\n");
const textsOf = (messages: readonly BaseMessage[]) => messages.map(({ content }) => content);

/** Answers each question, by way of a tool. */
function chatbot(checkpointer: BaseCheckpointSaver) {
  const usage_metadata = {
    input_tokens: 12,
    output_tokens: 5,
    total_tokens: 17,
    input_token_details: { cache_read: 2, cache_creation: 3 },
  };
  return new StateGraph(MessagesAnnotation)
    .addNode("model", ({ messages }) => {
      const last = messages.at(-1);
      if (last?.getType() === "tool") {
        return { messages: new AIMessage({ id: `a${messages.length}`, content: "It is warm." }) };
      }
      const answer: object = {
        id: `a${messages.length}`,
        content: "",
        tool_calls: [{ id: "c1", name: "look", args: { room: "kitchen" } }],
        response_metadata: { model_name: "test-1" },
        usage_metadata,
      };
      return { messages: new AIMessage(answer as AIMessageFields) };
    })
    .addNode("tools", ({ messages }) => {
      const id = `r${messages.length}`;
      return { messages: new ToolMessage({ id, content: "30 °C", tool_call_id: "c1" }) };
    })
    .addEdge(START, "model")
    .addConditionalEdges("model", ({ messages }) =>
      messages.at(-1)?.getType() === "ai" && messages.at(-2)?.getType() === "human" ? "tools" : END,
    )
    .addEdge("tools", "model")
    .compile({ checkpointer });
}

const ask = (n: number) => ({ messages: [new HumanMessage({ id: `q${n}`, content: `ask ${n}` })] });

test("a graph goes on with another saver where it was, as with LangGraph's own saver", async () => {
  const root = tempDirectory();
  const model = chatbot(new MemorySaver());
  for (let n = 0; n < 3; n++) {
    const expected = await model.invoke(ask(n), THREAD);
    const answer = await chatbot(openSaver({ root })).invoke(ask(n), THREAD);
    assert.deepEqual(textsOf(answer.messages), textsOf(expected.messages));
  }
  const history = [];
  for await (const state of chatbot(openSaver({ root })).getStateHistory(THREAD)) {
    history.push(textsOf(state.values.messages ?? []));
  }
  const expected = [];
  for await (const state of model.getStateHistory(THREAD)) {
    expected.push(textsOf(state.values.messages ?? []));
  }
  assert.deepEqual(history, expected);
});

test("a person is asked, and the graph goes on with the answer in another saver", async () => {
  const root = tempDirectory();
  const State = Annotation.Root({ name: Annotation<string> });
  const graph = () =>
    new StateGraph(State)
      .addNode("person", () => ({ name: interrupt("Who?") as string }))
      .addEdge(START, "person")
      .compile({ checkpointer: openSaver({ root }) });
  await graph().invoke({ name: "" }, THREAD);
  const [task] = (await graph().getState(THREAD)).tasks;
  assert.equal(task?.interrupts[0]?.value, "Who?");
  assert.deepEqual(await graph().invoke(new Command({ resume: "Ada" }), THREAD), { name: "Ada" });
});

test("a fork of an old checkpoint has its own values, and the other branch keeps its own", async () => {
  const graph = chatbot(openSaver());
  await graph.invoke(ask(0), THREAD);
  const first = (await graph.getState(THREAD)).config;
  await graph.invoke(ask(1), THREAD);
  const second = (await graph.getState(THREAD)).config;
  const branch = await graph.invoke(ask(2), first);
  assert.deepEqual(textsOf(branch.messages).slice(4, 5), ["ask 2"]);
  const kept = await graph.getState(second);
  assert.deepEqual(textsOf(kept.values.messages).slice(4, 5), ["ask 1"]);
});

test("each message is in the log once, however many checkpoints have it", async () => {
  const root = tempDirectory();
  const graph = chatbot(openSaver({ root }));
  for (let n = 0; n < 12; n++) await graph.invoke(ask(n), THREAD);
  const values = linesOf(root).filter((line) => line.startsWith('{"type":"value"'));
  assert.equal(values.length, 12 * 4);
  assert.equal(new Set(values.map((line) => JSON.parse(line).value.kwargs.id)).size, 12 * 4);
});

test("messages that stay when earlier ones are removed are not stored again", async () => {
  const root = tempDirectory();
  const saver = openSaver({ root });
  const messages = ["a", "b", "c"].map((id) => new HumanMessage({ id, content: `text of ${id}` }));
  const put = (list: readonly BaseMessage[], version: number) => {
    const checkpoint = {
      ...emptyCheckpoint(),
      id: `00${version}`,
      channel_values: { messages: list },
      channel_versions: { messages: version },
    };
    const metadata = { source: "loop", step: version, parents: {} } as const;
    return saver.put(THREAD, checkpoint, metadata, { messages: version });
  };
  await put(messages, 1);
  await put(messages.slice(1), 2);
  const last = await saver.getTuple(THREAD);
  const list = last?.checkpoint.channel_values.messages as BaseMessage[];
  assert.deepEqual(textsOf(list), ["text of b", "text of c"]);
  assert.equal(readFileSync(logOf(root), "utf8").split("text of b").length, 2);
});

test("two savers write one thread in turns, and each sees what the other wrote", async () => {
  const root = tempDirectory();
  const [one, two] = [openSaver({ root }), openSaver({ root })].map(chatbot);
  for (let n = 0; n < 4; n++) await (n % 2 === 0 ? one : two)?.invoke(ask(n), THREAD);
  assert.equal((await one?.getState(THREAD))?.values.messages.length, 16);
});

test("a deleted thread is empty for LangGraph, its log says so, and it can begin again", async () => {
  const root = tempDirectory();
  const saver = openSaver({ root });
  await chatbot(saver).invoke(ask(0), THREAD);
  await saver.deleteThread("t");
  await saver.deleteThread("t");
  await saver.deleteThread("never was");
  assert.equal(await openSaver({ root }).getTuple(THREAD), undefined);
  assert.equal(linesOf(root).filter((line) => line.startsWith('{"type":"clear"')).length, 1);
  const { messages } = await chatbot(saver).invoke(ask(1), THREAD);
  assert.equal(messages[0]?.content, "ask 1");
});

test("a thread is a session: its messages, calls, results, model and usage are shown", async () => {
  const user = new CliUser();
  const saver = openSaver({ root: user.cwd });
  await chatbot(saver).invoke(ask(0), THREAD);
  const { stdout } = await user.run(["show", "langgraph/t", "--json"]);
  const entries = jsonLines(stdout) as { kind: string; role: string; parts: object[] }[];
  const said = entries.filter(({ kind }) => kind === "message");
  assert.deepEqual(
    said.map(({ role, parts }) => [role, parts.map((part) => (part as { type: string }).type)]),
    [
      ["user", ["text"]],
      ["assistant", ["tool_call"]],
      ["tool", ["tool_result"]],
      ["assistant", ["text"]],
    ],
  );
  assert.deepEqual(
    [said[1]].map((entry) => [
      Reflect.get(entry ?? {}, "model"),
      Reflect.get(entry ?? {}, "usage"),
    ]),
    [
      [
        "test-1",
        {
          inputTokens: 7,
          outputTokens: 5,
          cacheWriteTokens: 3,
          cacheReadTokens: 2,
          totalTokens: 17,
          spend: null,
        },
      ],
    ],
  );
});

test("a signed thread is verified, and a changed message is found", async () => {
  const root = tempDirectory();
  const saver = openSaver({ root, sign: "append" });
  await chatbot(saver).invoke(ask(0), THREAD);
  await saver.close();
  assert.equal((await verify("langgraph/t", { root })).verdict, "verified");
  writeFileSync(logOf(root), readFileSync(logOf(root), "utf8").replace("30 °C", "90 °C"));
  assert.equal((await verify("langgraph/t", { root })).verdict, "tampered");
});

test("values that are no JSON are kept: bytes, a Map, undefined", async () => {
  const saver = openSaver();
  const values = { bytes: new Uint8Array([0, 255]), map: new Map([["k", [1]]]), none: undefined };
  const versions = { bytes: 1, map: 1, none: 1 };
  const checkpoint = { ...emptyCheckpoint(), channel_values: values, channel_versions: versions };
  const metadata = { source: "input", step: -1, parents: {} } as const;
  const config = await saver.put(THREAD, checkpoint, metadata, versions);
  await saver.putWrites(config, [["bytes", new Uint8Array([7])]], "task");
  const tuple = await saver.getTuple(THREAD);
  assert.deepEqual(tuple?.checkpoint.channel_values, values);
  assert.deepEqual(tuple?.pendingWrites, [["task", "bytes", new Uint8Array([7])]]);
});

test("wrong calls are refused with a code, and write nothing", async () => {
  const saver = openSaver();
  const metadata = { source: "input", step: -1, parents: {} } as const;
  const put = (configurable: object) =>
    saver.put({ configurable }, emptyCheckpoint(), metadata, {});
  await refusal(put({}), "BAD_SETTING");
  await refusal(put({ thread_id: 7 }), "BAD_SETTING");
  await refusal(put({ thread_id: "t", checkpoint_ns: "__proto__" }), "BAD_SETTING");
  await refusal(saver.putWrites(THREAD, [["a", 1]], "task"), "BAD_SETTING");
  const place = { configurable: { thread_id: "t", checkpoint_id: "1" } };
  for (const task of ["", "constructor"]) {
    await refusal(saver.putWrites(place, [["a", 1]], task), "BAD_SETTING");
  }
  for (const thread_id of ["..", "a/b", "a\0b"]) await refusal(put({ thread_id }), "BAD_ID");
  assert.deepEqual(await (await openStore({ root: tempDirectory(), dialect: "sdk" })).list(), []);
});

test("a bad line in a thread is reported, not passed over", async () => {
  const root = tempDirectory();
  const saver = openSaver({ root });
  await chatbot(saver).invoke(ask(0), THREAD);
  await saver.close();
  appendFileSync(logOf(root), "no json\n");
  await refusal(openSaver({ root }).getTuple(THREAD), "BAD_LINE");
});
