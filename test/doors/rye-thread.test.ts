/** Threads of a runner, on the entry point that the thread-transcripts document defines. */

import assert from "node:assert/strict";
import { readFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { test } from "vitest";
import { LOG_LIMITS } from "../../src/core/base/limits.ts";
import { readThreadMeta, Thread, TranscriptWriter } from "../../src/doors/rye.ts";
import { Store } from "../../src/sessions/store/store.ts";
import { Gate, isPending } from "../support/gate.ts";
import { tempDirectory } from "../support/temp-directory.ts";
import { WatchedFiles } from "../support/watched-files.ts";

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

/** The result of the only tool call of a thread, in its line and in its markdown. */
async function resultOf(call: (thread: Thread) => Promise<void>) {
  const project = tempDirectory();
  const thread = await Thread.start({ projectPath: project, directive: "d" });
  await call(thread);
  await thread.complete();
  const writer = new TranscriptWriter({ transcriptDir: join(project, ".ai", "threads") });
  const { events } = await writer.readEvents(thread.id);
  const results = events.filter(({ type }) => type === "tool_call_result");
  assert.equal(results.length, 1);
  assert.equal(events.at(-1)?.tool_results_count, 1);
  const path = join(project, ".ai", "threads", thread.id, "transcript.md");
  return { result: results[0], markdown: readFileSync(path, "utf8") };
}

const cyclic: Record<string, unknown> = {};
cyclic.itself = cyclic;
const throwing = {
  get value() {
    throw new Error("not to be read");
  },
};

test.each<[string, unknown, string]>([
  ["a bigint", 1n, "INVALID_ENTRY"],
  ["a cycle", cyclic, "INVALID_ENTRY"],
  ["an object that throws", throwing, "INVALID_ENTRY"],
  ["longer than a line", "x".repeat(LOG_LIMITS.lineBytesMax), "LINE_TOO_LONG"],
])(
  "a tool's output that is %s goes to the caller, and its result says that it is not recorded",
  async (_, output, code) => {
    const { result } = await resultOf(async (thread) => {
      assert.equal(await thread.toolCall("t", {}, () => output), output);
    });
    assert.equal(result?.error, `the tool's output could not be recorded: ${code}`);
    assert.equal(result?.output, "");
  },
);

test.each<[string, unknown, string]>([
  ["no message", new Error(""), "Error"],
  ["neither message nor name", Object.assign(new Error(""), { name: "" }), "error"],
  ["no text at all", Object.create(null), "error"],
  ["an empty text", "", "error"],
  [
    "more text than a line holds",
    new Error("x".repeat(LOG_LIMITS.lineBytesMax)),
    "the tool's error could not be recorded: LINE_TOO_LONG",
  ],
])(
  "a tool that throws %s has failed, and its caller gets what it threw",
  async (_, thrown, error) => {
    const { result, markdown } = await resultOf(async (thread) => {
      const call = thread.toolCall("t", {}, () => {
        throw thrown;
      });
      await call.then(assert.fail, (got) => assert.equal(got, thrown));
    });
    assert.equal(result?.error, error);
    assert.match(markdown, /\*\*Error:\*\*/);
  },
);

test("a thread closed without an end is paused, and running again when it continues (S2-8)", async () => {
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

test("a thread closed before its end was awaited is completed, and thread.json is written in order", async () => {
  const disk = new WatchedFiles();
  const warnings: string[] = [];
  const onWarning = (warning: string) => void warnings.push(warning);
  const root = tempDirectory();
  const store = new Store(disk.host, { dialect: "rye", root, agent: "hello", onWarning });
  const session = store.session("hello-1739012630");
  await session.append({ kind: "start" });
  // Each is held, so that a missing wait shows.
  const gates = { "transcript.jsonl": new Gate(), "thread.json.tmp": new Gate() };
  disk.before = ({ call, name }) =>
    call === "sync" ? gates[name as keyof typeof gates]?.pass() : undefined;
  const ended = session.append({ kind: "end", outcome: "completed" });
  const closing = session.close();
  for (const gate of Object.values(gates)) {
    await gate.reached;
    assert.ok(await isPending(closing));
    gate.open();
  }
  await closing;
  await ended;
  const meta = JSON.parse(readFileSync(join(dirname(session.path), "thread.json"), "utf8"));
  assert.equal(meta.status, "completed");
  assert.deepEqual(warnings, []);
  await store.close();
});
