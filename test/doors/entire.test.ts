/**
 * The session-transcript document's requirements and success criteria, on the entry point it
 * defines: rows, usage, identity, time. Sidecar files are in entire-sidecars.test.ts.
 */

import assert from "node:assert/strict";
import { spawnSync } from "node:child_process";
import { existsSync, readdirSync, readFileSync, statSync } from "node:fs";
import { join } from "node:path";
import { test } from "vitest";
import { captureAnthropic } from "../../src/doors/capture.ts";
import { newSessionId } from "../../src/doors/entire.ts";
import { startChild } from "../support/child.ts";
import { assertChain } from "../support/entire-rows.ts";
import { CALL, openTranscript as open, RESULT, USAGE } from "../support/entire-session.ts";
import { hasProgram } from "../support/packages.ts";
import { refusal } from "../support/refusal.ts";
import { tempDirectory } from "../support/temp-directory.ts";
import type { RecorderOrder } from "./entire-child.ts";

const UUID_V4 = /^[0-9a-f]{8}-[0-9a-f]{4}-4[0-9a-f]{3}-[89ab][0-9a-f]{3}-[0-9a-f]{12}$/;

// R1. Rows

test("rows go to .entire/metadata/{session id}/full.jsonl, created with the first of them (S1-R1a, S1-R7)", async () => {
  const { cwd, transcript, rows } = await open();
  assert.deepEqual(readdirSync(cwd), []);
  await transcript.user("explain main.rs");
  const directory = join(cwd, ".entire/metadata", transcript.sessionId);
  assert.equal(transcript.path, join(directory, "full.jsonl"));
  assert.equal(rows().length, 1);
  for (const made of [".entire", ".entire/metadata", `.entire/metadata/${transcript.sessionId}`]) {
    assert.equal(statSync(join(cwd, made)).mode & 0o777, 0o700);
  }
  await transcript.end();
  for (const name of readdirSync(directory)) {
    assert.equal(statSync(join(directory, name)).mode & 0o777, 0o600, name);
  }
});

test("a user's row holds a text, or blocks, or the results of tools (S1-R1b)", async () => {
  const { transcript, rows } = await open();
  const blocks = [
    { type: "text", text: "and this" },
    { type: "image", source: { data: "…" } },
  ];
  await transcript.user("explain main.rs");
  await transcript.user(blocks);
  await transcript.toolResults([RESULT]);
  assert.deepEqual(
    rows().map(({ type, message }) => [type, message]),
    ["explain main.rs", blocks, [RESULT]].map((content) => ["user", { role: "user", content }]),
  );
});

test("an assistant's row holds blocks, whether the caller passed blocks or a text (S1-R1c)", async () => {
  const { transcript, rows } = await open();
  await transcript.assistant({ content: "Let me see." });
  await transcript.assistant({ content: [{ type: "text", text: "Reading." }, CALL] });
  const [first, second] = rows().map(({ message }) => message);
  assert.deepEqual(first?.content, [{ type: "text", text: "Let me see." }]);
  assert.deepEqual(second?.content, [{ type: "text", text: "Reading." }, CALL]);
});

test("every row has the document's eight fields, in its order (S1-R1d)", async () => {
  const { cwd, transcript, rows } = await open({ version: "0.0.44" });
  await transcript.user("explain main.rs");
  await transcript.assistant({ content: [CALL], usage: USAGE });
  await transcript.toolResults([RESULT]);
  for (const row of rows()) {
    const keys = [
      "type",
      "sessionId",
      "uuid",
      "parentUuid",
      "timestamp",
      "cwd",
      "version",
      "message",
    ];
    assert.deepEqual(Object.keys(row), keys);
    assert.match(row.uuid, UUID_V4);
    assert.deepEqual([row.sessionId, row.cwd, row.version], [transcript.sessionId, cwd, "0.0.44"]);
  }
});

test("the version is the package's own by default (S1-R1d)", async () => {
  const { transcript, rows } = await open();
  await transcript.user("hi");
  const manifest = readFileSync(new URL("../../package.json", import.meta.url), "utf8");
  assert.equal(rows()[0]?.version, (JSON.parse(manifest) as { version: string }).version);
});

test("the first row names no parent, each other the row before; a resumed session continues the chain (S1-R1e)", async () => {
  const { cwd, transcript, rows } = await open();
  for (let n = 0; n < 5; n++) await transcript.user(`turn ${n}`);
  // At once, so that they share a write.
  await Promise.all([5, 6, 7].map((n) => transcript.assistant({ content: `turn ${n}` })));
  await transcript.end();
  const again = await open({ cwd, sessionId: transcript.sessionId });
  await again.transcript.user("turn 8");
  assertChain(rows());
  assert.deepEqual(
    rows().map(({ message }) => JSON.stringify(message).match(/turn (\d)/)?.[1]),
    [..."012345678"],
  );
});

