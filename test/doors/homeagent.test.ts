/**
 * The HomeAgent document's own tests and acceptance criteria, on the entry point that it defines.
 */

import assert from "node:assert/strict";
import {
  existsSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  statSync,
  symlinkSync,
  writeFileSync,
} from "node:fs";
import { join } from "node:path";
import { expectTypeOf, onTestFinished, test } from "vitest";
import { TranscriptEntry, TranscriptWriter, TurnRole } from "../../src/doors/homeagent.ts";
import { startChild } from "../support/child.ts";
import { refusal } from "../support/refusal.ts";
import { tempDirectory } from "../support/temp-directory.ts";

const turn = (n: number): TranscriptEntry => ({
  turnId: `turn-${n}`,
  role: "user",
  content: `message ${n}`,
  ts: 1_760_000_000_000 + n,
});

function open(): { base: string; writer: TranscriptWriter; log: (id: string) => string } {
  const base = tempDirectory();
  const writer = new TranscriptWriter(base);
  onTestFinished(() => writer.close());
  return { base, writer, log: (id) => join(base, "agents", "agent", "sessions", `${id}.jsonl`) };
}

/** The process warnings while `work` runs. */
async function warningsOf(work: () => Promise<unknown>): Promise<string[]> {
  const warnings: string[] = [];
  const listen = (warning: Error) => warnings.push(warning.message);
  process.on("warning", listen);
  await work();
  await new Promise(setImmediate); // Warnings are emitted on the next tick.
  process.off("warning", listen);
  return warnings;
}

test("a turn that was appended is read back (S0-1, S0-9, S0-10)", async () => {
  const { writer, log } = open();
  await writer.append("agent", "s", turn(1));
  assert.deepEqual(await writer.read("agent", "s"), [turn(1)]);
  assert.equal(readFileSync(log("s"), "utf8"), `${JSON.stringify(turn(1))}\n`);
});

test("all turns are read back in order, with every field of the record (S0-4, S0-5)", async () => {
  const { writer } = open();
  const turns: TranscriptEntry[] = [
    { turnId: "1", role: "system", content: "Be kind", ts: 1 },
    { turnId: "2", role: "user", content: "Lights?", ts: 2 },
    {
      turnId: "3",
      role: "assistant",
      toolCalls: [{ id: "c", name: "lights", args: { on: true } }],
      metadata: { model: "m", tokens: { prompt: 3, completion: 4 }, runId: "r", provider: "p" },
      ts: 3,
    },
    { turnId: "4", role: "tool", toolResults: [{ callId: "c", result: { ok: 1 } }], ts: 4 },
    { turnId: "5", role: "tool", toolResults: [{ callId: "d", error: "no lamp" }], ts: 5 },
  ];
  for (const one of turns) await writer.append("agent", "s", one);
  assert.deepEqual(await writer.read("agent", "s"), turns);
});

test("appends of several processes to one session are serialised, none lost (S0-6)", async () => {
  const { base, writer } = open();
  const children = [0, 1, 2].map((n) =>
    startChild("test/doors/homeagent-child.ts", base, String(n), "200"),
  );
  for (const child of children) assert.equal(await child.exitCode(), 0);
  const turns = await writer.read("agent", "shared");
  assert.equal(turns.length, 600);
  for (let n = 0; n < 3; n++) {
    const own = turns.filter(({ turnId }) => turnId.startsWith(`${n}-`));
    assert.deepEqual(
      own.map(({ turnId }) => turnId),
      own.map((_, i) => `${n}-${i}`),
    );
  }
});

test("an id that would leave its directory is refused, and nothing is created (S0-12)", async () => {
  const { base, writer } = open();
  const bad = ["", "..", "a/b", "a\\b", "../x", "a..b", "a\0b", "a\nb", ".", "x".repeat(201)];
  for (const id of bad) {
    await refusal(writer.append(id, "s", turn(1)), "BAD_ID");
    await refusal(writer.append("agent", id, turn(1)), "BAD_ID");
    await refusal(writer.read("agent", id), "BAD_ID");
  }
  assert.equal(existsSync(join(base, "agents")), false);
});

