/** Threads of a runner, on the door that the thread-transcripts document asks for. */

import assert from "node:assert/strict";
import { join } from "node:path";
import { test } from "vitest";
import { readThreadMeta, Thread, TranscriptWriter } from "../../src/rye.ts";
import { tempDirectory } from "../support/temp-directory.ts";

test("a runner's thread writes every event, also when a tool or a step throws (S2-2, S2-3)", async () => {
  const project = tempDirectory();
  const thread = await Thread.start({
    projectPath: project,
    directive: "hello_world",
    model: "m",
    parentThreadId: "parent-1",
  });
  await thread.userMessage("go");
  await thread.step(async () => {
    assert.equal(await thread.toolCall("add", { a: 1 }, () => 2), 2);
    return { tokens: { input_tokens: 10, output_tokens: 5 }, cost: { spend: 0.5 } };
  });
  await assert.rejects(
    thread.step(async () => {
      await thread.toolCall("fail", {}, () => {
        throw new Error("no such file");
      });
      return undefined;
    }),
    /no such file/,
  );
  await thread.complete();

  const writer = new TranscriptWriter({ transcriptDir: join(project, ".ai", "threads") });
  const { events } = await writer.readEvents(thread.id);
  assert.deepEqual(
    events.map(({ type }) => type),
    [
      "thread_start",
      "user_message",
      "step_start",
      "tool_call_start",
      "tool_call_result",
      "step_finish",
      "step_start",
      "tool_call_start",
      "tool_call_result",
      "step_finish",
      "thread_complete",
    ],
  );
  assert.equal(events[8]?.error, "no such file");
  assert.equal(typeof events[8]?.duration_ms, "number");
  assert.equal(events[9]?.finish_reason, "error");
  const meta = await readThreadMeta(project, thread.id);
  assert.equal(meta?.status, "completed");
  assert.equal(meta?.parent_thread_id, "parent-1");
  const { tokens } = (meta?.cost ?? {}) as { tokens?: number };
  assert.equal(tokens, 15);
});

test("a thread put down without an end is paused, and running again when it goes on (S2-8)", async () => {
  const project = tempDirectory();
  const thread = await Thread.start({ projectPath: project, directive: "d" });
  await thread.close();
  assert.equal((await readThreadMeta(project, thread.id))?.status, "paused");
  const writer = new TranscriptWriter({
    transcriptDir: join(project, ".ai", "threads"),
    defaultDirective: "d",
  });
  await writer.writeEvent(thread.id, "user_message", { text: "still there?" });
  assert.equal((await readThreadMeta(project, thread.id))?.status, "running");
  await writer.close();
});
