/**
 * A process that records turns of messages only, and waits to be killed: prints "ack <n>" when the n-th
 * turn is acknowledged. It records by `append`, or the answers by `captureAnthropic`.
 */

import { captureAnthropic } from "../../src/doors/capture.ts";
import { openStore } from "../../src/doors/index.ts";
import type { StoreOptions } from "../../src/sessions/store/store.ts";
import type { OpenStoreOptions } from "../../src/sessions/store/store-options.ts";

/** The writer's instructions, as JSON in the first argument. */
export interface TurnsOrder {
  readonly store: StoreOptions;
  readonly id: string;
  readonly turns: number;
  readonly way: "append" | "capture";
}

run(JSON.parse(process.argv[2] ?? "{}") as TurnsOrder).catch((error: unknown) => {
  console.error(error);
  process.exit(1);
});

async function run({ store: options, id, turns, way }: TurnsOrder): Promise<void> {
  const session = (
    await openStore({ sign: true, agent: "hello", ...options } as OpenStoreOptions)
  ).session(id);
  const message = (role: "user" | "assistant", text: string) =>
    session.append({ kind: "message", role, parts: [{ type: "text", text }] });
  for (let n = 0; n < turns; n++) {
    await message("user", `question ${n}`);
    if (way === "append") await message("assistant", `answer ${n}`);
    else await captureAnthropic(answer(n), session).result;
    console.log(`ack ${n}`);
  }
  process.stdin.resume(); // Alive until it is killed.
}

/** A message as Anthropic streams it. */
async function* answer(n: number) {
  const usage = { input_tokens: 1, output_tokens: 1 };
  const head = {
    id: `msg_${n}`,
    type: "message",
    role: "assistant",
    model: "m",
    content: [],
    usage,
  };
  yield { type: "message_start", message: head };
  yield { type: "content_block_start", index: 0, content_block: { type: "text", text: "" } };
  yield {
    type: "content_block_delta",
    index: 0,
    delta: { type: "text_delta", text: `answer ${n}` },
  };
  yield { type: "content_block_stop", index: 0 };
  yield { type: "message_delta", delta: { stop_reason: "end_turn" }, usage };
  yield { type: "message_stop" };
}
