import assert from "node:assert/strict";
import { readdirSync } from "node:fs";
import { join } from "node:path";
import { onTestFinished, test } from "vitest";
import { z } from "zod";
import { claudeSessionStore } from "../../src/doors/claude-agent.ts";
import { SessionTranscript } from "../../src/doors/entire.ts";
import { TranscriptWriter as HomeAgentWriter } from "../../src/doors/homeagent.ts";
import { openStore } from "../../src/doors/index.ts";
import { LogFile, openLog, readLog } from "../../src/doors/log.ts";
import { resume, unpack } from "../../src/doors/resume.ts";
import { TranscriptWriter as RyeWriter, Thread } from "../../src/doors/rye.ts";
import { verify } from "../../src/doors/signing.ts";
import { openStreams, typedLog } from "../../src/doors/streams.ts";
import { refusal } from "../support/refusal.ts";
import { tempDirectory } from "../support/temp-directory.ts";

/** For JavaScript callers, without a compiler's checks. */
// biome-ignore lint/suspicious/noExplicitAny: what a compiler would refuse is what is tried here.
type Untyped = any;
type Door = (root: string, options: Untyped) => unknown;

const appended: Door = (root, options) => openLog(join(root, "a.jsonl"), options);
const store: Door = (root, options) => openStore({ dialect: "rye", root, agent: "a", ...options });
const thread: Door = (root, options) =>
  Thread.start({ projectPath: root, directive: "d", ...options });
const resumed: Door = (root, options) => resume("a-1", { root, for: "anthropic", ...options });

test.each<[string, string, Untyped, Door]>([
  ["openLog", "durability", "fsync", appended],
  ["openLog", "durability", null, appended],
  ["openLog", "mode", "x", appended],
  ["LogFile", "durability", "disc", (root, options) => LogFile.open(join(root, "a"), options)],
  ["readLog", "onBadLine", "Throw", (root, options) => readLog(join(root, "a"), options)],
  ["openStore", "dialect", "x", store],
  ["openStore", "dialect", null, store],
  ["openStore", "dialect", "toString", store],
  ["openStore", "durability", "fsync", store],
  ["openStore", "mode", "share", store],
  ["openStore", "envelope", "Payload", store],
  ["openStore", "sign", "yes", store],
  ["Thread", "envelope", "x", thread],
  ["rye", "durability", "fsync", (root, rest) => new RyeWriter({ transcriptDir: root, ...rest })],
  ["homeagent", "durability", "fsync", (root, options) => new HomeAgentWriter(root, options)],
  ["entire", "sign", 1, (cwd, rest) => SessionTranscript.open({ cwd, model: "m", ...rest })],
  ["claude-agent", "mode", "x", (root, rest) => claudeSessionStore({ root, ...rest })],
  ["resume", "for", "claude", resumed],
  ["resume", "for", undefined, resumed],
  ["resume", "dialect", "Rye", resumed],
  ["import", "dialect", "Rye", (root, rest) => unpack("a.vbx", { root, ...rest })],
  ["verify", "dialect", "Rye", (root, rest) => verify([], { root, ...rest })],
  ["verify", "profile", "Rye", (root, rest) => verify([], { root, ...rest })],
])("%s refuses the option %s: %j, and nothing is created", async (_, option, value, door) => {
  const root = tempDirectory();
  const open = async () => door(root, { [option]: value });
  const { details, message } = await refusal(open(), "BAD_SETTING");
  assert.deepEqual([details.setting, details.from], [option, "options"]);
  const told = typeof value === "string" ? JSON.stringify(value) : String(value);
  assert.ok(message.startsWith(`the option ${option} cannot be ${told}; choose `), message);
  assert.deepEqual(readdirSync(root), []);
});

test("a refusal lists the choices", async () => {
  const open = async () => appended(tempDirectory(), { durability: "fsync" });
  const { message } = await refusal(open(), "BAD_SETTING");
  assert.equal(message, 'the option durability cannot be "fsync"; choose "disk" or "os"');
});

test.each<[string, Untyped]>([
  ["lifetime.kind", "forever"],
  ["lifetime.kind", { kind: "TTL", seconds: 60 }],
  ["lifetime.seconds", { kind: "ttl" }],
  ["lifetime.seconds", { kind: "ttl", seconds: -1 }],
  ["lifetime.seconds", { kind: "ttl", seconds: Number.NaN }],
  ["lifetime.atMs", { kind: "until", text: "tomorrow" }],
  ["lifetime.text", { kind: "until", atMs: 0 }],
])("a stream is refused for its %s in %j, and the store opens again", async (option, lifetime) => {
  const directory = tempDirectory();
  const engine = await openStreams({ root: directory });
  const { details } = await refusal(engine.createStream("/a", { lifetime }), "BAD_SETTING");
  assert.equal(details.setting, option);
  await engine.createStream("/a");
  await engine.close();
  const again = await openStreams({ root: directory });
  assert.deepEqual((await again.getStream("/a"))?.lifetime, { kind: "forever" });
  await again.close();
});

test("a typed log refuses an unknown onBadLine", async () => {
  const engine = await openStreams({ root: tempDirectory() });
  onTestFinished(() => engine.close());
  const make = async () => typedLog(engine, "/a", z.string(), { onBadLine: "Skip" } as Untyped);
  const { details } = await refusal(make(), "BAD_SETTING");
  assert.equal(details.setting, "onBadLine");
});
