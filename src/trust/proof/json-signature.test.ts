/** The text of a signature. What it signs, and how that is judged, is in test/signing. */

import assert from "node:assert/strict";
import fc from "fast-check";
import { test } from "vitest";
import { parseSignature, signatureText, signatureTime } from "./json-signature.ts";

const PARTS = {
  ts: "2026-02-18T10:30:00Z",
  hash: "a3".repeat(32),
  sig: Uint8Array.from({ length: 64 }, (_, n) => n * 4),
  fp: "440443d0858f0199",
};
const TEXT = signatureText(PARTS);

test("a signature's text has time, hash, signature and key, and is read back", () => {
  const sig = Buffer.from(PARTS.sig).toString("base64url");
  assert.equal(TEXT, `rye:signed:${PARTS.ts}:${PARTS.hash}:${sig}==:${PARTS.fp}`);
  assert.deepEqual(parseSignature(TEXT), { ...PARTS, isPadded: true });
  fc.assert(
    fc.property(fc.uint8Array({ minLength: 64, maxLength: 64 }), (sig) => {
      assert.deepEqual(parseSignature(signatureText({ ...PARTS, sig }))?.sig, sig);
    }),
  );
});

test("padding may be left out wholly, but not in part", () => {
  assert.deepEqual(parseSignature(TEXT.replace("==", "")), { ...PARTS, isPadded: false });
  assert.equal(parseSignature(TEXT.replace("==", "=")), null);
  assert.equal(parseSignature(TEXT.replace("==", "===")), null);
});

test("a signature's bytes have one spelling", () => {
  // The last of 86 characters carries two bits; with the other four set, a lenient reader sees
  // the same bytes.
  const at = TEXT.indexOf("==") - 1;
  const accepted = [..."ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_"].filter(
    (last) => parseSignature(TEXT.slice(0, at) + last + TEXT.slice(at + 1)),
  );
  assert.deepEqual(accepted, ["A", "Q", "g", "w"]);
});

test("a text that is not exactly a signature is refused", () => {
  const broken = [
    "",
    ` ${TEXT}`,
    `${TEXT}\n`,
    `x${TEXT}`,
    `${TEXT}|registry@user`,
    TEXT.replace("rye:", "ryeos:"),
    TEXT.replace("Z:", "+00:00:"),
    TEXT.replace("00Z", "00.5Z"),
    TEXT.replace("T", " "),
    TEXT.replace("a3a3", "A3a3"),
    TEXT.replace("a3a3", "a3"),
    TEXT.replace("440443d0", "../../x"),
    TEXT.replace("440443d0858f0199", "440443D0858F0199"),
    TEXT.replace("AAQI", "AA+I"),
    TEXT.replace("AAQI", "AAQ"),
    // Digits to some parsers.
    TEXT.replace("2026", "٢٠٢٦"),
  ];
  for (const text of broken) assert.equal(parseSignature(text), null, JSON.stringify(text));
});

test("a signature that could not be read back is not made", () => {
  const parts = [{ ts: "now" }, { hash: "a3" }, { sig: new Uint8Array(63) }, { fp: "x" }];
  for (const part of parts) assert.throws(() => signatureText({ ...PARTS, ...part }), /misused/);
});

test("a time is to the second, rounded down", () => {
  assert.equal(signatureTime(Date.parse("2026-02-18T10:30:00.999Z")), "2026-02-18T10:30:00Z");
});
