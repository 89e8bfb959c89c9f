/** Verifying signed JSON: what is valid, and that nothing else is, whatever the change. */

import assert from "node:assert/strict";
import fc from "fast-check";
import { test } from "vitest";
import { canonicalTree, formatPythonJson, jsonTree } from "../../src/trust/proof/canonical-json.ts";
import {
  type JsonVerdict,
  judgeJson,
  signJsonValue,
} from "../../src/trust/proof/json-signature.ts";
import {
  JSON_LIMITS,
  type JsonMap,
  type JsonTree,
  parseJson,
} from "../../src/trust/proof/json-tree.ts";
import {
  judgeThread,
  signThread,
  type ThreadVerdict,
} from "../../src/trust/proof/thread-signature.ts";
import { refusal } from "../support/refusal.ts";
import { NOW, testKey } from "./json-key.ts";

const ID = "test/tools/x-1771401382";
const HEAD = { seq: 3, byte_offset: 2847, line: "ab".repeat(32) };
const META = {
  thread_id: ID,
  status: "running",
  rev: 5,
  head: HEAD,
  limits: { turns: 20, spend: 0.5 },
  capabilities: ["rye.execute.tool.*"],
};

const key = testKey(7);
const stranger = testKey(8);

function reasonOf(verdict: JsonVerdict | ThreadVerdict): string {
  return verdict.ok ? "ok" : verdict.reason;
}

/** The verdict on a thread's object, as written. */
function threadReason(map: JsonMap, judge = key.judge(ID)): string {
  return reasonOf(judgeThread(formatPythonJson(map), judge));
}

function changed(map: JsonMap, field: string, value: JsonTree | undefined): JsonMap {
  const copy = new Map(map);
  if (value === undefined) copy.delete(field);
  else copy.set(field, value);
  return copy;
}

function textOf(map: JsonMap, field: string): string {
  const value = map.get(field);
  assert.ok(typeof value === "string");
  return value;
}

test("a signed object is verified, with its key, time and hash", async () => {
  const verdict = judgeJson(formatPythonJson(await signJsonValue(META, key.signer)), key.judge());
  assert.ok(verdict.ok);
  const { hash, ...rest } = verdict;
  const { fp, kid } = key.signer;
  assert.deepEqual(rest, { ok: true, fp, kid, owner: "a test", ts: NOW });
  assert.equal(hash.length, 64);
});

test("a signed thread is verified, with its revision and its head", async () => {
  const verdict = judgeThread(formatPythonJson(await signThread(META, key.signer)), key.judge(ID));
  assert.ok(verdict.ok);
  const { threadId, rev, head, ts } = verdict;
  assert.deepEqual({ threadId, rev, ts }, { threadId: ID, rev: 5, ts: NOW });
  assert.deepEqual(head, { seq: 3, byteOffset: 2847, line: HEAD.line });
});

test("signing again replaces both signatures, which are the last fields", async () => {
  const once = await signThread(META, key.signer);
  const twice = await signThread(changed(once, "status", "completed"), key.signer);
  assert.deepEqual([...twice.keys()].slice(-2), ["_signature2", "_signature"]);
  assert.equal(twice.size, once.size);
  assert.notEqual(twice.get("_signature2"), once.get("_signature2"));
  assert.equal(threadReason(twice), "ok");
});

test("layout, spelling and order of a signed text do not matter", async () => {
  const signed = await signThread({ ...META, é: "ü😀", n: [1.5, 1e-7] }, key.signer);
  const reversed = new Map([...signed].reverse());
  const texts = [formatPythonJson(signed, 4), canonicalTree(signed), formatPythonJson(reversed)];
  texts.push(` ${JSON.stringify(JSON.parse(canonicalTree(signed)))}\n`);
  for (const text of texts) assert.ok(judgeThread(text, key.judge(ID)).ok, text);
});

test("a signed thread with any bit flip, deletion, doubling or cut is not verified", async () => {
  // Method: every mutation of every byte of the shortest text, which has no redundant byte.
  const bytes = Buffer.from(canonicalTree(await signThread(META, key.signer)));
  assert.ok(judgeThread(bytes, key.judge(ID)).ok);
  let mutations = 0;
  for (const { mutated } of mutationsOf(bytes)) {
    mutations++;
    if (judgeThread(mutated, key.judge(ID)).ok) assert.fail(mutated.toString("latin1"));
  }
  assert.equal(mutations, bytes.length * 11);
});

test("in the seed's form, only the time can be changed unnoticed", async () => {
  const text = canonicalTree(await signJsonValue(META, key.signer));
  const [from, to] = [text.indexOf(NOW), text.indexOf(NOW) + NOW.length];
  let open = 0;
  for (const { mutated, at } of mutationsOf(Buffer.from(text))) {
    const verdict = judgeJson(mutated, key.judge());
    if (!verdict.ok) continue;
    assert.ok(at >= from && at < to, mutated.toString("latin1"));
    assert.notEqual(verdict.ts, NOW);
    open++;
  }
  assert.ok(open > 0);
});

