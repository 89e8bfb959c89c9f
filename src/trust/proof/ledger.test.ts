/** The ledger agrees with the parts that it is made of. */

import assert from "node:assert/strict";
import { createHash } from "node:crypto";
import fc from "fast-check";
import { test } from "vitest";
import { proofCrypto as crypto } from "../../../test/support/proof-crypto.ts";
import { LeafHasher } from "./leaf.ts";
import { LogLedger } from "./ledger.ts";
import { MerkleTree } from "./merkle.ts";

const SALT = Buffer.alloc(32, 1);

function begin(isSidecar = false): LogLedger {
  return LogLedger.begin({ crypto, salt: SALT, parts: 8, isSidecar });
}

function sha256(...parts: Uint8Array[]): string {
  return createHash("sha256").update(Buffer.concat(parts)).digest("hex");
}

const LINES = ["one", '{"a":"a longer string"}', "", "four"].map((line) =>
  Buffer.from(`${line}\n`),
);
const CHECKPOINT = Buffer.from("a checkpoint\n");

function saidBy(ledger: LogLedger) {
  return { bytes: ledger.bytes, hash: ledger.hash(), seg: ledger.seg(), tree: ledger.tree() };
}

test("hash, segment and tree are over bytes, leaves since the last checkpoint, and all leaves", () => {
  const ledger = begin();
  const leaves = new LeafHasher(crypto, SALT, 8);
  const tree = new MerkleTree(crypto);
  const leaf = (line: Buffer, index: number) => {
    const hash = leaves.leaf(line.subarray(0, -1), index);
    tree.push(hash);
    return hash;
  };
  const [one, two, three, four] = LINES as [Buffer, Buffer, Buffer, Buffer];
  ledger.addLines(Buffer.concat([one, two]));
  const [first, second] = [leaf(one, 0), leaf(two, 1)];
  assert.equal(ledger.seg(), sha256(first, second));
  ledger.addCheckpointLine(CHECKPOINT);
  leaf(CHECKPOINT, 2);
  assert.equal(ledger.seg(), sha256(), "the checkpoint itself is in no segment");
  ledger.addLines(Buffer.concat([three, four]));
  assert.equal(ledger.seg(), sha256(leaf(three, 3), leaf(four, 4)));
  assert.equal(ledger.hash(), sha256(one, two, CHECKPOINT, three, four));
  assert.deepEqual(ledger.tree(), { size: 5, root: Buffer.from(tree.root()).toString("hex") });
  assert.equal(ledger.lines, 5);
});

test("with a sidecar the hash begins with the salt, and checkpoints are not leaves", () => {
  const [ledger, bare] = [begin(true), begin()];
  for (const each of [ledger, bare]) each.addLines(Buffer.concat(LINES));
  assert.equal(ledger.hash(), sha256(SALT, ...LINES));
  ledger.beginSegment();
  assert.equal(ledger.seg(), sha256());
  assert.deepEqual(ledger.tree(), bare.tree());
});

test("lines added one by one or all at once give the same ledger", () => {
  const line = fc
    .uint8Array({ maxLength: 30 })
    .map((bytes) => bytes.map((b) => (b === 10 ? 0 : b)));
  fc.assert(
    fc.property(fc.array(line, { maxLength: 20 }), (given) => {
      const lines = given.map((bytes) => Buffer.concat([bytes, Buffer.from("\n")]));
      const [atOnce, oneByOne] = [begin(), begin()];
      atOnce.addLines(Buffer.concat(lines));
      for (const each of lines) oneByOne.addLines(each);
      assert.deepEqual(saidBy(atOnce), saidBy(oneByOne));
    }),
  );
});

test("a fork is independent: lines added to one are not in the other", () => {
  const step = fc.constantFrom("line", "checkpoint", "segment");
  const steps = fc.array(step, { maxLength: 12 });
  const take = (ledger: LogLedger, all: readonly string[], word: string) => {
    for (const [n, each] of all.entries()) {
      if (each === "line") ledger.addLines(Buffer.from(`${word} ${n}\n`));
      else if (each === "checkpoint") ledger.addCheckpointLine(Buffer.from(`${word} ${n}\n`));
      else ledger.beginSegment();
    }
  };
  fc.assert(
    fc.property(steps, steps, steps, (before, own, others) => {
      const ledger = begin();
      take(ledger, before, "before");
      const fork = ledger.fork();
      take(fork, others, "other");
      take(ledger, own, "own");
      const [alone, other] = [begin(), begin()];
      for (const each of [alone, other]) take(each, before, "before");
      take(alone, own, "own");
      take(other, others, "other");
      assert.deepEqual(saidBy(ledger), saidBy(alone));
      assert.deepEqual(saidBy(fork), saidBy(other));
    }),
  );
});

test("reading a ledger changes nothing", () => {
  const ledger = begin();
  ledger.addLines(Buffer.concat(LINES));
  assert.deepEqual(saidBy(ledger), saidBy(ledger));
});

test("in a raw log, all bytes since the last checkpoint are one leaf, in any pieces", () => {
  const bytes = Buffer.from([0, 10, 34, 255, 10, 7]);
  const leaves = new LeafHasher(crypto, SALT, 0);
  const tree = new MerkleTree(crypto);
  const raw = () => LogLedger.begin({ crypto, salt: SALT, parts: 0, isSidecar: true, isRaw: true });
  const [whole, pieces] = [raw(), raw()];
  whole.addLines(bytes);
  for (const byte of bytes) pieces.addLines(Uint8Array.of(byte));
  const first = leaves.leaf(bytes, 0);
  tree.push(first);
  for (const ledger of [whole, pieces, whole.fork()]) {
    assert.equal(ledger.hash(), sha256(SALT, bytes));
    assert.equal(ledger.seg(), sha256(first));
    assert.deepEqual(ledger.tree(), { size: 1, root: Buffer.from(tree.root()).toString("hex") });
  }
  whole.beginSegment();
  assert.equal(whole.seg(), sha256(), "no lines since");
  assert.equal(whole.tree().size, 1);
  whole.addLines(bytes);
  const second = leaves.leaf(bytes, 1);
  tree.push(second);
  assert.equal(whole.seg(), sha256(second));
  assert.deepEqual(whole.tree(), { size: 2, root: Buffer.from(tree.root()).toString("hex") });
  assert.equal(pieces.tree().size, 1, "a fork is independent");
});
