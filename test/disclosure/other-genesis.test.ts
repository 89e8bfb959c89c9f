/** Logs whose genesis cannot be opened, is not disclosed at all, or follows older checkpoints. */

import assert from "node:assert/strict";
import { mkdirSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { expect, test } from "vitest";
import { nodeHost } from "../../src/core/base/node-host.ts";
import { proveLog } from "../../src/evidence/prove/prove.ts";
import { redactLog } from "../../src/evidence/redact/redact.ts";
import { matching } from "../../src/evidence/redact/text-matches.ts";
import { loadSigner } from "../../src/trust/keys/keys.ts";
import { nodeCrypto } from "../../src/trust/keys/node-crypto.ts";
import { readCheckpoint, writeCheckpoint } from "../../src/trust/proof/checkpoint.ts";
import { readRecord, spellRecord } from "../../src/trust/proof/disclosure/records.ts";
import { statementMessage } from "../../src/trust/proof/disclosure/statement.ts";
import { LogLedger } from "../../src/trust/proof/ledger.ts";
import { LogSigner } from "../../src/trust/signer/log-signer.ts";
import { nothingSigned } from "../../src/trust/signer/signer-state.ts";
import { addTrust } from "../../src/trust/trusted-keys/trust.ts";
import { legacyLog } from "../signing/attacks/kit.ts";
import { testKey } from "../signing/json-key.ts";
import { disclose, judgeBytes, keysOf, SECRET, verdictOf } from "../support/disclosing.ts";
import { memoryHost } from "../support/memory-files.ts";
import { verdictOf as proofVerdictOf } from "../support/proving.ts";
import { SigningUser, turnOf } from "../support/signing-user.ts";

const ID = "hello-1739012630";
const key = testKey(9);
const { keys } = key.judge();
const signer = { ...key.signer, publicKey: new Uint8Array(32) };
const OPENING = `{"ts":"2026-02-09T04:03:51.365000+00:00","type":"checkpoint","thread_id":"${ID}","directive":"hello",`;
const line = (text: string) =>
  Buffer.from(`${JSON.stringify({ type: "assistant_text", thread_id: ID, text })}\n`);

/** A log with these `parts` and three turns. */
async function signedLog(parts: number): Promise<Buffer> {
  const salt = new Uint8Array(32).fill(5);
  const crypto = nodeCrypto;
  const ledger = LogLedger.begin({ crypto, salt, parts, isSidecar: false });
  const nothing = { ...nothingSigned(crypto, salt, false), ledger, parts };
  const nowIso = () => "2026-02-09T04:03:50.365Z";
  const log = LogSigner.from(nothing, { crypto, signer, isSidecar: false, nowIso });
  const bytes: Uint8Array[] = [];
  for (const [n, text] of ["hello", SECRET, "the end"].entries()) {
    const draft = log.draft();
    draft.addLines(line(text));
    bytes.push(line(text), await draft.checkpoint("turn", OPENING, { turn: n + 1, rev: 0 }));
    draft.commit();
  }
  return Buffer.concat(bytes);
}

async function copyOf(log: Buffer) {
  const pieces: Buffer[] = [];
  const target = { dialect: "rye", root: "/store", logId: "log", id: ID };
  const redacted = await redactLog(memoryHost(new Map([["/store/log", log]])), target, {
    verify: { crypto: nodeCrypto, keys },
    reason: "a test",
    nowMs: () => 1.8e12,
    signer,
    finder: matching(["48213"]),
    out: (bytes) => pieces.push(Buffer.from(bytes)),
  });
  return { ...redacted, bytes: Buffer.concat(pieces) };
}

test.each([
  [0, "absent", 1, 0],
  [1, "opened", 0, 1],
  [64, "opened", 0, 1],
  [65, "absent", 0, 1],
  [1000, "absent", 1, 0],
] as const)("with parts of %i genesis is %s", async (parts, genesis, lines, strings) => {
  const { header, bytes, withheld } = await copyOf(await signedLog(parts));
  const found = withheld.find(({ rule }) => rule !== "genesis");
  expect([header.genesis, found?.lines, found?.strings]).toEqual([genesis, lines, strings]);
  const verdict = genesis === "opened" ? "verified" : "incomplete GENESIS_ABSENT";
  expect(verdictOf(judgeBytes(keys, bytes))).toBe(verdict);
  assert.ok(!bytes.includes("is 48213") && !bytes.includes("05".repeat(32)));
});

test("a copy that says nothing of genesis is incomplete, and else as well checked", async () => {
  const { bytes } = await copyOf(await signedLog(65));
  const lines = bytes.toString("latin1").split("\n").slice(0, -2);
  const signed = async (body: readonly string[]) => {
    const all = Buffer.from(body.map((each) => `${each}\n`).join(""), "latin1");
    const last = readRecord(
      Buffer.from(bytes.toString("latin1").split("\n").at(-2) ?? "", "latin1"),
    );
    assert.ok(last?.is === "statement");
    const sha256 = Buffer.from(nodeCrypto.sha256(all)).toString("hex");
    const facts = { ...last.statement.facts, bytes: all.length, sha256 };
    const sig = await signer.sign(statementMessage(facts));
    const statement = spellRecord({ is: "statement", statement: { facts, sig } });
    return Buffer.concat([all, Buffer.from(`${statement}\n`)]);
  };
  expect(verdictOf(judgeBytes(keys, await signed(lines)))).toBe("incomplete GENESIS_ABSENT");
  const altered = lines.map((each) => each.replace("the end", "The end"));
  expect(judgeBytes(keys, await signed(altered)).verdict).toBe("tampered");
});

test("a proof from a log whose genesis cannot be opened says nothing of it", async () => {
  const log = await signedLog(65);
  const target = { dialect: "rye", root: "/store", logId: "log", id: ID };
  for (const [entry, verdict] of [
    [1, "incomplete GENESIS_ABSENT"],
    [3, "incomplete GENESIS_ABSENT"],
    [5, "verified"],
  ] as const) {
    const asked = { entries: [entry], context: 0, consistency: null };
    const host = memoryHost(new Map([["/store/log", log]]));
    const { judgement } = await proveLog(host, target, asked, {
      verify: async () => ({ crypto: nodeCrypto, keys }),
      signer,
      nowMs: () => 1.8e12,
      indexDirectory: null,
    });
    expect(proofVerdictOf(judgement)).toBe(verdict);
  }
});

test("checkpoints of the older format are withheld whole", async () => {
  const user = new SigningUser();
  const own = await loadSigner(nodeHost, user.places);
  const { publicKey } = own;
  const grant = { publicKey, owner: "me", purposes: [], sessions: [], profile: "rye" } as const;
  await addTrust(nodeHost, user.places, grant, Date.now());
  const { home: root } = user;
  const path = join(root, ".ai/threads", ID, "transcript.jsonl");
  mkdirSync(dirname(path), { recursive: true });
  writeFileSync(path, await legacyLog(own));
  const target = { dialect: "rye", root, logId: `.ai/threads/${ID}/transcript.jsonl`, id: ID };
  await assert.rejects(disclose(user, target), /CANNOT_DISCLOSE|older format/);

  const options = { profile: "rye" } as const;
  await user.write({ dialect: "rye" }, turnOf("good night"), { root, id: ID, ...options });
  const { bytes, withheld } = await disclose(user, target);
  const older = withheld.find(({ rule }) => rule === "older-checkpoint");
  assert.ok(older && older.lines > 0);
  expect(verdictOf(judgeBytes(keysOf(user), bytes))).toBe("incomplete FOUND_UNSIGNED");
});

test("lengths add up to every byte_offset, under any signature", async () => {
  for (const [off, verdict] of [
    [0, "verified"],
    [1, "tampered CHECKPOINT_MISPLACED"],
    [-1, "tampered CHECKPOINT_MISPLACED"],
  ] as const) {
    const { bytes } = await copyOf(await signedLog(64));
    const lines = bytes.toString("latin1").split("\n").slice(0, -1);
    const honest = readCheckpoint(Buffer.from(lines.at(-2) ?? ""), "rye");
    const last = readRecord(Buffer.from(lines.at(-1) ?? ""));
    assert.ok(honest && last?.is === "statement");
    const { sign } = signer;
    const lie = { ...honest, byteOffset: honest.byteOffset + off };
    const line = await writeCheckpoint(OPENING, lie, sign);
    const before = Buffer.from(
      lines
        .slice(0, -2)
        .map((each) => `${each}\n`)
        .join(""),
      "latin1",
    );
    const body = Buffer.concat([before, line]);
    const hash = (data: Uint8Array) => Buffer.from(nodeCrypto.sha256(data)).toString("hex");
    const { facts: said } = last.statement;
    const head = { ...said.head, line: hash(line) };
    const facts = { ...said, head, bytes: body.length, sha256: hash(body) };
    const sig = await sign(statementMessage(facts));
    const statement = spellRecord({ is: "statement", statement: { facts, sig } });
    const copy = Buffer.concat([body, Buffer.from(`${statement}\n`)]);
    expect(verdictOf(judgeBytes(keys, copy))).toBe(verdict);
  }
});