test("a mutated text in any layout is verified only if its value is the same", async () => {
  // Escapes, spaces and trailing zeros of a fraction can change without changing the value.
  const meta = { ...META, name: "é\u007f\u{1f600}/", spend: 1e-7, big: 1e22 };
  const text = Buffer.from(formatPythonJson(await signThread(meta, key.signer)));
  const said = JSON.parse(text.toString());
  let same = 0;
  for (const { mutated } of mutationsOf(text)) {
    if (!judgeThread(mutated, key.judge(ID)).ok) continue;
    assert.deepEqual(JSON.parse(mutated.toString()), said);
    same++;
  }
  assert.ok(same > 0 && same < text.length * 2);
});

/** Every bit flipped, every byte deleted and doubled, and cut there. */
function* mutationsOf(bytes: Buffer): Generator<{ mutated: Buffer; at: number }> {
  for (let at = 0; at < bytes.length; at++) {
    const [before, after] = [bytes.subarray(0, at), bytes.subarray(at + 1)];
    const byte = bytes[at] ?? 0;
    for (let bit = 0; bit < 8; bit++) {
      yield { mutated: Buffer.concat([before, Buffer.of(byte ^ (1 << bit)), after]), at };
    }
    yield { mutated: Buffer.concat([before, after]), at };
    yield { mutated: Buffer.concat([before, Buffer.of(byte, byte), after]), at };
    yield { mutated: before, at };
  }
}

test("any bytes result in a verdict", () => {
  fc.assert(
    fc.property(fc.oneof(fc.uint8Array(), fc.json(), fc.string({ unit: "binary" })), (input) => {
      assert.equal(judgeJson(input, key.judge()).ok, false);
      assert.equal(judgeThread(input, key.judge(ID)).ok, false);
    }),
  );
});

test("each kind of invalid signed object has its own reason", async () => {
  const signed = await signJsonValue(META, key.signer);
  const text = textOf(signed, "_signature");
  const judged = (map: JsonMap) => reasonOf(judgeJson(formatPythonJson(map), key.judge()));
  assert.equal(judged(changed(signed, "_signature", undefined)), "unsigned");
  assert.equal(judged(changed(signed, "status", "completed")), "altered");
  assert.equal(judged(changed(signed, "more", null)), "altered");
  assert.equal(judged(changed(signed, "status", undefined)), "altered");
  for (const broken of [null, true, "", [text], `${text}\n`, ` ${text}`, text.slice(1)]) {
    assert.equal(judged(changed(signed, "_signature", broken)), "malformed");
  }
  assert.equal(
    judged(changed(signed, "_signature", text.replace(/.{16}$/, stranger.signer.fp))),
    "unknown key",
  );
  assert.equal(judged(await signJsonValue(META, stranger.signer)), "unknown key");
  for (const input of ["[]", '"x"', "1", "null"]) {
    assert.equal(reasonOf(judgeJson(input, key.judge())), "malformed");
  }
  const verdict = judgeJson('{"a":1,"a":2}', key.judge());
  assert.deepEqual(!verdict.ok && verdict.refusal, { reason: "duplicate key", offset: 7 });
});

test("another key's signature over the same hash is bad", async () => {
  const forger = { ...stranger.signer, fp: key.signer.fp, kid: key.signer.kid };
  const text = formatPythonJson(await signJsonValue(META, forger));
  assert.equal(reasonOf(judgeJson(text, key.judge())), "bad signature");
  assert.equal(threadReason(await signThread(META, forger)), "bad signature");
});

test("only a top-level signature field is excluded from what is signed", async () => {
  const meta = { ...META, inner: { _signature: "a", _signature2: "b" } };
  const signed = await signThread(meta, key.signer);
  assert.equal(threadReason(signed), "ok");
  for (const field of ["_signature", "_signature2"]) {
    const inner = new Map(signed.get("inner") as JsonMap).set(field, "c");
    assert.equal(threadReason(changed(signed, "inner", inner)), "altered");
  }
});

test("a thread's file is verified only for its own thread", async () => {
  const signed = await signThread(META, key.signer);
  assert.equal(threadReason(signed, key.judge("test/tools/y-1")), "another thread");
});

test("a signature of the seed's kind is not enough for a thread", async () => {
  const once = await signJsonValue(META, key.signer);
  assert.equal(threadReason(once), "signed as version 1");
  // Nor is one with a second signature that was made for something else: an attacker gets this from
  // a tool that signs any JSON.
  const signed = await signThread(META, key.signer);
  const forged = changed(changed(signed, "status", "completed"), "_signature", undefined);
  assert.equal(threadReason(await signJsonValue(forged, key.signer)), "bad signature");
  const later = await signThread({ ...META, rev: 6 }, key.signer);
  const rolledBack = changed(signed, "_signature2", textOf(later, "_signature2"));
  assert.equal(threadReason(await signJsonValue(rolledBack, key.signer)), "bad signature");
});

