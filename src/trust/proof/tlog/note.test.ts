/** Notes and trees of other logs, compared with the examples of their specifications. */

import assert from "node:assert/strict";
import { test } from "vitest";
import { proofCrypto as crypto } from "../../../../test/support/proof-crypto.ts";
import {
  bodyOf,
  consistency,
  extension,
  leavesOf,
  NoteSigner,
  rootOf,
  submission,
} from "../../../../test/support/tlog.ts";
import { isConsistent, proveConsistency } from "../merkle.ts";
import { fromBase64, readNote, readVerifierKey, signedBy, spellVerifierKey } from "./note.ts";
import {
  partsOfOrigin,
  readHeadLine,
  readSubmission,
  readTlogProof,
  readTreeHead,
  spellSubmission,
  spellTlogProof,
  spellTreeHead,
  userNameFault,
} from "./tree-head.ts";

/** The example of C2SP signed-note. */
const VKEY = "example.com/foo+530d903a+AekyeRrm56hApGFkyQR4ZCbV54Id2LKaANYcrnKv3U2k";
const NOTE =
  "This is an example message.\n\n\u2014 example.com/foo Uw2QOkn8srV1yJGh2VYRlL1Tnagv1YEq6TfXppzi2" +
  "ONncAlTgK7Ztg1ERYNZXsYjOBH3mFXmRKuwHjG1Yu72IneyaQM=\n";

test("the example of the specification is read, verified, and spelled the same", () => {
  const { key } = readVerifierKey(crypto, VKEY, "log");
  const note = readNote(NOTE);
  assert.ok(key && note);
  assert.equal(signedBy(crypto, note, key).is, "valid");
  assert.equal(spellVerifierKey(crypto, key), VKEY);
  assert.equal(signedBy(crypto, note, { ...key, role: "witness" }).is, "absent");
});

test("a note with any character changed is malformed, or not signed by the key", () => {
  const { key } = readVerifierKey(crypto, VKEY, "log");
  assert.ok(key);
  for (let at = 0; at < NOTE.length; at++) {
    const flipped = String.fromCharCode(NOTE.charCodeAt(at) ^ 1);
    const note = readNote(NOTE.slice(0, at) + flipped + NOTE.slice(at + 1));
    assert.ok(note === null || signedBy(crypto, note, key).is !== "valid", `character ${at}`);
  }
});

test("malformed notes are null: controls, no empty line, too many signatures, bad base64", () => {
  const line = NOTE.slice(NOTE.indexOf("\u2014"));
  const bad = [
    "",
    "\n",
    "a\n",
    "a\n\n",
    line,
    NOTE.slice(0, -1),
    `${NOTE}\n`,
    NOTE.replace(".", "\r"),
    NOTE.replace("=\n", "\n"),
    NOTE.replace(" Uw2Q", "  Uw2Q"),
    NOTE.replace("/foo", "/f+o"),
    `a\n\n${line.repeat(65)}`,
  ];
  for (const text of bad) assert.equal(readNote(text), null, JSON.stringify(text.slice(0, 40)));
  assert.ok(readNote(`a\n\n${line.repeat(64)}`));
  for (const text of ["A", "AA", "AAA", "AB==", "A===", "AA=A", "AA\n=", "-_=="]) {
    assert.equal(fromBase64(text), null, text);
  }
});

test("a verifier key of another role, id, length or small order is refused", () => {
  const [name, id, key] = VKEY.split("+") as [string, string, string];
  const small = Buffer.alloc(33);
  [small[0], small[1]] = [1, 1];
  const bad = [
    "",
    name,
    `${name}+${id}`,
    `${name}+530d903b+${key}`,
    `x+${id}+${key}`,
    `${name}+${id}+${key.slice(0, -4)}`,
    `a b+${id}+${key}`,
    `${name}+530D903A+${key}`,
    `${name}+${id}+${small.toString("base64")}`,
  ];
  for (const text of bad) assert.equal(readVerifierKey(crypto, text, "log").key, null, text);
  assert.equal(readVerifierKey(crypto, VKEY, "witness").key, null);
});

test("proofs of consistency are those of the definition in RFC 6962, for all small trees", () => {
  for (let n = 1; n <= 20; n++) {
    const leaves = leavesOf(n);
    for (let m = 1; m <= n; m++) {
      const proof = proveConsistency(crypto, leaves, m);
      assert.deepEqual(proof.map(Buffer.from), consistency(m, leaves).map(Buffer.from));
      const roots = { root1: rootOf(leaves.slice(0, m)), root2: rootOf(leaves) };
      assert.ok(isConsistent(crypto, { size1: m, size2: n, ...roots, proof }));
    }
  }
});

test("a tree head is spelled as other logs do, and read back; hostile ones are null", () => {
  const leaves = leavesOf(3);
  const body = bodyOf("ada.example/x", leaves, extension(7));
  const head = readTreeHead(body);
  assert.ok(head);
  assert.equal(spellTreeHead(head), body);
  assert.equal(readHeadLine(head)?.seq, 7);
  const root = rootOf(leaves).toString("base64");
  for (const size of ["", "03", "-1", "1.5", "0x3", "1e3", "9007199254740992", "9".repeat(400)]) {
    assert.equal(readTreeHead(`a\n${size}\n${root}\n`), null, size);
  }
  assert.equal(readTreeHead(`a\n9007199254740991\n${root}\n`)?.size, 2 ** 53 - 1);
  for (const bad of [`\n3\n${root}\n`, `a\n3\n${root.slice(4)}\n`, `a\n3\n${root}`, `a\n3\n`]) {
    assert.equal(readTreeHead(bad), null, bad);
  }
  assert.equal(readTreeHead(`a\n3\n${root}\nx\n\ny\n`), null);
});

test("a request and a proof survive reading and spelling; more than 63 hashes are refused", () => {
  const leaves = leavesOf(9);
  const note = new NoteSigner().note(bodyOf("a/b", leaves));
  const request = submission(5, consistency(5, leaves), note);
  const read = readSubmission(request);
  assert.ok(read);
  assert.equal(spellSubmission(read), request);
  const many = (count: number) => submission(1, Array(count).fill(leaves[0]), note);
  assert.ok(readSubmission(many(63)));
  assert.equal(readSubmission(many(64)), null);
  const text = spellTlogProof({ extra: Buffer.from("x"), index: 4, proof: leaves, note });
  assert.match(text, /^c2sp.org\/tlog-proof@v1\nextra eA==\nindex 4\n/);
  const proof = readTlogProof(text);
  assert.ok(proof);
  assert.equal(spellTlogProof(proof), text);
  assert.equal(readTlogProof(text.replace("index 4", "index 04")), null);
});

test("an origin never begins with verbatim/, and its log is 32 hex digits", () => {
  for (const name of ["verbatim", "verbatim/x", "", "a b", "a+b", "/a", "a//b", "a".repeat(129)]) {
    assert.notEqual(userNameFault(name), null, name);
  }
  for (const name of ["ada", "verbatim.example", "ada.example/laptop", "a".repeat(128)]) {
    assert.equal(userNameFault(name), null, name);
  }
  assert.deepEqual(partsOfOrigin(`a/b/${"0".repeat(32)}`), { name: "a/b", log: "0".repeat(32) });
  for (const origin of [`/${"0".repeat(32)}`, "a/b", "0".repeat(32), `a/${"0".repeat(33)}`]) {
    assert.equal(partsOfOrigin(origin), null, origin);
  }
});
