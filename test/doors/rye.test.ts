/** The thread-transcripts document's test classes, on the entry point that it defines. */

import assert from "node:assert/strict";
import {
  appendFileSync,
  existsSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  rmSync,
  writeFileSync,
} from "node:fs";
import { join } from "node:path";
import { onTestFinished, test } from "vitest";
import {
  newThreadId,
  readThreadMeta,
  ThreadTelemetry,
  TranscriptRenderer,
  TranscriptWriter,
  type TranscriptWriterOptions,
  writeThreadMeta,
} from "../../src/doors/rye.ts";
import { startChild } from "../support/child.ts";
import { refusal } from "../support/refusal.ts";
import { tempDirectory } from "../support/temp-directory.ts";

const ID = "hello_world-1739012630";

function open(options: Partial<TranscriptWriterOptions> = {}) {
  const project = tempDirectory();
  const transcriptDir = join(project, ".ai", "threads");
  const writer = new TranscriptWriter({
    transcriptDir,
    defaultDirective: "test_agent",
    ...options,
  });
  onTestFinished(() => writer.close());
  const file = (name: string) => join(transcriptDir, ID, name);
  const text = (name: string) => readFileSync(file(name), "utf8");
  return { project, writer, file, text };
}

// 1. Events as lines

test("an event becomes one line of JSON in its thread's directory, created when missing (S2-5)", async () => {
  const { writer, text } = open();
  await writer.writeEvent(ID, "thread_start", { directive: "hello_world", model: "haiku" });
  const [line, rest] = text("transcript.jsonl").split("\n");
  const event = JSON.parse(line ?? "") as Record<string, unknown>;
  assert.deepEqual(Object.keys(event), ["ts", "type", "thread_id", "directive", "model"]);
  assert.equal(event.type, "thread_start");
  assert.equal(event.directive, "hello_world");
  assert.equal(rest, "");
});

test("the writer's ts, type and thread_id override the data's, whose directive overrides the default (S2-1)", async () => {
  const { writer } = open();
  await writer.writeEvent(ID, "assistant_text", {
    text: "Hi",
    type: "forged",
    ts: "forged",
    thread_id: "forged",
    directive: "custom",
  });
  await writer.writeEvent(ID, "assistant_text", { text: "Ho" });
  const { events } = await writer.readEvents(ID);
  assert.equal(events[0]?.type, "assistant_text");
  assert.equal(events[0]?.thread_id, ID);
  assert.match(String(events[0]?.ts), /^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{6}\+00:00$/);
  assert.deepEqual([events[0]?.directive, events[1]?.directive], ["custom", "test_agent"]);
});

test("an event without any directive is refused, and nothing is created (S2-1)", async () => {
  const project = tempDirectory();
  const writer = new TranscriptWriter({ transcriptDir: project });
  const error = await refusal(
    writer.writeEvent(ID, "assistant_text", { text: "Hi" }),
    "INVALID_ENTRY",
  );
  assert.match(error.message, /missing 'directive'/);
  assert.deepEqual(readdirSync(project), []);
});

test("a caller's own checkpoint event is refused: the type is reserved", async () => {
  const { writer } = open();
  await refusal(writer.writeEvent(ID, "checkpoint", {}), "INVALID_ENTRY");
});

test("events of several processes are written whole, and the markdown in their order (S2-13)", async () => {
  const { project, writer, text } = open();
  const dir = join(project, ".ai", "threads");
  const children = [0, 1, 2].map((n) =>
    startChild("test/doors/rye-child.ts", dir, ID, String(n), "60"),
  );
  for (const child of children) assert.equal(await child.exitCode(), 0);
  const { events, badLines } = await writer.readEvents(ID);
  assert.equal(events.length, 180);
  assert.deepEqual(badLines, []);
  assert.equal(text("transcript.md"), await rendered(project));
});

// 2. Live markdown

const rendered = (project: string) =>
  new TranscriptRenderer({ thinking: true }).render(ID, project);