test("a second signature cannot be stripped, and is not accepted alone", async () => {
  const signed = await signThread(META, key.signer);
  assert.equal(threadReason(changed(signed, "_signature2", undefined)), "altered");
  assert.equal(threadReason(changed(signed, "_signature", undefined)), "malformed");
  const bare = changed(changed(signed, "_signature2", undefined), "_signature", undefined);
  assert.equal(threadReason(bare), "unsigned");
});

test("a thread's time is signed and cannot be changed", async () => {
  const signed = await signThread(META, key.signer);
  const text = textOf(signed, "_signature").replace(NOW, "2026-02-18T10:30:01Z");
  // The seed's verifier still accepts this.
  const moved = changed(signed, "_signature", text);
  assert.ok(judgeJson(formatPythonJson(moved), key.judge()).ok);
  assert.equal(threadReason(moved), "bad signature");
});

test("in a thread signed twice, everything around the signatures has one spelling", async () => {
  const signed = await signThread(META, key.signer);
  const text = textOf(signed, "_signature");
  assert.equal(threadReason(changed(signed, "_signature", text.replace("==", ""))), "malformed");
  const resigned = async (field: string, value: unknown) =>
    threadReason(await signJsonValue(changed(signed, field, value as JsonTree), key.signer));
  for (const rev of [-1, 1.5, 2 ** 53, "5", null]) {
    assert.equal(await resigned("rev", rev), "malformed");
  }
  const heads = [null, {}, { ...HEAD, more: 1 }, { ...HEAD, seq: "3" }, { ...HEAD, line: "ab" }];
  for (const head of heads) assert.equal(await resigned("head", head), "malformed");
  const second = textOf(signed, "_signature2");
  const broken = [
    `${second}==`,
    `${second}AA`,
    second.slice(2),
    second.replace(/.$/, "B"),
    7,
    null,
  ];
  for (const text of broken) assert.equal(await resigned("_signature2", text), "malformed");
});

test("a key that is not trusted verifies nothing, and the verdict says why", async () => {
  const text = formatPythonJson(await signThread(META, key.signer));
  const verdict = judgeThread(text, key.judge(ID, "KEY_REVOKED"));
  assert.deepEqual(verdict, {
    ok: false,
    reason: "untrusted key",
    fp: key.signer.fp,
    refusal: null,
    keyRefusal: "KEY_REVOKED",
  });
  // An altered object is altered, whichever key signed it.
  const altered = text.replace("running", "erunnin");
  assert.equal(reasonOf(judgeThread(altered, key.judge(ID, "KEY_REVOKED"))), "altered");
});

test("a thread's key is looked up for the time at which it signed", async () => {
  const text = formatPythonJson(await signThread(META, key.signer));
  const judge = key.judge(ID);
  const times: string[] = [];
  const byKid = (kid: string, ts: string) => {
    times.push(ts);
    return judge.keys.byKid(kid, ts);
  };
  assert.ok(judgeThread(text, { ...judge, keys: { ...judge.keys, byKid } }).ok);
  assert.deepEqual(times, [NOW]);
});

test("a value that readers would parse differently is not signed", async () => {
  const reasonFor = async (value: unknown) =>
    (await refusal(signJsonValue({ value }, key.signer), "UNSIGNABLE_JSON")).details.reason;
  assert.equal(await reasonFor(Number.NaN), "not finite");
  assert.equal(await reasonFor("\ud800"), "lone surrogate");
  assert.equal(await reasonFor(new Date(0)), "not JSON");
  assert.equal(await reasonFor("x".repeat(JSON_LIMITS.bytesMax)), "too long");
  await assert.rejects(
    signJsonValue([] as unknown as JsonMap, key.signer),
    /only a JSON object can be signed/,
  );
});

test("a thread without a valid id, revision or head is not signed", async () => {
  await refusal(signThread({ ...META, thread_id: "a\nb" }, key.signer), "BAD_ID");
  for (const field of ["thread_id", "rev", "head"]) {
    const { [field as "rev"]: _, ...rest } = META;
    await assert.rejects(signThread(rest, key.signer), /an id, a revision and a head/);
  }
});

test("a foreign file that is signed again keeps the spelling of numbers that did not change", async () => {
  const text = formatPythonJson(META).replace("0.5", "1.0").replace("20", "12345678901234567890");
  const was = parseJson(text).tree;
  const meta = JSON.parse(text);
  // JavaScript has only 1 and 12345678901234567000 here. The rest is up to the writer.
  const next = { ...meta, rev: 6, limits: { ...meta.limits, depth: 2 } };
  const signed = formatPythonJson(await signThread(jsonTree(next, was) as JsonMap, key.signer));
  assert.ok(signed.includes('"turns": 12345678901234567890,'));
  assert.ok(signed.includes('"spend": 1.0,'));
  assert.ok(signed.includes('"rev": 6,'));
  assert.ok(judgeThread(signed, key.judge(ID)).ok);
});
