/** The checklist of signed transcripts: each of its rows, with real stores and real files. */

import assert from "node:assert/strict";
import { createHash, createPublicKey, verify } from "node:crypto";
import { existsSync, readFileSync, statSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { test } from "vitest";
import { nodeHost } from "../../src/core/base/node-host.ts";
import { readVerifiedThreadMeta, Thread } from "../../src/doors/rye.ts";
import { openVerifiedLog } from "../../src/trust/judge/open-verified.ts";
import { loadSigner } from "../../src/trust/keys/keys.ts";
import { formatPythonJson } from "../../src/trust/proof/canonical-json.ts";
import { judgeJson, signJsonValue } from "../../src/trust/proof/json-signature.ts";
import { Trust } from "../../src/trust/trusted-keys/trust.ts";
import { refusal } from "../support/refusal.ts";
import { SHAPES, SigningUser, turnOf, type Written } from "../support/signing-user.ts";
import { tempDirectory } from "../support/temp-directory.ts";
import { isCheckpoint, linesOf } from "./attacks/kit.ts";
import { testKey } from "./json-key.ts";

const FLAT = { dialect: "rye", envelope: "flat" } as const;
const PAYLOAD = { dialect: "rye", envelope: "payload" } as const;

function checkpointsOf({ path, sidecarPath }: Written) {
  const from = existsSync(sidecarPath) ? sidecarPath : path;
  return linesOf(readFileSync(from))
    .filter(isCheckpoint)
    .map((line) => JSON.parse(line).payload);
}

/** Changes a file as an attacker would: same length, other words. */
function forge(path: string, from: string, to: string): void {
  const text = readFileSync(path, "utf8");
  assert.ok(text.includes(from));
  writeFileSync(path, text.replace(from, to));
}

test("S4-1 a session is signed at every turn's end, and when it completes or fails", async () => {
  for (const outcome of ["completed", "error"] as const) {
    const user = new SigningUser();
    const error = outcome === "error" ? { code: "boom", detail: "it broke" } : null;
    const end = { kind: "end", outcome, error } as const;
    const written = await user.write(FLAT, [...turnOf("one"), ...turnOf("two"), end]);
    const kinds = checkpointsOf(written).map(({ kind, turn }) => `${kind} ${turn}`);
    assert.deepEqual(kinds, ["genesis 0", "turn 1", "final 2"], outcome);
    const last = linesOf(readFileSync(written.path)).at(-1) ?? "";
    assert.ok(isCheckpoint(last), "nothing is after the last one");
  }
});

test("S4-2 a checkpoint has turn, byte_offset, hash, sig and fp, and covers all bytes before it", async () => {
  for (const shape of [FLAT, PAYLOAD, { dialect: "entire" } as const]) {
    const user = new SigningUser();
    const written = await user.writeTurns(shape, 3);
    const bytes = readFileSync(written.path);
    let start = 0;
    let count = 0;
    for (const line of linesOf(bytes)) {
      if (isCheckpoint(line)) {
        const { payload } = JSON.parse(line);
        assert.deepEqual(Object.keys(payload).slice(0, 5), SEED_FIELDS);
        assert.equal(payload.byte_offset, start);
        const covered = bytes.subarray(0, start);
        assert.equal(payload.hash, createHash("sha256").update(covered).digest("hex"));
        count++;
      }
      start += Buffer.byteLength(line) + 1;
    }
    assert.ok(count >= 3);
  }
});

const SEED_FIELDS = ["turn", "byte_offset", "hash", "sig", "fp"];

test("S4-3 the key is created automatically, signs the hash's hex, has a fingerprint, and is trusted", async () => {
  const user = new SigningUser();
  assert.ok(!existsSync(user.places.keyDirectory));
  const written = await user.writeTurns(FLAT, 1);
  const { keyDirectory } = user.places;
  assert.equal(statSync(keyDirectory).mode & 0o777, 0o700);
  assert.equal(statSync(join(keyDirectory, "private_key.pem")).mode & 0o777, 0o600);
  const pem = readFileSync(join(keyDirectory, "public_key.pem"), "utf8");
  for (const { hash, sig, fp } of checkpointsOf(written)) {
    assert.equal(fp, createHash("sha256").update(pem).digest("hex").slice(0, 16));
    const signature = Buffer.from(sig, "base64url");
    assert.ok(verify(null, Buffer.from(hash), createPublicKey(pem), signature));
  }
  const { kid } = await loadSigner(nodeHost, user.places);
  const asked = { kid, purpose: "transcript", sessionId: "hello-1", at: Date.now() } as const;
  assert.equal((await Trust.load(user.places)).judge(asked).trusted, true);
});

test("S4-4 verification reports the turn that fails, and the bytes that are unsigned", async () => {
  const user = new SigningUser();
  const written = await user.writeTurns(FLAT, 3);
  const tail = '{"ts":"now","type":"user_message","thread_id":"hello-1739012630"}\n';
  const honest = readFileSync(written.path);
  writeFileSync(written.path, Buffer.concat([honest, Buffer.from(tail)]));
  const appended = await user.verify(written);
  assert.deepEqual([appended.verdict, appended.tail.bytes], ["incomplete", tail.length]);
  writeFileSync(written.path, honest);
  forge(written.path, "turn 2: done", "turn 2: DONE");
  const altered = await user.verify(written);
  assert.equal(altered.verdict, "tampered");
  assert.deepEqual(altered.bad_range?.turns, [2]);
  assert.equal(altered.signed_through?.turn, 1);
});

test("S4-5 strict refuses an unsigned tail; lenient returns it, marked as not verified, and refuses an altered turn", async () => {
  const user = new SigningUser();
  const written = await user.writeTurns(FLAT, 2);
  const honest = readFileSync(written.path);
  const tail = '{"ts":"now","type":"user_message","thread_id":"hello-1739012630"}\n';
  writeFileSync(written.path, Buffer.concat([honest, Buffer.from(tail)]));
  const options = await user.judging(written.target, true);
  await refusal(openVerifiedLog(nodeHost, written.target, options), "NOT_VERIFIED");
  const lenient = { ...options, isLenient: true };
  const log = await openVerifiedLog(nodeHost, written.target, lenient);
  const marks: boolean[] = [];
  for await (const { isVerified } of log.lines) marks.push(isVerified);
  log.close();
  assert.equal(marks.pop(), false);
  assert.ok(marks.length > 0 && marks.every((isVerified) => isVerified));
  forge(written.path, "turn 1: done", "turn 1: DONE");
  await refusal(openVerifiedLog(nodeHost, written.target, lenient), "NOT_VERIFIED");
});

for (const [row, what] of [
  ["S4-6", "resumed"],
  ["S4-7", "handed over"],
] as const) {
  test(`${row} nothing of a session is ${what} unless its bytes verify, in every dialect`, async () => {
    // Method: both read through the one function that verifies first, and returns only what it
    // verified.
    for (const [name, shape] of Object.entries(SHAPES)) {
      const user = new SigningUser();
      const written = await user.writeTurns(shape, 2);
      const options = await user.judging(written.target, true);
      const log = await openVerifiedLog(nodeHost, written.target, options);
      const lines: Buffer[] = [];
      for await (const { line } of log.lines) lines.push(Buffer.from(line), Buffer.from("\n"));
      log.close();
      assert.deepEqual(Buffer.concat(lines), readFileSync(written.path), name);
      forge(written.path, "turn 1: done", "turn 1: DONE");
      await refusal(openVerifiedLog(nodeHost, written.target, options), "NOT_VERIFIED");
    }
  });
}

test("S4-8 checkpoints are not messages, and do not appear in markdown", async () => {
  for (const shape of Object.values(SHAPES)) {
    const user = new SigningUser();
    const [signed, plain] = [
      await user.writeTurns(shape, 2),
      await user.writeTurns(shape, 2, { sign: false }),
    ];
    const messagesOf = async ({ target }: Written) => {
      const store = await user.store({ ...shape, root: target.root, sign: false });
      const messages: unknown[] = [];
      for await (const { kind, role, parts } of store.session(target.id).entries()) {
        if (kind === "message") messages.push({ role, parts });
      }
      await store.close();
      return messages;
    };
    assert.deepEqual(await messagesOf(signed), await messagesOf(plain));
    if (shape.dialect !== "rye") continue;
    const markdownOf = ({ path }: Written) =>
      readFileSync(path.replace(/jsonl$/, "md"), "utf8").replace(/\d\d:\d\d:\d\d/g, "");
    assert.ok(!/checkpoint/i.test(markdownOf(signed)));
    assert.ok(markdownOf(signed).includes("turn 2: done"));
  }
});

test("S4-9 signed JSON carries its signature over canonical JSON, and a change is detected", async () => {
  const key = testKey(7);
  const signed = formatPythonJson(await signJsonValue({ b: 1, a: { c: [1.5, "é"] } }, key.signer));
  assert.match(signed, /"_signature": ?"rye:signed:\d{4}-[^"]+:[0-9a-f]{64}:[A-Za-z0-9_=-]+:/);
  assert.equal(judgeJson(signed, key.judge()).ok, true);
  assert.equal(judgeJson(signed.replace("1.5", "1.6"), key.judge()).ok, false);
  const reordered = JSON.stringify(
    Object.fromEntries(Object.entries(JSON.parse(signed)).reverse()),
  );
  assert.equal(judgeJson(reordered, key.judge()).ok, true);
});