// R2. Token usage

const SSE = [
  {
    type: "message_start",
    message: {
      id: "msg_01A",
      type: "message",
      role: "assistant",
      model: "claude-opus-4-5-20251101",
      content: [],
      usage: {
        input_tokens: 9,
        cache_creation_input_tokens: 38,
        cache_read_input_tokens: 104,
        output_tokens: 3,
      },
    },
  },
  { type: "content_block_start", index: 0, content_block: { type: "text", text: "" } },
  { type: "content_block_delta", index: 0, delta: { type: "text_delta", text: "Hello" } },
  { type: "content_block_stop", index: 0 },
  { type: "message_delta", delta: { stop_reason: "end_turn" }, usage: { output_tokens: 636 } },
  { type: "message_stop" },
];

async function* sse(): AsyncGenerator<Uint8Array> {
  for (const event of SSE) {
    yield Buffer.from(`event: ${event.type}\ndata: ${JSON.stringify(event)}\n\n`);
  }
}

test("usage comes from the stream's message_start and message_delta, into the row and to the caller (S1-R2a, S1-R2d)", async () => {
  const { transcript, rows } = await open();
  const captured = captureAnthropic(sse(), transcript.session);
  for await (const _ of captured);
  const { blocks, stopReason, usage } = await captured.result;
  assert.deepEqual([blocks, stopReason], [[{ type: "text", text: "Hello" }], "end_turn"]);
  assert.equal(usage?.output_tokens, 636);
  const [row] = rows();
  assert.deepEqual(row?.message, {
    id: "msg_01A",
    role: "assistant",
    model: "claude-opus-4-5-20251101",
    content: [{ type: "text", text: "Hello" }],
    stop_reason: "end_turn",
    usage: {
      input_tokens: 9,
      output_tokens: 636,
      cache_creation_input_tokens: 38,
      cache_read_input_tokens: 104,
    },
  });
});

test("a capture's result can be recorded by hand, too (S1-R2d)", async () => {
  const { transcript, rows } = await open();
  await transcript.assistant({ blocks: [CALL], stopReason: "tool_use", usage: USAGE });
  const { content, stop_reason, usage } = rows()[0]?.message ?? {};
  assert.deepEqual([content, stop_reason, usage], [[CALL], "tool_use", USAGE]);
});

test("message.usage has the four counts, whole numbers, and message has an id (S1-R2b, S1-R2c)", async () => {
  const { transcript, rows } = await open();
  await transcript.assistant({ content: "a", usage: { input_tokens: 5, output_tokens: null } });
  await transcript.assistant({
    content: "b",
    id: "msg_1",
    model: "m",
    stop_reason: "end_turn",
    usage: USAGE,
  });
  const [first, second] = rows().map(({ message }) => message);
  const zero = { cache_creation_input_tokens: 0, cache_read_input_tokens: 0 };
  assert.deepEqual(first?.usage, { input_tokens: 5, output_tokens: 0, ...zero });
  assert.match(String(first?.id), /^msg_[0-9a-f]{32}$/);
  assert.deepEqual([first?.model, first?.stop_reason], ["claude-opus-4-5", null]);
  assert.deepEqual(second, {
    id: "msg_1",
    role: "assistant",
    model: "m",
    content: [{ type: "text", text: "b" }],
    stop_reason: "end_turn",
    usage: USAGE,
  });
});

// R3, R4. Identity and time

test("a session's id is its UTC date and a uuid, new each time, and names its directory (S1-R3)", async () => {
  const ids = Array.from({ length: 100 }, newSessionId);
  assert.equal(new Set(ids).size, 100);
  for (const id of ids) {
    assert.match(id.slice(0, 11), /^\d{4}-\d\d-\d\d-$/);
    assert.match(id.slice(11), UUID_V4);
    assert.ok(Math.abs(Date.parse(id.slice(0, 10)) - Date.now()) < 2 * 86_400_000);
  }
  const { transcript } = await open();
  assert.match(transcript.sessionId, /^\d{4}-\d\d-\d\d-[0-9a-f-]{36}$/);
  assert.ok(transcript.path.includes(`/${transcript.sessionId}/`));
});

test("an id that could leave its place is refused", async () => {
  for (const sessionId of ["", "..", "a/b", "../x", "a\0"])
    await refusal(open({ sessionId }), "BAD_ID");
});

test("a row's time is when it was added, in UTC with milliseconds (S1-R4)", async () => {
  const { transcript, rows } = await open();
  const before = new Date().toISOString();
  await transcript.user("hi");
  const between = new Date().toISOString();
  await transcript.assistant({ content: "ho" });
  const after = new Date().toISOString();
  const [first, second] = rows().map(({ timestamp }) => String(timestamp));
  assert.match(first ?? "", /^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z$/);
  const times = [before, first ?? "", between, second ?? "", after];
  assert.deepEqual(times, times.toSorted());
});

