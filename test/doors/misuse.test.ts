/**
 * Misuse: mistakes of a JavaScript caller without a compiler are refused with a stable code, never
 * with a TypeError, and never succeed.
 *
 * Method: a table has valid arguments for every exported function, constructor and method. Each
 * argument in turn is left out, replaced by a number, replaced by a text or an object, and gets an
 * unknown key. A new export without a row fails the test.
 */

import assert from "node:assert/strict";
import { join } from "node:path";
import { test } from "vitest";
import { z } from "zod";
import { VerbatimError } from "../../src/core/base/errors.ts";
import { openStore } from "../../src/doors/index.ts";
import { encodeLine, openLog, readLog } from "../../src/doors/log.ts";
import { openStreams } from "../../src/doors/streams.ts";
import { declaredDoors, root as projectRoot } from "../public-api/doors.ts";
import { tempDirectory } from "../support/temp-directory.ts";

// biome-ignore lint/suspicious/noExplicitAny: what a compiler would refuse is what is tried here.
type Untyped = any;

interface Row {
  /** Valid arguments; never called with all of them. */
  readonly good: readonly unknown[];
  /** How many of them are required. Default: all. */
  readonly required?: number;
  /** Positions that take any value, or any object. */
  readonly any?: readonly number[];
  readonly anyKeys?: readonly number[];
  /** Positions that also take a number. */
  readonly numbers?: readonly number[];
  /** For a method: what it is called on. */
  readonly on?: (root: string) => Promise<object>;
  /** Never throws: what it returns instead. */
  readonly returns?: unknown;
}

const SESSION = "hello_world-1739012630";
const nothing = () => {};
const bytes = new Uint8Array([1]);
const TURN = { turnId: "1", role: "user", content: "Hi", ts: 1 };
const SAID = { kind: "message", role: "user", parts: [] };
const RESUMED = { report: {}, source: {} };
const KEY = { projectKey: "a", sessionId: "b" };
const THREAD = { configurable: { thread_id: "a" } };

const store = async (root: string) => openStore({ dialect: "rye", root, agent: "a" });
const session = async (root: string) => {
  const session = (await store(root)).session("a-1");
  await session.append({ kind: "message", role: "user", parts: [{ type: "text", text: "Hi" }] });
  await session.close();
  return (await store(root)).session("a-1");
};
const writer = (root: string) => openLog(join(root, "a.jsonl"));
const reader = async (root: string) => {
  const log = await openLog(join(root, "a.jsonl"));
  await log.append(encodeLine({ a: 1 }));
  await log.close();
  return readLog(join(root, "a.jsonl"));
};
const engine = (root: string) => openStreams({ root });
const made =
  (door: string, name: string, ...given: unknown[]) =>
  async (root: string) => {
    const { [name]: Class } = await import(join(projectRoot, `src/doors/${door}.ts`));
    return new Class(...given.map((each) => placed(each, root)));
  };
const rye = made("rye", "TranscriptWriter", "ROOT");
const home = made("homeagent", "TranscriptWriter", "ROOT");
let threads = 1;
const started = async (root: string) => {
  const { Thread } = await import("../../src/doors/rye.ts");
  return Thread.start({ root, directive: "d", threadId: `d-${threads++}` });
};
const entire = async (root: string) => {
  const { SessionTranscript } = await import("../../src/doors/entire.ts");
  return SessionTranscript.open({ root, model: "m" });
};
const file = async (root: string) => {
  const { LogFile } = await import("../../src/doors/log.ts");
  return LogFile.open(join(root, "a.jsonl"), { mode: "shared" });
};
const claude = made("claude-agent", "ClaudeSessionStore", { root: "ROOT" });
const agents = made("openai-agents", "VerbatimSession", { root: "ROOT" });
const saver = made("langgraph", "VerbatimSaver", { root: "ROOT" });
const chats = made("ai-sdk", "VerbatimChats", {
  root: "ROOT",
  streams: { createStream: nothing, getStream: nothing },
});
const client = async () => {
  const { VerbatimClient } = await import("../../src/doors/client.ts");
  return new VerbatimClient({ url: "http://127.0.0.1:1" });
};
const sessions = async () => (await client()).sessions;
const history = async () => {
  const { openHistory } = await import("../../src/doors/history.ts");
  return openHistory({ roots: [] });
};
const served = async () => (await client()).streams;

