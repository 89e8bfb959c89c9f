import assert from "node:assert/strict";
import { generateKeyPairSync } from "node:crypto";
import fc from "fast-check";
import { test } from "vitest";
import { nodeCrypto } from "../keys/node-crypto.ts";
import { rawPublicKey } from "../keys/pem.ts";
import { toBase64url } from "../proof/bytes.ts";
import { kidOf } from "../proof/ed25519-keys.ts";
import {
  entryFault,
  GLOB_CHARS_MAX,
  GLOBS_MAX,
  OWNER_CHARS_MAX,
  orderFields,
  parseTrustTime,
  REASON_CHARS_MAX,
  type TrustEntry,
} from "./trust-entry.ts";

const key = rawPublicKey(generateKeyPairSync("ed25519").publicKey);

const ENTRY: TrustEntry = {
  kid: kidOf(nodeCrypto, key),
  publicKey: toBase64url(key),
  owner: "Ada",
  purposes: ["transcript"],
  sessions: ["**"],
  validAfter: "2026-01-01T00:00:00.000Z",
  validBefore: "2027-01-01T00:00:00.000Z",
  addedAt: "2026-11-15T06:00:00.000Z",
  revokedAt: "2026-11-16T06:00:00.000Z",
  reason: "laptop stolen",
};

const REQUIRED = ["kid", "publicKey", "owner", "purposes", "sessions", "addedAt"];

function changed(change: Record<string, unknown>): unknown {
  return { ...ENTRY, ...change };
}

test("a full entry is accepted, and one without the optional fields too", () => {
  assert.equal(entryFault(ENTRY), null);
  const required = Object.entries(ENTRY).filter(([name]) => REQUIRED.includes(name));
  assert.equal(entryFault(Object.fromEntries(required)), null);
  assert.equal(entryFault(changed({ purposes: [], sessions: [] })), null);
});

test("an entry without a required field, or with an unknown one, is refused", () => {
  for (const name of REQUIRED) {
    const { [name]: _, ...rest } = ENTRY as unknown as Record<string, unknown>;
    assert.equal(entryFault(rest), `${name} is missing`);
  }
  const unknown = "it has a field that this version does not know";
  assert.equal(entryFault(changed({ revokedat: ENTRY.revokedAt })), unknown);
  assert.equal(entryFault(changed({ toString: "x" })), unknown);
  assert.equal(entryFault(JSON.parse('{"__proto__":{}}')), unknown);
});

test("every field with a wrong value is refused, and the error names it", () => {
  const wrong: Readonly<Record<keyof TrustEntry, readonly unknown[]>> = {
    kid: ["", "x".repeat(64), ENTRY.kid.toUpperCase(), ENTRY.kid.slice(1), null],
    publicKey: ["", `${ENTRY.publicKey}=`, "A".repeat(43), "!".repeat(43), 7],
    owner: ["", "x".repeat(OWNER_CHARS_MAX + 1), "a\nb", "\u202eabc", "\ud800", {}],
    purposes: ["transcript", ["other"], ["transcript", "transcript"], [1], null],
    sessions: ["**", [""], ["a\nb"], ["a", "a"], ["x".repeat(GLOB_CHARS_MAX + 1)], [null]],
    validAfter: ["2026-01-01", "", 0, null, "2026-02-31T00:00:00.000Z"],
    validBefore: ["tomorrow", "2027-01-01T00:00:00Z", "2027-01-01T00:00:00.000+00:00"],
    profile: ["", "v2", "Rye", null, ["rye"]],
    addedAt: ["2026-11-15T06:00:00.000", true],
    revokedAt: [false, null, ""],
    reason: ["", "x".repeat(REASON_CHARS_MAX + 1), "a\u001bb", []],
  };
  for (const [name, values] of Object.entries(wrong)) {
    for (const value of values) {
      const fault = entryFault(changed({ [name]: value }));
      assert.ok(fault?.includes(name), `${name} = ${JSON.stringify(value)}: ${fault}`);
    }
  }
});

test("every limit is accepted at the limit", () => {
  const globs = Array.from({ length: GLOBS_MAX }, (_, n) => `${n}`);
  assert.equal(entryFault(changed({ owner: "x".repeat(OWNER_CHARS_MAX) })), null);
  assert.equal(entryFault(changed({ reason: "x".repeat(REASON_CHARS_MAX) })), null);
  assert.equal(entryFault(changed({ sessions: ["x".repeat(GLOB_CHARS_MAX)] })), null);
  assert.equal(entryFault(changed({ sessions: globs })), null);
  assert.notEqual(entryFault(changed({ sessions: [...globs, "one more"] })), null);
});

test("a key that has small order, is not canonical or is off the curve is refused at each load", () => {
  const bytes = (first: number) => Uint8Array.of(first, ...new Uint8Array(31));
  for (const [bad, reason] of [
    [bytes(0), /small order/],
    [bytes(1), /small order/],
    [new Uint8Array(32).fill(0xff), /not below the prime/],
    [bytes(2), /not a point of the curve/],
  ] as const) {
    const publicKey = toBase64url(bad);
    const fault = entryFault(changed({ publicKey, kid: kidOf(nodeCrypto, bad) }));
    assert.match(fault ?? "", reason);
  }
});

test("an id that does not match the key is refused, and so are contradictory limits", () => {
  const kid = "0".repeat(64);
  assert.equal(entryFault(changed({ kid })), "kid is not the id of publicKey");
  const { validAfter } = ENTRY;
  assert.match(entryFault(changed({ validBefore: validAfter })) ?? "", /not after validAfter/);
  const { revokedAt: _, ...unrevoked } = ENTRY;
  assert.equal(entryFault(unrevoked), "it has a reason, but no revokedAt");
});

test("the check never throws, whatever the value", () => {
  fc.assert(
    fc.property(fc.anything(), (value) => {
      assert.notEqual(entryFault(value), null);
    }),
  );
  const field = fc.constantFrom(...Object.keys(ENTRY));
  fc.assert(
    fc.property(field, fc.jsonValue(), (name, value) => {
      entryFault(changed({ [name]: value }));
    }),
    { numRuns: 500 },
  );
});

test("fields are written in one order, and absent fields are left out", () => {
  const reversed = Object.fromEntries(Object.entries(ENTRY).reverse()) as unknown as TrustEntry;
  assert.deepEqual(Object.keys(orderFields(reversed)), Object.keys(ENTRY));
  const { reason: _, ...without } = ENTRY;
  assert.ok(!("reason" in orderFields(without)));
});

test("a time is an existing date, or a time in UTC", () => {
  assert.equal(parseTrustTime("2027-01-31"), "2027-01-31T00:00:00.000Z");
  assert.equal(parseTrustTime("2027-01-31T12:34:56Z"), "2027-01-31T12:34:56.000Z");
  assert.equal(parseTrustTime("2027-01-31T12:34:56.7Z"), "2027-01-31T12:34:56.700Z");
  assert.equal(parseTrustTime("2028-02-29"), "2028-02-29T00:00:00.000Z");
  for (const text of [
    "2027-02-29",
    "2027-02-30T00:00:00Z",
    "2027-13-01",
    "2027-01-31T24:00:00Z",
    "2027-01-31T12:34:56",
    "2027-01-31T12:34:56+02:00",
    "31.1.2027",
    "2027",
    "+002027-01-31",
    "now",
    "",
  ]) {
    assert.equal(parseTrustTime(text), null, text);
  }
});
