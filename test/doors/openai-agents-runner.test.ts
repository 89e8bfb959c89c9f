/**
 * Method: the SDK's real Runner, with a scripted model, over a session of ours and over the SDK's
 * own. Both runs must see the same history and leave the same one.
 */

import assert from "node:assert/strict";
import {
  Agent,
  type AgentInputItem,
  type AgentOutputItem,
  type AssistantMessageItem,
  MemorySession,
  type Model,
  type ModelRequest,
  Runner,
  RunState,
  type Session,
  type StreamEvent,
  tool,
  Usage,
} from "@openai/agents-core";
import { expect, onTestFinished, test } from "vitest";
import { z } from "zod";
import { VerbatimSession } from "../../src/integrations/openai-agents/session.ts";
import { tempDirectory } from "../support/temp-directory.ts";

/** Returns scripted responses, and records its inputs. */
class Scripted implements Model {
  readonly asked: AgentInputItem[][] = [];
  readonly #script: AgentOutputItem[][];

  constructor(script: AgentOutputItem[][]) {
    this.#script = script;
  }

  async getResponse({ input }: ModelRequest) {
    this.asked.push(structuredClone(input) as AgentInputItem[]);
    const output = this.#script.shift();
    if (!output) throw new Error("the model is out of reach");
    return { usage: new Usage(), output };
  }

  async *getStreamedResponse(request: ModelRequest): AsyncIterable<StreamEvent> {
    const { output } = await this.getResponse(request);
    const usage = { inputTokens: 1, outputTokens: 1, totalTokens: 2 };
    const said = output as AssistantMessageItem[];
    yield { type: "response_done", response: { id: "r", output: said, usage } };
  }
}

function says(text: string): AgentOutputItem {
  const content = [{ type: "output_text" as const, text }];
  return { type: "message", role: "assistant", status: "completed", content };
}

function calls(name: string, callId: string): AgentOutputItem {
  return {
    type: "function_call",
    callId,
    name,
    arguments: '{"room":"kitchen"}',
    status: "completed",
  };
}

function kitchen(model: Model): Agent {
  const parameters = z.object({ room: z.string() });
  const look = tool({
    name: "look",
    description: "Looks",
    parameters,
    execute: async ({ room }) => `it is warm in the ${room}`,
  });
  const ignite = tool({
    name: "ignite",
    description: "Lights the oven",
    parameters,
    needsApproval: true,
    execute: async () => "lit",
  });
  return new Agent({ name: "cook", model, tools: [look, ignite] });
}

const SCRIPT: AgentOutputItem[][] = [
  [calls("look", "c1")],
  [says("Warm.")],
  [calls("look", "c2"), calls("ignite", "c3")],
  [says("It burns.")],
  [says("Good night.")],
];

/** Three turns: with a tool; one that stops for approval, and is resumed by another; streamed. */
async function evening(model: Scripted, open: () => Session): Promise<AgentInputItem[]> {
  const runner = new Runner({ tracingDisabled: true });
  const first = await runner.run(kitchen(model), "Is it warm?", { session: open() });
  assert.equal(first.finalOutput, "Warm.");

  const stopped = await runner.run(kitchen(model), "Light the oven.", { session: open() });
  assert.equal(stopped.interruptions.length, 1);
  const kept = stopped.state.toString();

  const agent = kitchen(model);
  const state = await RunState.fromString(agent, kept);
  for (const interruption of state.getInterruptions()) state.approve(interruption);
  const resumed = await runner.run(agent, state, { session: open() });
  assert.equal(resumed.finalOutput, "It burns.");

  const last = await runner.run(kitchen(model), "Bye.", { session: open(), stream: true });
  await last.completed;
  assert.equal(last.finalOutput, "Good night.");
  return open().getItems();
}

function opener(root = tempDirectory()): () => VerbatimSession {
  return () => {
    const session = new VerbatimSession({ sessionId: "evening", root, durability: "os" });
    onTestFinished(() => session.close());
    return session;
  };
}

test("the Runner sees and leaves the same history as with the SDK's own session", async () => {
  const own = new MemorySession({ sessionId: "evening" });
  const [ours, theirs] = [new Scripted([...SCRIPT]), new Scripted([...SCRIPT])];
  const kept = await evening(ours, opener());
  assert.deepEqual(kept, JSON.parse(JSON.stringify(await evening(theirs, () => own))));
  assert.deepEqual(ours.asked, theirs.asked);
  assert.equal(kept.length, 12);
});

test.each([false, true])(
  "a run whose model fails leaves the same history as with the SDK's session (streamed: %s)",
  async (isStreamed) => {
    const runner = new Runner({ tracingDisabled: true });
    const own = new MemorySession({ sessionId: "evening" });
    const open = opener();
    for (const session of [own, open()]) {
      const agent = kitchen(new Scripted([[calls("look", "c1")]]));
      const running = isStreamed
        ? runner.run(agent, "Is it warm?", { session, stream: true }).then((run) => run.completed)
        : runner.run(agent, "Is it warm?", { session });
      await expect(running).rejects.toThrow("out of reach");
    }
    assert.deepEqual(await open().getItems(), JSON.parse(JSON.stringify(await own.getItems())));
    if (isStreamed) assert.ok((await open().getItems()).length > 0);
  },
);

test("an input callback chooses from the history, and the log keeps all of it", async () => {
  const open = opener();
  await open().addItems([{ type: "message", role: "user", content: "old" }]);
  const model = new Scripted([[says("Hi.")]]);
  const runner = new Runner({ tracingDisabled: true });
  await runner.run(kitchen(model), "new", {
    session: open(),
    sessionInputCallback: (_history, items) => items,
  });
  assert.equal(model.asked[0]?.length, 1);
  assert.equal((await open().getItems()).length, 3);
});