// R6. Write timing

test.for(["disk", "os"] as const)(
  "rows and the prompt that were acknowledged survive kill -9, and the chain continues after it (S1-R6a, S1-R6b, S1-R6c; %s)",
  async (durability) => {
    const root = tempDirectory();
    const order: RecorderOrder = {
      root,
      id: newSessionId(),
      name: "doomed",
      rows: 1e9,
      mode: "exclusive",
      durability,
      atOnce: 3,
    };
    const acknowledged: number[] = [];
    for (let round = 0; round < 2; round++) {
      const child = startChild("test/doors/entire-child.ts", JSON.stringify(order));
      assert.equal(await child.line(), "open");
      for (let n = 0; n < 60; n++) acknowledged.push(Number((await child.line())?.slice(4)));
      await child.kill();
    }
    const { transcript, rows, textOf, pathOf } = await open({ cwd: root, sessionId: order.id });
    assert.equal(existsSync(pathOf("context.md")), false);
    assert.match(textOf("prompt.txt"), /^doomed says 0 /);
    await transcript.user("I go on");
    const recorded = rows();
    assertChain(recorded);
    const counted = recorded.map(({ n }) => n);
    for (const n of acknowledged) assert.ok(counted.includes(n), `row ${n} is lost`);
    await transcript.end();
    assert.match(textOf("context.md"), /^# Session Context\n/);
  },
);

test("nothing waits in memory for the session's end: each row is in the file when it resolves (S1-R6a, S1-R6b)", async () => {
  const { transcript, rows } = await open();
  for (let n = 1; n <= 20; n++) {
    await transcript.user(`turn ${n}`);
    assert.equal(rows().length, n);
  }
});

// Success criteria

test.skipIf(!hasProgram("jq"))("jq reads the transcript line by line (S1-S1)", async () => {
  const { transcript, rows } = await open();
  const texts = ["plain", "é 😀 \u2028 \u0007 \u0000 \x7f", '"\\\n\r\t', "x".repeat(100_000)];
  for (const text of texts) {
    await transcript.user(text);
    await transcript.assistant({ content: [{ type: "text", text }, CALL], usage: USAGE });
  }
  const filter = "[.type, .uuid, .parentUuid, .message.usage.output_tokens]";
  const { status, stdout } = spawnSync("jq", ["-c", filter, transcript.path], { encoding: "utf8" });
  assert.equal(status, 0);
  const expected = rows().map(({ type, uuid, parentUuid, message }) => {
    const { output_tokens = null } = (message.usage ?? {}) as Record<string, unknown>;
    return JSON.stringify([type, uuid, parentUuid, output_tokens]);
  });
  assert.deepEqual(stdout.trimEnd().split("\n"), expected);
});

test("a lone surrogate is unchanged: it is JSON, though jq 1.6 cannot represent it (S1-S1)", async () => {
  const { transcript, rows } = await open();
  await transcript.user("cut \ud83d");
  assert.equal(rows()[0]?.message.content, "cut \ud83d");
  assert.ok(readFileSync(transcript.path, "utf8").includes('"cut \\ud83d"'));
});

test("a value that is not a row is refused before anything is created", async () => {
  const { cwd, transcript } = await open();
  const odd = (value: unknown) => value as never;
  const refused: readonly (readonly [Promise<void>, string])[] = [
    [transcript.user(odd(7)), "message.content"],
    [transcript.user([odd({ text: "no type" })]), "message.content.0"],
    [transcript.assistant(odd(null)), "message"],
    [transcript.assistant(odd({})), "message.content"],
    [
      transcript.assistant({ content: "", usage: { output_tokens: 7.5 } }),
      "message.usage.output_tokens",
    ],
    [
      transcript.assistant({ content: "", usage: { input_tokens: -1 } }),
      "message.usage.input_tokens",
    ],
    [transcript.assistant({ content: "", id: odd(7) }), "message.id"],
    [transcript.toolResults([]), "message.content"],
    [transcript.toolResults([{ type: "text" }]), "message.content"],
    [transcript.toolResults([{ type: "tool_result" }]), "message.content.0.tool_use_id"],
  ];
  for (const [work, field] of refused) {
    assert.equal((await refusal(work, "INVALID_ENTRY")).details.field, field);
  }
  await transcript.end();
  assert.deepEqual(readdirSync(cwd), []);
});

test("a cut answer is marked", async () => {
  const { transcript, rows } = await open();
  await transcript.assistant({ content: "It re" }, { partial: true });
  assert.equal(rows()[0]?.partial, true);
  const [entry] = await transcript.session.last(1);
  assert.equal(entry?.isPartial, true);
});