test("S4-10 thread.json is signed from the start, and a changed one grants nothing", async () => {
  const user = new SigningUser();
  const projectPath = tempDirectory();
  await (await user.store({ ...FLAT, root: projectPath })).close(); // Sets the environment to this user.
  const capabilities = ["rye.execute.tool.*"];
  const thread = await Thread.start({
    projectPath,
    directive: "hello",
    model: "m",
    sign: true,
    capabilities,
    limits: { turns: 20 },
  });
  const path = join(projectPath, ".ai/threads", thread.id, "thread.json");
  assert.match(readFileSync(path, "utf8"), /"_signature": "rye:signed:/);
  await thread.userMessage("hi");
  const granted = await readVerifiedThreadMeta(projectPath, thread.id);
  assert.deepEqual(granted.capabilities, capabilities);
  await thread.complete();
  assert.deepEqual((await readVerifiedThreadMeta(projectPath, thread.id)).limits, { turns: 20 });
  forge(path, "rye.execute.tool.*", "rye.execute.everything.*");
  await refusal(readVerifiedThreadMeta(projectPath, thread.id), "NOT_VERIFIED");
});

test("S4-11 each threat of the document's table is detected, truncation too", async () => {
  const threats: readonly (readonly [string, string, (text: string) => string])[] = [
    [
      "injected tool result",
      "tampered",
      (text) => text.replace("\n", '\n{"type":"tool_result"}\n'),
    ],
    ["deleted refusal", "tampered", (text) => text.replace(/^.*turn 1: done.*\n/m, "")],
    ["modified answer", "tampered", (text) => text.replace("turn 1: done", "turn 1: gone")],
    [
      "truncated",
      "rollback",
      (text) => text.slice(0, text.indexOf("turn 2")).replace(/[^\n]*$/, ""),
    ],
    ["appended events", "incomplete", (text) => `${text}{"type":"tool_result"}\n`],
  ];
  const user = new SigningUser();
  const written = await user.writeTurns(FLAT, 2);
  const honest = readFileSync(written.path, "utf8");
  assert.equal((await user.verify(written)).verdict, "verified");
  for (const [threat, verdict, attack] of threats) {
    writeFileSync(written.path, attack(honest));
    assert.equal((await user.verify(written)).verdict, verdict, threat);
  }
});

test("S4-12 signing a thread of twenty turns takes tens of milliseconds, not more", async () => {
  // The document says 20 ms. A loaded machine gets a wide margin; quadratic work would exceed it.
  const user = new SigningUser();
  const costOf = async (sign: boolean) => {
    const before = process.cpuUsage();
    await user.writeTurns(FLAT, 20, { sign });
    const { user: spent, system } = process.cpuUsage(before);
    return (spent + system) / 1000;
  };
  await costOf(true); // One-time loading and compiling is not part of the cost of signing.
  const [signed, plain] = [await costOf(true), await costOf(false)];
  assert.ok(signed - plain < 400, `${Math.round(signed - plain)} ms of CPU`);
});