const ROWS: Readonly<Record<string, Row>> = {
  "index openStore": { good: [{ root: "ROOT" }], required: 0 },
  "index Store.create": { good: [{ id: "a-1" }], required: 0, on: store },
  "index Store.open": { good: ["a-1", { agent: "a" }], required: 1, on: store },
  "index Store.session": { good: ["a-1", { agent: "a" }], required: 1, on: store },
  "index Store.has": { good: ["a-1"], on: store },
  "index Store.list": { good: [{ onProgress: nothing }], required: 0, on: store },
  "index Session.append": { good: [SAID], anyKeys: [], on: session },
  "index Session.entries": { good: [{ onBadLine: "skip" }], required: 0, on: session },
  "index Session.last": { good: [1, { onBadLine: "skip" }], required: 1, on: session },
  "index Session.follow": { good: [{ onBadLine: "skip" }], required: 0, on: session },

  "log openLog": { good: ["ROOT/a.jsonl", { durability: "os" }], required: 1 },
  "log readLog": { good: ["ROOT/a.jsonl", { onBadLine: "skip" }], required: 1 },
  "log LogFile.open": { good: ["ROOT/a.jsonl", { durability: "os" }], required: 1 },
  "log LogFile.append": { good: [bytes], on: file },
  "log LogFile.readAt": { good: [0, 1], on: file },
  "log LogFile.readRange": { good: [[]], on: file },
  "log LogFile.readFrom": { good: [0], on: file },
  "log toByteOffset": { good: [1] },
  "log encodeLine": { good: [{}], any: [0], required: 1 },
  "log LogWriter.append": { good: [bytes], on: writer },
  "log LogWriter.appendLines": { good: [bytes], on: writer },
  "log LogReader.forward": { good: [{ from: 0 }], required: 0, on: reader },
  "log LogReader.backward": { good: [{ from: 0 }], required: 0, on: reader },
  "log LogReader.last": { good: [1], on: reader },
  "log LogReader.follow": { good: [{ from: 0 }], required: 0, on: reader },

  "streams openStreams": { good: [{ root: "ROOT" }] },
  "streams typedLog": { good: [null, "/a", z.string(), { onBadLine: "skip" }], anyKeys: [2] },
  "streams formatOffset": { good: [0, 1] },
  "streams streamPathToFilename": { good: ["/a"] },
  "streams JsonlEngine.open": { good: ["ROOT", { sign: false }], required: 1 },
  "streams JsonlEngine.createStream": {
    good: ["/a", { contentType: "a/b" }],
    required: 1,
    on: engine,
  },
  "streams JsonlEngine.getStream": { good: ["/a"], on: engine },
  "streams JsonlEngine.append": { good: ["/a", bytes], on: engine },
  "streams JsonlEngine.appendAll": { good: ["/a", [], { closes: true }], required: 2, on: engine },
  "streams JsonlEngine.read": { good: ["/a", "0"], required: 1, on: engine },
  "streams JsonlEngine.messages": { good: ["/a", "0", nothing], required: 1, on: engine },
  "streams JsonlEngine.readAt": { good: ["/a", 0, 1], on: engine },
  "streams JsonlEngine.follow": { good: ["/a", { after: "0" }], required: 1, on: engine },
  "streams JsonlEngine.getCurrentOffset": { good: ["/a"], on: engine },
  "streams JsonlEngine.messageCount": { good: ["/a"], on: engine },
  "streams JsonlEngine.deleteStream": { good: ["/a"], on: engine },

  "signing verify": { good: [["a-1"], { root: "ROOT" }], required: 0 },
  "signing openVerified": { good: [SESSION, { root: "ROOT" }], required: 1 },
  "signing signJson": { good: [{ a: 1 }], anyKeys: [0] },
  "signing verifyJson": { good: [{}], returns: false },
  "signing inspectJson": { good: [{}], returns: { valid: false } },
  "signing new TranscriptSigner": { good: [SESSION, "ROOT", { profile: "rye" }], required: 2 },

  "signing TranscriptSigner.checkpoint": {
    good: [1],
    on: made("signing", "TranscriptSigner", SESSION, "ROOT"),
  },

  "resume resume": { good: [SESSION, { for: "anthropic" }] },
  "resume handoff": { good: [SESSION, { root: "ROOT" }], required: 1 },
  "resume unpack": { good: ["ROOT/a.vbx", { root: "ROOT" }], required: 1 },
  "resume continueSession": { good: [null, RESUMED, { id: "a" }], anyKeys: [1], required: 2 },
  "resume openResumable": { good: [null, SESSION, { for: "anthropic" }], required: 3 },
  "resume requestBody": { good: [RESUMED, { model: "m" }], anyKeys: [0], required: 1 },

  "history openHistory": { good: [{ cwd: "ROOT" }], required: 0 },
  "history History.sessions": { good: [{ limit: 1 }], required: 0, on: history },
  "history History.get": { good: [SESSION], on: history },
  "history History.search": { good: ["a", { limit: 1 }], required: 1, on: history },
  "history History.usage": { good: [{ by: "day" }], required: 0, on: history },
  "history History.scan": { good: [{ rescan: true }], required: 0, on: history },
  "history History.verify": { good: [{ deep: true }], required: 0, on: history },
  "history History.redact": { good: [SESSION, { reason: "a", texts: ["b"] }], on: history },
  "history History.prove": { good: [SESSION, { entries: [1] }], on: history },
  "history History.share": { good: [SESSION, { data: "a", expires: new Date(0) }], on: history },
  "history History.guard": { good: [{ sign: false }], required: 0, on: history },
  "history History.doctor": { good: [{ fix: false }], required: 0, on: history },
  "history History.restore": { good: [SESSION, { force: true }], required: 1, on: history },

  "rye newThreadId": { good: ["a", { root: "ROOT" }], required: 1 },
  "rye readThreadMeta": { good: ["ROOT", SESSION] },
  "rye readVerifiedThreadMeta": { good: ["ROOT", SESSION] },
  "rye writeThreadMeta": { good: ["ROOT", SESSION, {}], anyKeys: [2] },
  "rye new TranscriptWriter": { good: [{ transcriptDir: "ROOT" }] },
  "rye TranscriptWriter.writeEvent": {
    good: [SESSION, "user_message", {}],
    required: 2,
    anyKeys: [2],
    on: rye,
  },
  "rye TranscriptWriter.readEvents": { good: [SESSION, "ROOT"], required: 1, on: rye },
  "rye TranscriptWriter.thread": { good: [SESSION], on: rye },
  "rye new TranscriptRenderer": { good: [{ thinking: true }], required: 0 },
  "rye TranscriptRenderer.render": {
    good: [SESSION, "ROOT"],
    on: made("rye", "TranscriptRenderer"),
  },
  "rye ThreadTelemetry.aggregate": {
    good: ["ROOT", { days: 1 }],
    required: 1,
    numbers: [1],
    on: made("rye", "ThreadTelemetry"),
  },
  "rye Thread.start": { good: [{ root: "ROOT", directive: "d" }] },
  "rye Thread.event": { good: ["a", {}], required: 1, anyKeys: [1], on: started },
  "rye Thread.append": { good: [SAID], on: started },
  "rye Thread.userMessage": { good: ["a", "user"], required: 1, on: started },
  "rye Thread.assistantText": { good: ["a"], on: started },
  "rye Thread.reasoning": { good: ["a"], on: started },
  "rye Thread.spawnChild": { good: ["a", "b"], on: started },
  "rye Thread.step": { good: [nothing], on: started },
  "rye Thread.toolCall": { good: ["a", {}, nothing, "c"], any: [1], required: 3, on: started },
  "rye Thread.error": { good: ["a", "b"], on: started },

  "homeagent new TranscriptWriter": { good: ["ROOT", { durability: "os" }], required: 0 },
  "homeagent TranscriptWriter.append": { good: ["a", "s", TURN], anyKeys: [2], on: home },
  "homeagent TranscriptWriter.read": {
    good: ["a", "s", { onBadLine: "skip" }],
    required: 2,
    on: home,
  },
  "homeagent TranscriptWriter.readStream": {
    good: ["a", "s", { onBadLine: "skip" }],
    required: 2,
    on: home,
  },
  "homeagent TranscriptWriter.session": { good: ["a", "s"], on: home },

  "entire SessionTranscript.open": { good: [{ root: "ROOT", model: "m" }] },
  "entire SessionTranscript.user": { good: ["Hi"], on: entire },
  "entire SessionTranscript.assistant": {
    good: [{ content: "Hi" }, { partial: true }],
    required: 1,
    anyKeys: [0],
    on: entire,
  },
  "entire SessionTranscript.toolResults": { good: [[]], on: entire },
  "entire SessionTranscript.append": { good: [SAID], on: entire },

  "postgres openPostgresStore": {
    good: ["postgres://127.0.0.1:1/none", { schema: "a" }],
    required: 1,
  },
  "server openServer": { good: [{ root: "ROOT", port: 0 }] },

  "otel exportSpans": { good: [null, { url: "http://127.0.0.1:1" }] },
  "otel exportLive": { good: [null, { url: "http://127.0.0.1:1" }] },
  "otel traceIdOf": { good: [{ dialect: "rye", id: "a" }], anyKeys: [0] },
  "otel spanIdOf": { good: ["00ff", "turn", 0] },

  "capture captureAnthropic": { good: [[], session, {}], required: 2, anyKeys: [0, 1] },
  "fetch inSession": { good: [session, nothing], anyKeys: [0] },
  "fetch wrapFetch": { good: [fetch, {}], required: 1 },
  "capture captureOpenAI": { good: [[], session, {}], required: 2, anyKeys: [0, 1] },

  "client new VerbatimClient": { good: [{ url: "http://127.0.0.1:1" }] },
  "client VerbatimClient.usage": { good: [{ since: "2026-01-01" }], required: 0, on: client },
  "client VerbatimClient.share": { good: [{ session: "a" }], on: client },
  "client VerbatimClient.previewShare": { good: [{ session: "a" }], on: client },
  "client VerbatimClient.figure": { good: [{ figure: "calls" }], on: client },
  "client VerbatimClient.revokeShare": { good: ["a"], on: client },
  "client SessionsClient.list": { good: [{ limit: 1 }], required: 0, on: sessions },
  "client SessionsClient.get": { good: ["a"], on: sessions },
  "client SessionsClient.search": { good: ["a", { limit: 1 }], required: 1, on: sessions },
  "client SessionsClient.entries": { good: ["a", { limit: 1 }], required: 1, on: sessions },
  "client SessionsClient.follow": { good: ["a", { from: "end" }], required: 1, on: sessions },
  "client SessionsClient.bytes": { good: ["a", { from: 0 }], required: 1, on: sessions },
  "client SessionsClient.checkpoints": { good: ["a", { from: 0 }], required: 1, on: sessions },
  "client SessionsClient.markdown": { good: ["a", { thinking: true }], required: 1, on: sessions },
  "client SessionsClient.verify": { good: ["a"], on: sessions },
  "client SessionsClient.masked": { good: ["a"], on: sessions },
  "client SessionsClient.usage": { good: ["a"], on: sessions },
  "client StreamsClient.create": { good: ["/a", "a/b"], required: 1, on: served },
  "client StreamsClient.append": { good: ["/a", {}], any: [1], required: 1, on: served },
  "client StreamsClient.read": { good: ["/a", "-1"], required: 1, on: served },
  "client StreamsClient.live": { good: ["/a", { offset: "-1" }], required: 1, on: served },

  "claude-agent claudeSessionStore": { good: [{ root: "ROOT" }], required: 0 },
  "claude-agent new ClaudeSessionStore": { good: [{ root: "ROOT" }], required: 0 },
  "claude-agent ClaudeSessionStore.append": {
    good: [KEY, []],
    anyKeys: [0],
    on: claude,
  },
  "claude-agent ClaudeSessionStore.load": {
    good: [KEY],
    anyKeys: [0],
    on: claude,
  },
  "claude-agent ClaudeSessionStore.listSessions": { good: ["a"], on: claude },
  "claude-agent ClaudeSessionStore.listSessionSummaries": { good: ["a"], on: claude },
  "claude-agent ClaudeSessionStore.delete": { good: [KEY], anyKeys: [0], on: claude },
  "claude-agent ClaudeSessionStore.listSubkeys": { good: [KEY], anyKeys: [0], on: claude },
  "claude-agent ClaudeSessionStore.sessionName": { good: [KEY], anyKeys: [0], on: claude },
  "openai-agents VerbatimSession.getItems": { good: [1], required: 0, on: agents },
  "openai-agents VerbatimSession.addItems": { good: [[]], on: agents },
  "openai-agents VerbatimSession.applyHistoryMutations": {
    good: [{ mutations: [] }],
    anyKeys: [0],
    on: agents,
  },
  "openai-agents VerbatimSession.applyHistoryTransaction": { good: [{}], anyKeys: [0], on: agents },
  "langgraph VerbatimSaver.getTuple": { good: [THREAD], anyKeys: [0], on: saver },
  "langgraph VerbatimSaver.list": { good: [THREAD, {}], required: 0, anyKeys: [0, 1], on: saver },
  "langgraph VerbatimSaver.put": {
    good: [THREAD, { channel_values: {} }, {}, {}],
    anyKeys: [0, 1, 2, 3],
    on: saver,
  },
  "langgraph VerbatimSaver.putWrites": { good: [THREAD, [], "t"], anyKeys: [0], on: saver },
  "langgraph VerbatimSaver.deleteThread": { good: ["t"], on: saver },
  "langgraph VerbatimSaver.sessionName": { good: ["t"], on: saver },
  "langgraph new VerbatimSaver": { good: [{ root: "ROOT" }], required: 0 },
  "ai-sdk VerbatimChats.loadMessages": { good: ["a"], on: chats },
  "ai-sdk VerbatimChats.loadChat": { good: ["a"], on: chats },
  "ai-sdk VerbatimChats.respond": { good: ["a", { answer: nothing }], on: chats },
  "ai-sdk VerbatimChats.resume": { good: ["a", {}], required: 1, on: chats },
  "ai-sdk VerbatimChats.stop": { good: ["a"], on: chats },
  "openai-agents new VerbatimSession": { good: [{ sessionId: "a" }], required: 0 },
  "ai-sdk new VerbatimChats": { good: [{ root: "ROOT", streams: {} }] },
};