test("the markdown grows with each event and equals the renderer's output for the log (S2-6)", async () => {
  const { project, writer, text } = open();
  const sizes: number[] = [];
  for (const [type, data] of ALL_EVENTS) {
    await writer.writeEvent(ID, type, data);
    sizes.push(text("transcript.md").length);
  }
  assert.deepEqual(
    sizes,
    sizes.toSorted((a, b) => a - b),
  );
  assert.equal(text("transcript.md"), await rendered(project));
  for (const part of ["## System", "## Assistant", "**Tool: fs_read**", "**Error:**", "500in"]) {
    assert.ok(text("transcript.md").includes(part), part);
  }
});

test("without auto-markdown there is no markdown (S2-6)", async () => {
  const { writer, file } = open({ autoMarkdown: false });
  await writer.writeEvent(ID, "thread_start");
  assert.equal(existsSync(file("transcript.md")), false);
});

test("an event of an unknown type is kept, and not shown in the markdown (S2-7)", async () => {
  const { writer, text } = open();
  await writer.writeEvent(ID, "moon_phase", { phase: "full" });
  assert.equal((await writer.readEvents(ID)).events[0]?.phase, "full");
  assert.equal(text("transcript.md"), "");
});

test("notes in the markdown of an open thread are copied when another writer's event comes", async () => {
  const { project, writer, file, text } = open();
  const transcriptDir = join(project, ".ai", "threads");
  const other = new TranscriptWriter({ transcriptDir, defaultDirective: "d" });
  await writer.writeEvent(ID, "user_message", { text: "one" });
  appendFileSync(file("transcript.md"), "> a note of mine\n");
  await writer.writeEvent(ID, "user_message", { text: "two" });
  const noted = text("transcript.md");
  assert.ok(noted.includes("> a note of mine\n"));
  await other.writeEvent(ID, "user_message", { text: "three" });
  await writer.writeEvent(ID, "user_message", { text: "four" });
  await Promise.all([writer.close(), other.close()]);
  assert.equal(text("transcript.md"), await rendered(project));
  assert.equal(text("transcript.md.before-repair-0"), noted);
});

test("markdown that is missing, stale or damaged is repaired by the next event (S2-15)", async () => {
  const { project, writer, file, text } = open();
  for (const [type, data] of ALL_EVENTS) await writer.writeEvent(ID, type, data);
  await writer.close();
  const whole = text("transcript.md");
  const damages: (() => void)[] = [
    () => rmSync(file("transcript.md")),
    () => writeFileSync(file("transcript.md"), whole.slice(0, 100)),
    () => writeFileSync(file("transcript.md"), whole.replace("Assistant", "Ass1stant")),
    () => writeFileSync(file("transcript.md"), `${whole}and more`),
  ];
  for (const damage of damages) {
    damage();
    const again = new TranscriptWriter({
      transcriptDir: join(project, ".ai", "threads"),
      defaultDirective: "d",
    });
    await again.writeEvent(ID, "assistant_text", { text: "on we go" });
    await again.close();
    assert.equal(text("transcript.md"), await rendered(project));
  }
});

// 3. Integrity of the lines

test("corrupt lines are skipped and reported with number and reason (S2-14)", async () => {
  const { writer, file } = open();
  mkdirSync(file(".."), { recursive: true });
  mkdirSync(file("."), { recursive: true });
  writeFileSync(
    file("transcript.jsonl"),
    '{"ts":"2026-01-01T00:00:00","type":"thread_start","directive":"test"}\n' +
      "THIS IS NOT JSON\n" +
      '{"ts":"2026-01-01T00:00:01","type":"assistant_text","text":"hello"}\n' +
      "\n" +
      '{"type":"no_timestamp"}\n' +
      '{"ts":"2026-01-01T00:00:01"}\n' +
      '{"broken json\n',
  );
  const { events, badLines } = await writer.readEvents(ID);
  assert.deepEqual(
    events.map(({ type }) => type),
    ["thread_start", "assistant_text"],
  );
  assert.deepEqual(
    badLines.map(({ line }) => line),
    [2, 5, 6, 7],
  );
  assert.equal(badLines[1]?.reason, "missing ts/type");
});

