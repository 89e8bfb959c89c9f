/** Which sessions a stream can be captured into, and that nothing is read for others. */

import assert from "node:assert/strict";
import { existsSync, readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { describe, onTestFinished, test } from "vitest";
import { captureAnthropic, captureOpenAI } from "../../src/doors/capture.ts";
import { SessionTranscript } from "../../src/doors/entire.ts";
import { TranscriptWriter as HomeAgentWriter } from "../../src/doors/homeagent.ts";
import { openStore } from "../../src/doors/index.ts";
import { openLog } from "../../src/doors/log.ts";
import { continueSession, handoff, requestBody, resume, unpack } from "../../src/doors/resume.ts";
import { TranscriptWriter as RyeWriter, Thread } from "../../src/doors/rye.ts";
import { openStreams } from "../../src/doors/streams.ts";
import { refusal, thrownRefusal } from "../support/refusal.ts";
import { tempDirectory } from "../support/temp-directory.ts";

/** For JavaScript callers, without a compiler's checks. */
// biome-ignore lint/suspicious/noExplicitAny: what a compiler would refuse is what is tried here.
type Untyped = any;

const NOTHING = undefined as Untyped;

const EVENTS = [
  { type: "message_start", message: { id: "msg_1", model: "m", usage: { input_tokens: 3 } } },
  { type: "content_block_start", index: 0, content_block: { type: "text", text: "IMPORTANT" } },
  { type: "content_block_stop", index: 0 },
  { type: "message_delta", delta: { stop_reason: "end_turn" }, usage: { output_tokens: 2 } },
  { type: "message_stop" },
];

/** A stream that counts how much was read. */
function stream() {
  const read = { events: 0 };
  async function* events() {
    for (const event of EVENTS) {
      read.events++;
      yield event;
    }
  }
  return { read, events: events() };
}

const SESSIONS: Readonly<Record<string, (root: string) => Promise<Untyped>>> = {
  "SessionTranscript of entire": (cwd) => SessionTranscript.open({ cwd, model: "m" }),
  "Thread of rye": (projectPath) => Thread.start({ projectPath, directive: "d" }),
  "thread of rye's TranscriptWriter": async (root) => {
    const writer = new RyeWriter({ transcriptDir: root, defaultDirective: "d" });
    onTestFinished(() => writer.close());
    return writer.thread("d-1");
  },
  "session of homeagent's TranscriptWriter": async (root) => {
    const writer = new HomeAgentWriter(root);
    onTestFinished(() => writer.close());
    return writer.session("kitchen", "one");
  },
  "append of one's own": async (root) => {
    const log = await openLog(join(root, "own.jsonl"));
    onTestFinished(() => log.close());
    return { append: (entry: unknown) => log.append(Buffer.from(JSON.stringify(entry))) };
  },
};

function logsBelow(root: string): string {
  const files = readdirSync(root, { recursive: true, encoding: "utf8" });
  return files.flatMap((name) => (name.endsWith(".jsonl") ? [join(root, name)] : [])).join();
}

test.each(Object.entries(SESSIONS))("a stream is captured into a %s", async (_, open) => {
  const root = tempDirectory();
  const session = await open(root);
  onTestFinished(() => (session.end ?? session.close)?.call(session));
  const { stopReason } = await captureAnthropic(stream().events, session).result;
  assert.equal(stopReason, "end_turn");
  assert.match(readFileSync(logsBelow(root), "utf8"), /IMPORTANT.*\n$/);
});

test.each(["verbatim", "homeagent", "rye", "entire", "claude", "sdk"] as const)(
  "a stream is captured into a session of openStore (%s)",
  async (dialect) => {
    const store = await openStore({ dialect, root: tempDirectory(), agent: "a" });
    onTestFinished(() => store.close());
    const session = await store.create();
    await captureAnthropic(stream().events, session).result;
    assert.match(readFileSync(session.path, "utf8"), /IMPORTANT/);
  },
);

describe.each<[string, (...args: Untyped[]) => unknown]>([
  ["captureAnthropic", captureAnthropic],
  ["captureOpenAI", captureOpenAI],
])("%s", (_, capture) => {
  test("refuses a value that is not a session before it reads anything", async () => {
    const root = tempDirectory();
    const log = await openLog(join(root, "log.jsonl"));
    const engine = await openStreams({ root: join(root, "streams") });
    const homeagent = new HomeAgentWriter(root);
    onTestFinished(async () => {
      await Promise.all([log.close(), engine.close(), homeagent.close()]);
    });
    const wrong = [undefined, null, 5, "a-1", {}, { append: 5 }, log, engine, homeagent];
    for (const session of [...wrong, openStore({ dialect: "rye", root })]) {
      const { read, events } = stream();
      const { details } = thrownRefusal(() => capture(events, session), "BAD_SETTING");
      assert.deepEqual([details.setting, read.events], ["session", 0]);
    }
  });

  test("refuses a value that is not a stream", async () => {
    const session = { append: async () => assert.fail("nothing was said") };
    const locked = new Response("data: {}").body as ReadableStream;
    locked.getReader();
    const wrong = [undefined, null, 5, "text", {}, [], Promise.resolve(stream().events), locked];
    for (const given of wrong) {
      const { details } = thrownRefusal(() => capture(given, session), "BAD_SETTING");
      assert.equal(details.setting, "stream");
    }
  });

  test.each<[Untyped, string]>([
    [5, "capture"],
    [null, "capture"],
    [{ limit: {} }, "limit"],
    [{ limits: 5 }, "limits"],
    [{ limits: { messageBytes: 5 } }, "messageBytes"],
    [{ limits: { messageBytesMax: "5" } }, "messageBytesMax"],
    [{ limits: { messageBytesMax: 1e9 } }, "limits.messageBytesMax"],
  ])("refuses the options %j", (options, setting) => {
    const session = { append: async () => {} };
    const call = () => capture(stream().events, session, options);
    assert.equal(thrownRefusal(call, "BAD_SETTING").details.setting, setting);
  });
});

test.each<[string, (root: string) => Untyped, string]>([
  ["openStore(5)", () => openStore(5 as Untyped), "openStore"],
  ["openStore(null)", () => openStore(null as Untyped), "openStore"],
  ["openStore of a list", () => openStore(["rye"] as Untyped), "openStore"],
  ["an unknown dialect", () => openStore({ dialect: "ryee" } as Untyped), "dialect"],
  ["an unknown option", () => openStore({ dialect: "rye", signed: true } as Untyped), "signed"],
  ["a root that is not a text", () => openStore({ dialect: "rye", root: 5 } as Untyped), "root"],
  [
    "an agent that is not a text",
    () => openStore({ dialect: "rye", agent: 5 } as Untyped),
    "agent",
  ],
  ["create(5)", async (root) => (await rye(root)).create(5 as Untyped), "create"],
  ["create({ name })", async (root) => (await rye(root)).create({ name: "a" } as Untyped), "name"],
  ["create({ id: 5 })", async (root) => (await rye(root)).create({ id: 5 } as Untyped), "id"],
  ["open()", async (root) => (await rye(root)).open(NOTHING), "id"],
  ["has(5)", async (root) => (await rye(root)).has(5 as Untyped), "id"],
  ["last(-1)", async (root) => (await rye(root)).session("a-1").last(-1), "count"],
  ["resume()", () => resume(NOTHING, NOTHING), "resume"],
  ["resume(5)", () => resume(5 as Untyped, { for: "anthropic" }), "resume"],
  ["resume without options", () => resume("a-1", NOTHING), "resume"],
  ["resume's options", () => resume("a-1", { for: "anthropic", to: 1 } as Untyped), "to"],
  ["resume's prompt", () => resume("a-1", { for: "anthropic", prompt: 5 } as Untyped), "prompt"],
  ["continueSession()", () => continueSession(NOTHING, NOTHING), "continueSession"],
  [
    "a store alone",
    async (root) => continueSession(await rye(root), {} as Untyped),
    "continueSession",
  ],
  ["handoff()", () => handoff(NOTHING), "handoff"],
  ["handoff's options", () => handoff("a-1", { out: "x" } as Untyped), "out"],
  ["unpack()", () => unpack(NOTHING), "path"],
  ["unpack's options", () => unpack("a.vbx", { force: true } as Untyped), "force"],
  ["requestBody()", async () => requestBody(NOTHING), "requestBody"],
  ["a promise of it", async () => requestBody(Promise.resolve() as Untyped), "requestBody"],
])("%s is refused with BAD_SETTING, and nothing is created", async (_, call, setting) => {
  const root = tempDirectory();
  const { details } = await refusal(call(root), "BAD_SETTING");
  assert.equal(details.setting, setting);
  assert.ok(!existsSync(join(root, ".ai")));
});

function rye(root: string) {
  return openStore({ dialect: "rye", root, agent: "a" });
}