test("a symbolic link, as session or as directory, is not followed (S0-13, S0-14)", async () => {
  const { base, writer, log } = open();
  const outside = tempDirectory();
  writeFileSync(join(outside, "victim.jsonl"), "");
  mkdirSync(join(base, "agents", "agent", "sessions"), { recursive: true });
  symlinkSync(join(outside, "victim.jsonl"), log("link"));
  symlinkSync(outside, join(base, "agents", "elsewhere"));

  await refusal(writer.append("agent", "link", turn(1)), "UNSAFE_PATH");
  await refusal(writer.read("agent", "link"), "UNSAFE_PATH");
  await refusal(writer.append("elsewhere", "s", turn(1)), "UNSAFE_PATH");
  assert.equal(readFileSync(join(outside, "victim.jsonl"), "utf8"), "");
  assert.equal(existsSync(join(outside, "sessions")), false);
});

test("directories are created on the first write, files are private to their owner (S0-2, S0-3, S0-8)", async () => {
  const { base, writer, log } = open();
  await writer.append("agent", "s", turn(1));
  assert.equal(statSync(log("s")).mode & 0o777, 0o600);
  assert.equal(statSync(join(base, "agents", "agent")).mode & 0o777, 0o700);
});

test("a corrupt line is skipped and reported with its number, or thrown, as chosen (S0-15)", async () => {
  const { writer, log } = open();
  await writer.append("agent", "s", turn(1));
  writeFileSync(log("s"), 'oops\n{"turnId":1}\n', { flag: "a" });
  await writer.append("agent", "s", turn(2));

  const warnings = await warningsOf(async () => {
    assert.deepEqual(await writer.read("agent", "s"), [turn(1), turn(2)]);
  });
  assert.equal(warnings.length, 1);
  assert.match(warnings[0] ?? "", /2 bad lines: 2 \(not JSON\), 3 \(.*turnId/);

  const told: (number | null)[] = [];
  await writer.read("agent", "s", { onBadLine: ({ line }) => told.push(line) });
  assert.deepEqual(told, [2, 3]);
  await refusal(writer.read("agent", "s", { onBadLine: "throw" }), "BAD_LINE");
});

test("an invalid turn is refused before anything is written, naming its field", async () => {
  const { base, writer } = open();
  const invalid = { ...turn(1), role: "robot" } as unknown as TranscriptEntry;
  const { details } = await refusal(writer.append("agent", "s", invalid), "INVALID_ENTRY");
  assert.equal(details.field, "role");
  assert.equal(existsSync(join(base, "agents")), false);
});

test("the caller's object is written with its unknown keys", async () => {
  const { writer, log } = open();
  const loose = { ...turn(1), mood: "good", metadata: { model: "m", extra: [1, { a: null }] } };
  await writer.append("agent", "s", loose);
  assert.equal(readFileSync(log("s"), "utf8"), `${JSON.stringify(loose)}\n`);
  assert.deepEqual(await writer.read("agent", "s"), [loose]);
});

test("a long session is read as a stream, and reading may stop early (S0-11)", async () => {
  const { writer } = open();
  await Promise.all(Array.from({ length: 500 }, (_, n) => writer.append("agent", "s", turn(n))));
  let seen = 0;
  for await (const { turnId } of writer.readStream("agent", "s")) {
    assert.equal(turnId, `turn-${seen}`);
    if (++seen === 300) break;
  }
  assert.equal(seen, 300);
});

test("reading a missing session fails with its code", async () => {
  const { writer } = open();
  const { details } = await refusal(writer.read("agent", "nobody"), "SESSION_NOT_FOUND");
  assert.equal(details.session, "agent/nobody");
});

test("many sessions at once keep a bounded number of files open", async () => {
  const { writer } = open();
  const ids = Array.from({ length: 200 }, (_, n) => `s${n}`);
  await Promise.all(ids.map((id) => writer.append("agent", id, turn(1))));
  await writer.append("agent", "one-more", turn(1));
  const descriptors = () => readdirSync("/proc/self/fd").length;
  const open200 = descriptors();
  await Promise.all(ids.map((id) => writer.append("agent", id, turn(2))));
  await writer.append("agent", "one-more", turn(2));
  assert.ok(descriptors() <= open200 + 64, `${open200} files open, then ${descriptors()}`);
  for (const id of ids) assert.equal((await writer.read("agent", id)).length, 2);
});

test("the schemas are Zod's, and validate like the document's (S0-5)", () => {
  assert.equal(TurnRole.safeParse("tool").success, true);
  assert.equal(TurnRole.safeParse("robot").success, false);
  assert.equal(TranscriptEntry.safeParse(turn(1)).success, true);
  assert.equal(TranscriptEntry.safeParse({ ...turn(1), ts: "now" }).success, false);
  expectTypeOf(turn(1).role).toEqualTypeOf<"user" | "assistant" | "tool" | "system">();
});