test("an empty transcript has no events (S2-14)", async () => {
  const { writer, file } = open();
  mkdirSync(file("."), { recursive: true });
  writeFileSync(file("transcript.jsonl"), "");
  assert.deepEqual(await writer.readEvents(ID), { events: [], badLines: [] });
});

test("a file keeps the envelope of its first line, whatever the writer's option", async () => {
  const { project, writer, text } = open({ envelope: "payload" });
  await writer.writeEvent(ID, "thread_start", { model: "m" });
  await writer.close();
  const flat = new TranscriptWriter({
    transcriptDir: join(project, ".ai", "threads"),
    defaultDirective: "d",
  });
  await flat.writeEvent(ID, "assistant_text", { text: "hello" });
  await flat.close();
  const lines = text("transcript.jsonl").trimEnd().split("\n");
  for (const line of lines) {
    assert.deepEqual(Object.keys(JSON.parse(line) as object), [
      "timestamp",
      "thread_id",
      "event_type",
      "payload",
    ]);
  }
  assert.ok(text("transcript.md").includes("## Assistant\n\nhello"));
});

// 4. thread.json

test("thread.json follows start, completion and error (S2-8, S2-9)", async () => {
  const { project, writer, file } = open();
  await writer.writeEvent(ID, "thread_start", { model: "m", provider: "p", inputs: { a: 1 } });
  const started = await readThreadMeta(project, ID);
  assert.equal(started?.status, "running");
  assert.deepEqual(started?.inputs, { a: 1 });
  assert.equal(started?.cost, undefined);
  await writer.writeEvent(ID, "thread_complete", { cost: { turns: 2, spend: 0.5 } });
  const completed = await readThreadMeta(project, ID);
  assert.equal(completed?.status, "completed");
  assert.deepEqual(completed?.cost, { turns: 2, spend: 0.5 });
  assert.equal(completed?.created_at, started?.created_at);
  await writer.writeEvent(ID, "thread_error", { error_code: "late", detail: "boom" });
  const failed = await readThreadMeta(project, ID);
  assert.equal(failed?.status, "error");
  assert.deepEqual(failed?.error, { code: "late", detail: "boom" });
  assert.equal(existsSync(file("thread.json.tmp")), false);
});

test("a missing or corrupt thread.json is rebuilt from the log on reading, unwritten (S2-10)", async () => {
  const { project, writer, file } = open();
  await writer.writeEvent(ID, "thread_start", { directive: "hello_world", model: "haiku" });
  await writer.writeEvent(ID, "thread_complete", { cost: { turns: 2 } });
  for (const spoil of [
    () => rmSync(file("thread.json")),
    () => writeFileSync(file("thread.json"), "{"),
  ]) {
    spoil();
    const before = existsSync(file("thread.json"));
    const meta = await readThreadMeta(project, ID);
    assert.equal(meta?.reconstructed, true);
    assert.equal(meta?.status, "completed");
    assert.equal(meta?.directive, "hello_world");
    assert.deepEqual(meta?.cost, { turns: 2 });
    assert.equal(existsSync(file("thread.json")), before);
  }
  assert.equal(await readThreadMeta(project, "nobody-1"), null);
});

test("thread.json can be replaced by hand, whole (S2-9)", async () => {
  const { project, writer, text } = open();
  await writer.writeEvent(ID, "thread_start");
  const meta = { thread_id: ID, status: "paused", directive: "d", note: "mine" };
  await writeThreadMeta(project, ID, meta);
  assert.deepEqual(await readThreadMeta(project, ID), meta);
  assert.equal(text("thread.json"), JSON.stringify(meta, null, 2));
});

// 5. The renderer

test("the renderer leaves out thinking, details and headings as asked (S2-11)", async () => {
  const { project, writer } = open();
  for (const [type, data] of ALL_EVENTS) await writer.writeEvent(ID, type, data);
  const plain = await new TranscriptRenderer().render(ID, project);
  assert.equal(plain.includes("_Thinking:_"), false);
  const short = await new TranscriptRenderer({ toolDetails: false }).render(ID, project);
  assert.ok(short.includes("**Tool: fs_read**\n\n"));
  assert.equal(short.includes("**Input:**") || short.includes("**Output:**"), false);
  const bare = await new TranscriptRenderer({ assistantMetadata: false }).render(ID, project);
  assert.equal(bare.includes("## Assistant"), false);
});