/** Exports that take no argument, are not a function, or are created by another export. */
const WITHOUT = [
  "VerbatimError",
  "EXIT_CODES",
  "VERDICTS",
  "TOOL_KINDS",
  "TranscriptEntry",
  "TurnRole",
  "newSessionId",
  "loadSigner",
  "loadTrust",
  "DurableStore",
];

test("every exported function and class has a row", async () => {
  const known = Object.keys(ROWS);
  const missing: string[] = [];
  for (const { source } of declaredDoors()) {
    const door = source.replace(/^src\/(.*)\.ts$/, "$1");
    const exported: Readonly<Record<string, unknown>> = await import(join(projectRoot, source));
    for (const [name, value] of Object.entries(exported)) {
      const has = (row: string) => new RegExp(`^\\S+ (new )?${name}(\\.|$)`).test(row);
      if (WITHOUT.includes(name)) continue;
      if (!known.some(has)) missing.push(`${door} ${name}`);
      for (const method of methodsOf(value)) {
        if (!known.some((row) => row.endsWith(` ${name}.${method}`))) {
          missing.push(`${door} ${name}.${method}`);
        }
      }
    }
  }
  assert.deepEqual(missing, []);
});

/** The methods of a class that need an argument. */
function methodsOf(value: unknown): string[] {
  if (typeof value !== "function" || !String(value).startsWith("class")) return [];
  const members = Object.entries(Object.getOwnPropertyDescriptors(value.prototype));
  return members
    .filter(([name, { value: method }]) => name !== "constructor" && (method?.length ?? 0) > 0)
    .map(([name]) => name);
}

