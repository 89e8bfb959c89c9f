/**
 * The shapes that the source documents show, called from JavaScript: each does what the document says,
 * or is refused at once with a code.
 */

import assert from "node:assert/strict";
import { readdirSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { onTestFinished, test, vi } from "vitest";
import { z } from "zod";
import { SessionTranscript } from "../../src/doors/entire.ts";
import { TranscriptWriter as HomeAgentWriter } from "../../src/doors/homeagent.ts";
import { LogFile, openLog, readLog } from "../../src/doors/log.ts";
import {
  newThreadId,
  TranscriptWriter as RyeWriter,
  readThreadMeta,
  Thread,
  ThreadTelemetry,
  TranscriptRenderer,
  writeThreadMeta,
} from "../../src/doors/rye.ts";
import {
  inspectJson,
  openVerified,
  signJson,
  TranscriptSigner,
  verify,
} from "../../src/doors/signing.ts";
import {
  DurableStore,
  encodeLine,
  JsonlEngine,
  openStreams,
  streamPathToFilename,
  typedLog,
} from "../../src/doors/streams.ts";
import { refusal, thrownRefusal } from "../support/refusal.ts";
import { SignedStreams } from "../support/signed-streams.ts";
import { tempDirectory } from "../support/temp-directory.ts";

/** For JavaScript callers, without a compiler's checks. */
// biome-ignore lint/suspicious/noExplicitAny: what a compiler would refuse is what is tried here.
const untyped = (value: unknown): any => value;

const ID = "hello_world-1739012630";
const TURN = { turnId: "1", role: "user", content: "Hi", ts: 1 } as const;
const DAY_MS = 86_400_000;

async function engineAt(directory = tempDirectory()): Promise<JsonlEngine> {
  const engine = await openStreams({ root: directory });
  onTestFinished(() => engine.close());
  return engine;
}

test("JsonlEngine.open takes the directory, as openStreams takes it as root", async () => {
  const root = tempDirectory();
  const engine = await JsonlEngine.open(root, { writeBackMs: 1 });
  await engine.createStream("/a");
  await engine.append("/a", encodeLine({ a: 1 }));
  await engine.close();
  assert.equal(await (await engineAt(root)).messageCount("/a"), 1);
});

/** The texts of the process warnings that come while `work` runs. */
async function warningsOf(work: () => Promise<unknown>): Promise<string[]> {
  const emit = vi.spyOn(process, "emitWarning").mockImplementation(() => {});
  try {
    await work();
    return emit.mock.calls.map(([warning]) => String(warning));
  } finally {
    emit.mockRestore();
  }
}

test("rye's writer takes directory, markdown and directive as positional arguments", async () => {
  const directory = tempDirectory();
  const writer = new RyeWriter(directory, false, "test_agent");
  await writer.writeEvent(ID, "assistant_text", { text: "Hello" });
  const { events } = await writer.readEvents(ID);
  assert.equal(events[0]?.directive, "test_agent");
  assert.ok(!readdirSync(join(directory, ID)).includes("transcript.md"));
  await writer.close();
});

test("rye's writer takes the directory, and the rest as options", async () => {
  const directory = tempDirectory();
  const writer = new RyeWriter(directory, { defaultDirective: "test_agent" });
  await writer.writeEvent(ID, "assistant_text", { text: "Hello" });
  assert.match(readFileSync(join(directory, ID, "transcript.md"), "utf8"), /## Assistant/);
  await writer.close();
});

test("rye's writer reads the events of a thread in another project", async () => {
  const project = tempDirectory();
  const there = new RyeWriter(join(project, ".ai", "threads"), true, "there");
  await there.writeEvent(ID, "assistant_text", { text: "Hello" });
  await there.close();
  const { events } = await new RyeWriter(tempDirectory()).readEvents(ID, project);
  assert.equal(events[0]?.directive, "there");
});

test("telemetry takes the number of days as a positional argument", async () => {
  const project = tempDirectory();
  for (const [id, age] of [
    ["a-1", 20],
    ["b-2", 3],
  ] as const) {
    const created = new Date(Date.now() - age * DAY_MS).toISOString();
    const meta = { thread_id: id, directive: id, status: "completed", created_at: created };
    await writeThreadMeta(project, id, untyped(meta));
  }
  const telemetry = new ThreadTelemetry();
  const totals = [];
  for (const days of [undefined, 30, { days: 30 }, 1]) {
    totals.push((await telemetry.aggregate(project, days)).total);
  }
  assert.deepEqual(totals, [1, 2, 2, 0]);
});

test.each<[string, () => unknown]>([
  ["rye: no directory", () => new RyeWriter(untyped(undefined))],
  ["rye: null", () => new RyeWriter(untyped(null))],
  ["rye: an empty directory", () => new RyeWriter("")],
  ["rye: no transcriptDir", () => new RyeWriter(untyped({}))],
  ["rye: transcript_dir", () => new RyeWriter(untyped({ transcript_dir: "a" }))],
  ["rye: a text for markdown", () => new RyeWriter("a", untyped("b"))],
  ["rye: autoMarkdown as text", () => new RyeWriter("a", untyped({ autoMarkdown: "no" }))],
  ["rye: a directive that is a number", () => new RyeWriter("a", true, untyped(5))],
  ["renderer: tool_details", () => new TranscriptRenderer(untyped({ tool_details: false }))],
  ["renderer: thinking as a number", () => new TranscriptRenderer(untyped({ thinking: 1 }))],
  ["renderer: onBadLine", () => new TranscriptRenderer(untyped({ onBadLine: "ignore" }))],
  ["renderer: no project", () => new TranscriptRenderer().render(ID, untyped(undefined))],
  ["telemetry: days as text", () => new ThreadTelemetry().aggregate("a", untyped("30"))],
  ["telemetry: not a number", () => new ThreadTelemetry().aggregate("a", Number.NaN)],
  ["telemetry: a negative number", () => new ThreadTelemetry().aggregate("a", -1)],
  ["telemetry: day", () => new ThreadTelemetry().aggregate("a", untyped({ day: 1 }))],
  ["telemetry: no project", () => new ThreadTelemetry().aggregate(untyped(undefined))],
  ["thread: no options", () => Thread.start(untyped(undefined))],
  ["thread: no directive", () => Thread.start(untyped({ projectPath: "a" }))],
  ["thread: by new", () => Reflect.construct(Thread, [{ projectPath: "a", directive: "b" }])],
  ["thread id: no directive", () => newThreadId(untyped(undefined))],
  ["thread id: project_path", () => newThreadId("a", untyped({ project_path: "b" }))],
  ["meta: none", () => writeThreadMeta("a", ID, untyped(undefined))],
  ["meta: no project", () => readThreadMeta(untyped(undefined), ID)],
  ["homeagent: options first", () => new HomeAgentWriter(untyped({ basePath: "a" }))],
  ["homeagent: null", () => new HomeAgentWriter(untyped(null))],
  ["homeagent: signed", () => new HomeAgentWriter("a", untyped({ signed: true }))],
  [
    "homeagent: onbadline",
    () => new HomeAgentWriter("a").read("b", "c", untyped({ onbadline: 1 })),
  ],
  ["entire: by new", () => Reflect.construct(SessionTranscript, [{ cwd: "a", model: "m" }])],
  ["entire: no options", () => SessionTranscript.open(untyped(undefined))],
  ["entire: no model", () => SessionTranscript.open(untyped({ cwd: "a" }))],
  [
    "entire: session_id",
    () => SessionTranscript.open(untyped({ cwd: "a", model: "m", session_id: "b" })),
  ],
  ["log file: by new", () => Reflect.construct(LogFile, ["a.jsonl"])],
  ["log file: no path", () => LogFile.open(untyped(undefined))],
  ["log file: durabilty", () => LogFile.open("a.jsonl", untyped({ durabilty: "os" }))],
  ["log: no path", () => openLog(untyped(undefined))],
  ["log: an unknown limit", () => openLog("a.jsonl", { limits: untyped({ lineBytes: 1 }) })],
  ["log: read without a path", () => readLog(untyped(undefined))],
  ["log: read with onbadline", () => readLog("a", untyped({ onbadline: "skip" }))],
  ["engine: by new", () => Reflect.construct(JsonlEngine, ["data"])],
  ["engine: by new, under its other name", () => Reflect.construct(DurableStore, ["data"])],
  ["engine: no directory", () => openStreams({ root: untyped(undefined) })],
  ["engine: sign as text", () => openStreams(untyped({ root: "a", sign: "yes" }))],
  ["engine: signed", () => openStreams(untyped({ root: "a", signed: true }))],
  ["typed log: no engine", () => typedLog(untyped(undefined), "/a", z.string())],
  ["signer: no directory", () => new TranscriptSigner(ID, untyped(undefined))],
  ["signJson: a list", () => signJson(untyped([1]))],
  ["verify: names as an object", () => verify(untyped({ name: "a-1" }))],
  ["verify: deap", () => verify([], untyped({ deap: true }))],
  ["verify: an empty name", () => verify("")],
  ["openVerified: no name", () => openVerified(untyped(undefined))],
  ["openVerified: polcy", () => openVerified(ID, untyped({ polcy: "strict" }))],
])("%s is refused with BAD_SETTING", async (_, call) => {
  await refusal((async () => call())(), "BAD_SETTING");
});

test("a misspelt option is refused with the name that it is close to", () => {
  const make = () => new TranscriptRenderer(untyped({ tool_details: false }));
  const { message, details } = thrownRefusal(make, "BAD_SETTING");
  assert.match(
    message,
    /tool_details is not an option of TranscriptRenderer: did you mean toolDetails\?/,
  );
  assert.equal(details.setting, "tool_details");
});

test("invalid ids, events and turns are refused, and nothing is created", async () => {
  const directory = tempDirectory();
  const rye = new RyeWriter(directory, false, "d");
  const homeAgent = new HomeAgentWriter(directory);
  await refusal(rye.writeEvent(untyped(undefined), "assistant_text", {}), "BAD_SETTING");
  for (const data of [null, "hello", ["hello"]]) {
    await refusal(rye.writeEvent(ID, "assistant_text", untyped(data)), "BAD_SETTING");
  }
  await refusal(rye.writeEvent(ID, untyped(undefined), {}), "INVALID_ENTRY");
  await refusal(homeAgent.append(untyped(undefined), "s", TURN), "BAD_ID");
  await refusal(homeAgent.append("a", untyped(TURN), untyped(undefined)), "BAD_ID");
  assert.deepEqual(readdirSync(directory), []);
});

test("the renderer reports the lines that it skips, and skips blank ones silently", async () => {
  const project = tempDirectory();
  const writer = new RyeWriter(join(project, ".ai", "threads"), false, "d");
  await writer.writeEvent(ID, "assistant_text", { text: "Hello" });
  await writer.close();
  const path = join(project, ".ai", "threads", ID, "transcript.jsonl");
  writeFileSync(path, `${readFileSync(path, "utf8")}\nNOT JSON\n{"ts":"x"}\n`);

  const warnings = await warningsOf(async () => {
    assert.match(await new TranscriptRenderer().render(ID, project), /Hello/);
    await new TranscriptRenderer({ onBadLine: "skip" }).render(ID, project);
  });
  assert.equal(warnings.length, 2);
  assert.match(warnings[0] ?? "", /skipped 2 bad lines: 3 \(not JSON\), 4 \(missing ts\/type\)/);

  const bad: unknown[] = [];
  const told = await warningsOf(() =>
    new TranscriptRenderer({ onBadLine: ({ line }) => bad.push(line) }).render(ID, project),
  );
  assert.deepEqual([bad, told], [[2, 3, 4], []]);
  const strict = new TranscriptRenderer({ onBadLine: "throw" });
  assert.equal((await refusal(strict.render(ID, project), "BAD_LINE")).details.line, 3);
});

test("readers of turns and of typed logs take `skip`, and report what they skipped", async () => {
  const base = tempDirectory();
  const writer = new HomeAgentWriter(base);
  await writer.append("kitchen", "s", TURN);
  await writer.close();
  const path = join(base, "agents", "kitchen", "sessions", "s.jsonl");
  writeFileSync(path, `${readFileSync(path, "utf8")}NOT JSON\n`);
  const engine = await engineAt();
  await engine.createStream("/a");
  await engine.append("/a", encodeLine("text"));
  const log = typedLog(engine, "/a", z.number(), { onBadLine: "skip", validatesOnRead: true });
  const warnings = await warningsOf(async () => {
    assert.deepEqual(await writer.read("kitchen", "s", { onBadLine: "skip" }), [TURN]);
    assert.deepEqual(await log.read(), []);
  });
  assert.equal(warnings.length, 2);
});

test("every pointer leads to the appended data", async () => {
  const file = await LogFile.open(join(tempDirectory(), "a.jsonl"));
  const lines = [{ role: "user" }, { role: "assistant", content: "Hi there!" }].map(encodeLine);
  const stored = [];
  for (const line of lines) stored.push(await file.append(line));
  assert.deepEqual(await file.readRange(stored), lines);
  await file.close();

  const engine = await engineAt();
  await engine.createStream("/chat/session-1");
  await engine.createStream("/raw", { contentType: "application/octet-stream" });
  for (const path of ["/chat/session-1", "/raw"]) {
    for (const line of lines) await engine.append(path, line);
    const messages = await engine.read(path);
    for (const [n, { data, bytePos, length }] of messages.entries()) {
      assert.deepEqual(data, lines[n]);
      assert.deepEqual(await engine.readAt(path, bytePos, length), lines[n]);
    }
  }
  const [first, second] = await engine.read("/chat/session-1");
  assert.deepEqual([first?.bytePos, first?.length], [0, lines[0]?.length]);
  assert.equal(second?.bytePos, (lines[0]?.length ?? 0) + 1);
  const both = await engine.readAt("/chat/session-1", 0, (second?.bytePos ?? 0) + 2);
  assert.equal(Buffer.from(both).toString(), `${Buffer.from(lines[0] ?? []).toString()}\n{"`);
  await refusal(engine.readAt("/chat/session-1", 0, 1000), "OUT_OF_RANGE");
  await refusal(engine.readAt("/chat/session-1", 1, 2), "BAD_OFFSET");
  await refusal(engine.readAt("/chat/session-1", untyped("0"), 2), "BAD_SETTING");
});

test("the store of the JSONL document's flow appends, and reads after an offset", async () => {
  const directory = tempDirectory();
  const store = await openStreams({ root: directory });
  assert.ok(store instanceof DurableStore);
  await store.createStream("/chat/session-1");
  const offset = await store.append("/chat/session-1", encodeLine({ role: "user" }));
  await store.append("/chat/session-1", encodeLine({ role: "assistant" }));
  const [message, ...others] = await store.read("/chat/session-1", offset);
  assert.deepEqual(message?.data, Buffer.from('{"role":"assistant"}'));
  assert.deepEqual(others, []);
  await store.close();
  const file = join(directory, "logs", streamPathToFilename("/chat/session-1"));
  assert.equal(readFileSync(file, "utf8"), '{"role":"user"}\n{"role":"assistant"}\n');
});

test("the engine refuses invalid paths, data and offsets", async () => {
  const engine = await engineAt();
  await engine.createStream("/a");
  await refusal(engine.createStream(untyped(undefined)), "BAD_STREAM_PATH");
  thrownRefusal(() => streamPathToFilename(untyped(undefined)), "BAD_STREAM_PATH");
  const nowhere = untyped(undefined);
  await refusal(engine.append(nowhere, encodeLine(1)), "BAD_SETTING");
  for (const call of [
    "getStream",
    "getCurrentOffset",
    "messageCount",
    "deleteStream",
    "read",
  ] as const) {
    await refusal(engine[call](nowhere) as Promise<unknown>, "BAD_SETTING");
  }
  for (const data of ["{}", { a: 1 }, undefined]) {
    await refusal(engine.append("/a", untyped(data)), "BAD_SETTING");
  }
  await refusal(engine.appendAll("/a", untyped("x")), "BAD_SETTING");
  await refusal(engine.appendAll("/a", [1, undefined]), "INVALID_ENTRY");
  await refusal(engine.read("/a", untyped(5)), "BAD_SETTING");
  await refusal(engine.createStream("/b", untyped({ content_type: "text/plain" })), "BAD_SETTING");
  thrownRefusal(() => typedLog(engine, "/a", untyped({})), "BAD_SETTING");
  assert.equal(await engine.messageCount("/a"), 0);
});

test("an engine opened with signing signs its streams, and they are verified", async () => {
  const signed = new SignedStreams();
  const engine = await openStreams({ root: signed.directory, sign: true });
  await engine.createStream("/chat/session-1");
  await engine.append("/chat/session-1", encodeLine({ role: "user" }));
  await engine.close();
  assert.deepEqual(await signed.verdicts(), { "/chat/session-1": "verified" });
});

test("inspectJson says what is wrong with a text that is not JSON", async () => {
  const { valid, reason } = inspectJson(untyped(undefined));
  assert.equal(valid, false);
  assert.match(reason ?? "", /takes its JSON as an object, not undefined/);
});