// 6. Telemetry

test("threads are added up by status, directive and model; broken ones are counted apart (S2-12)", async () => {
  const { project } = open();
  const created = new Date().toISOString();
  const threads = [
    { id: "a-1", directive: "hello", status: "completed", model: "m1" },
    { id: "deep/er/b-2", directive: "hello", status: "completed", model: "m2" },
    { id: "c-3", directive: "deploy", status: "error", model: "m1" },
    { id: "d-4", directive: "deploy", status: "paused", model: "m1" },
  ];
  for (const { id, ...meta } of threads) {
    const cost = { spend: 0.25, tokens: 1000 };
    await writeThreadMeta(project, id, { thread_id: id, created_at: created, cost, ...meta });
  }
  const old = "2020-01-01T00:00:00+00:00";
  await writeThreadMeta(project, "old-5", {
    thread_id: "old-5",
    status: "completed",
    created_at: old,
  });
  const broken = join(project, ".ai", "threads", "broken-6");
  mkdirSync(broken);
  writeFileSync(join(broken, "thread.json"), "NOT VALID JSON{{{");
  const stats = await new ThreadTelemetry().aggregate(project);
  assert.equal(stats.total, 4);
  assert.deepEqual([stats.completed, stats.error, stats.paused, stats.skipped], [2, 1, 1, 1]);
  assert.deepEqual([stats.total_spend, stats.total_tokens], [1, 4000]);
  assert.deepEqual(stats.by_directive.hello, { count: 2, spend: 0.5, tokens: 2000 });
  assert.deepEqual(stats.by_model.m1, { count: 3, spend: 0.75, tokens: 3000 });
});

// Ids, and the thread of a runner

test("an id is reserved by making its directory, and a clash names the id (S2-4)", async () => {
  const { project } = open();
  const ids = await Promise.allSettled(
    [1, 2, 3, 4].map(() => newThreadId("d", { projectPath: project })),
  );
  const won = ids.filter((result) => result.status === "fulfilled");
  assert.ok(won.length >= 1);
  for (const result of ids) {
    if (result.status === "rejected") assert.match(String(result.reason), /d-\d+ is there already/);
  }
  const first = await newThreadId("e", { projectPath: project, wait: true });
  const second = await newThreadId("e", { projectPath: project, wait: true });
  assert.notEqual(first, second);
});

/** One of each of the twelve, and some nearly empty ones (S2-2). */
const ALL_EVENTS: readonly (readonly [string, Record<string, unknown>])[] = [
  ["thread_start", { model: "haiku", provider: "p", inputs: {}, thread_mode: "single" }],
  ["user_message", { text: "Do something é 😀", role: "system" }],
  ["step_start", { turn_number: 1 }],
  ["assistant_reasoning", { text: "Let me think" }],
  ["assistant_text", { text: "I'll help" }],
  ["tool_call_start", { tool: "fs_read", call_id: "1", input: { path: "/tmp/é" } }],
  ["tool_call_result", { call_id: "1", output: "```\nfenced\n```", duration_ms: 3 }],
  ["tool_call_start", { tool: "fs_write", call_id: "2" }],
  ["tool_call_result", { call_id: "2", output: "", error: "File not found", duration_ms: 1 }],
  ["step_finish", { cost: { spend: 0.0025 }, tokens: { input_tokens: 500, output_tokens: 100 } }],
  ["hook_triggered", { hook_directive: "h", event_name: "e" }],
  ["spawn_child", { child_thread_id: "c-1", child_directive: "c" }],
  ["thread_error", { error_code: "llm_call_failed", detail: "timeout" }],
  ["thread_complete", { cost: { turns: 2, tokens: 3000, spend: 0.005, duration_seconds: 8.25 } }],
];