/** The ways to get one argument wrong. */
function* misuses(row: Row) {
  const { good, required = good.length, any = [], anyKeys = [], numbers = [] } = row;
  for (let count = 0; count < required; count++) {
    if (!any.includes(count)) yield [`${count} arguments`, good.slice(0, count)] as const;
  }
  for (const [at, right] of good.entries()) {
    if (any.includes(at)) continue;
    const others: unknown[] = [null, true];
    if (!numbers.includes(at)) others.push(typeof right === "number" ? "5" : 5);
    others.push(typeof right === "string" ? {} : "");
    if (isPlain(right) && !anyKeys.includes(at)) others.push({ ...right, noSuchKey: 1 });
    for (const wrong of others) {
      const shown = JSON.stringify(wrong);
      yield [`argument ${at + 1} is ${shown}`, good.with(at, wrong)] as const;
    }
  }
}

function isPlain(value: unknown): value is object {
  return typeof value === "object" && value !== null && value.constructor === Object;
}

test("every exported function, class and method refuses every misuse with a stable code", async () => {
  const faults: string[] = [];
  for (const [name, row] of Object.entries(ROWS)) faults.push(...(await faultsIn(name, row)));
  assert.deepEqual(faults, []);
});

async function faultsIn(name: string, row: Row): Promise<string[]> {
  const root = tempDirectory();
  const faults: string[] = [];
  const [door = "", what = ""] = name.split(/ (.*)/);
  const exported: Untyped = await import(join(projectRoot, `src/doors/${door}.ts`));
  for (const [how, wrong] of misuses(row)) {
    const args = wrong.map((each) => placed(each, root));
    const [owner = "", method] = what.replace("new ", "").split(".");
    const call = async (): Promise<unknown> => {
      if (what.startsWith("new ")) return Reflect.construct(exported[owner], args);
      if (method === undefined) return exported[owner](...args);
      const target: Untyped = row.on ? await row.on(root) : exported[owner];
      return target[method](...args);
    };
    const fault = await faultOf(call, row.returns);
    if (fault) faults.push(`${name}, ${how}: ${fault}`);
  }
  return faults;
}

function placed(value: unknown, root: string): unknown {
  if (typeof value === "string") return value.replace(/^ROOT/, root);
  if (!isPlain(value)) return value;
  return Object.fromEntries(Object.entries(value).map(([key, each]) => [key, placed(each, root)]));
}

/** Null if the call was refused correctly. */
async function faultOf(call: () => Promise<unknown>, returns: unknown): Promise<string | null> {
  try {
    const result: Untyped = await call();
    // A generator does nothing before it is iterated.
    if (typeof result?.next === "function") await result.next();
    else if (result?.result instanceof Promise) await result.result;
    if (returns === undefined) return `it succeeded`;
    assert.deepEqual(typeof returns === "object" ? { valid: result.valid } : result, returns);
    return null;
  } catch (error) {
    return error instanceof VerbatimError ? null : String(error);
  }
}
