/** Which keys a user trusts: the decision, and the file behind it, on a real disk. */

import assert from "node:assert/strict";
import { generateKeyPairSync } from "node:crypto";
import { chmodSync, existsSync, readFileSync, statSync, symlinkSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { test } from "vitest";
import { refusal } from "../../../test/support/refusal.ts";
import { tempDirectory } from "../../../test/support/temp-directory.ts";
import { nodeHost } from "../../core/base/node-host.ts";
import { loadSigner, rotateKey } from "../keys/keys.ts";
import { nodeCrypto } from "../keys/node-crypto.ts";
import { rawPublicKey } from "../keys/pem.ts";
import { toBase64url } from "../proof/bytes.ts";
import { kidOf } from "../proof/ed25519-keys.ts";
import {
  addTrust,
  type Grant,
  removeTrust,
  revokeTrust,
  SELF,
  Trust,
  threadKeys,
  transcriptKeys,
} from "./trust.ts";
import type { TrustEntry } from "./trust-entry.ts";
import { changeTrustFile, ENTRIES_MAX, readTrustFile, TRUST_BYTES_MAX } from "./trust-file.ts";

const NOW = Date.parse("2026-11-15T06:00:00.000Z");

function newPlaces() {
  const home = tempDirectory();
  return { keyDirectory: join(home, "keys"), trustPath: join(home, "config/trust.json") };
}

function grant(said: Partial<Grant> = {}): Grant {
  const publicKey = rawPublicKey(generateKeyPairSync("ed25519").publicKey);
  return { publicKey, owner: "Ada", purposes: ["transcript"], sessions: ["**"], ...said };
}

function entryOf({ publicKey, ...said }: Grant, more: Partial<TrustEntry> = {}): TrustEntry {
  const kid = kidOf(nodeCrypto, publicKey);
  const addedAt = new Date(NOW).toISOString();
  return { kid, publicKey: toBase64url(publicKey), ...said, addedAt, ...more };
}

const ASKED = { purpose: "transcript", sessionId: "hello-1", at: NOW } as const;

/** The result in one word: the owner, or the reason. */
function judged(trust: Trust, kid: string, asked: Partial<Parameters<Trust["judge"]>[0]> = {}) {
  const judgement = trust.judge({ ...ASKED, kid, ...asked });
  return judgement.trusted ? judgement.owner : judgement.why;
}

test("without keys nothing is trusted, and looking creates none", async () => {
  const places = newPlaces();
  const trust = await Trust.load(places);
  assert.equal(judged(trust, "0".repeat(64)), "unknown");
  assert.deepEqual(trust.keys, []);
  assert.ok(!existsSync(places.keyDirectory));
  assert.ok(!existsSync(dirname(places.trustPath)));
});

test("a user's own keys are trusted, retired ones too, for everything signed here and at any time", async () => {
  const places = newPlaces();
  const { kid: first } = await loadSigner(nodeHost, places);
  const { key } = await rotateKey(nodeHost, places);
  const trust = await Trust.load(places);
  for (const kid of [first, key.kid]) {
    for (const purpose of ["transcript", "thread"] as const) {
      for (const at of [0, NOW, Number.NaN]) {
        assert.equal(judged(trust, kid, { purpose, at }), SELF);
        assert.equal(judged(trust, kid, { purpose, at, sessionId: null }), SELF);
      }
    }
  }
});

test("an added key is trusted for its purposes, sessions and time, and for nothing else", () => {
  const [after, before] = ["2026-01-01T00:00:00.000Z", "2027-01-01T00:00:00.000Z"];
  const entry = entryOf(
    grant({ sessions: ["ci/**", "one"], validAfter: after, validBefore: before }),
  );
  const trust = new Trust([], [entry]);
  const sessionId = "ci/nightly/7";
  assert.equal(judged(trust, entry.kid, { sessionId }), "Ada");
  assert.equal(judged(trust, entry.kid, { sessionId: "one" }), "Ada");
  assert.equal(judged(trust, entry.kid), "session");
  assert.equal(judged(trust, entry.kid, { sessionId: null }), "session");
  assert.equal(judged(trust, entry.kid, { sessionId, purpose: "thread" }), "purpose");
  assert.equal(judged(trust, entry.kid, { sessionId, at: Date.parse(after) }), "Ada");
  assert.equal(judged(trust, entry.kid, { sessionId, at: Date.parse(after) - 1 }), "not yet valid");
  assert.equal(judged(trust, entry.kid, { sessionId, at: Date.parse(before) - 1 }), "Ada");
  assert.equal(judged(trust, entry.kid, { sessionId, at: Date.parse(before) }), "expired");
  assert.equal(judged(trust, entry.kid, { sessionId, at: Number.NaN }), "not yet valid");
  const other = kidOf(nodeCrypto, grant().publicKey);
  assert.equal(judged(trust, other, { sessionId }), "unknown");
});

test("a revoked key is not trusted, whatever time its signature claims, even the user's own", async () => {
  const places = newPlaces();
  const own = await loadSigner(nodeHost, places);
  const added = await addTrust(nodeHost, places, grant(), NOW);
  await revokeTrust(nodeHost, places, { kid: own.kid }, NOW);
  await revokeTrust(nodeHost, places, { kid: added.kid, reason: "lost" }, NOW);
  const trust = await Trust.load(places);
  for (const kid of [own.kid, added.kid]) {
    for (const at of [0, NOW - 1, NOW, NOW + 1, Number.NaN]) {
      assert.equal(judged(trust, kid, { at }), "revoked");
    }
    assert.ok(trust.key(kid), "kept, so that its signatures are not reported as false");
  }
  const [first, second] = readTrustFile(places.trustPath);
  assert.deepEqual([first?.owner, first?.purposes, first?.sessions], [SELF, [], []]);
  assert.equal(second?.reason, "lost");
});

test("the first revocation stays, and neither adding nor removing the key undoes it", async () => {
  const places = newPlaces();
  const own = await loadSigner(nodeHost, places);
  const given = grant();
  const { kid } = await addTrust(nodeHost, places, given, NOW);
  for (const each of [kid, own.kid]) {
    await revokeTrust(nodeHost, places, { kid: each, reason: "first" }, NOW);
    const again = await revokeTrust(nodeHost, places, { kid: each, reason: "second" }, NOW + 1);
    assert.equal(again?.reason, "first");
    assert.equal(again?.revokedAt, new Date(NOW).toISOString());
  }
  await refusal(addTrust(nodeHost, places, given, NOW), "TRUST_REFUSED");
  await refusal(removeTrust(nodeHost, places, own.kid), "TRUST_REFUSED");
  assert.equal(judged(await Trust.load(places), own.kid), "revoked");
  assert.equal(await revokeTrust(nodeHost, places, { kid: "0".repeat(64) }, NOW), null);
});

test("a key signs in the older format only where the user allows it, including the user's own", async () => {
  const places = newPlaces();
  const own = await loadSigner(nodeHost, places);
  const { publicKey } = grant();
  const barred = await addTrust(nodeHost, places, grant({ publicKey }), NOW);
  const allowed = await addTrust(nodeHost, places, grant({ profile: "rye" }), NOW);
  const refusals = async () => {
    const trust = await Trust.load(places);
    const kids = [own.kid, barred.kid, allowed.kid];
    const fps = kids.map((kid) => trust.key(kid)?.fp ?? "");
    const keys = transcriptKeys(trust, "hello-1");
    return fps.map((fp) => keys.byFp(fp).refusal);
  };
  const BARRED = "KEY_NOT_FOR_OLDER_FORMAT";
  assert.deepEqual(await refusals(), [BARRED, BARRED, null]);
  const ofJson = threadKeys(await Trust.load(places), "hello-1").byFp(own.fp);
  assert.equal(ofJson.refusal, null, "JSON has no older format");
  const said = grant({ publicKey: own.publicKey, profile: "rye" });
  const entry = await addTrust(nodeHost, places, said, NOW);
  assert.deepEqual([entry.owner, entry.purposes, entry.sessions], [SELF, [], []]);
  assert.deepEqual(await refusals(), [null, BARRED, null]);
  assert.equal(judged(await Trust.load(places), own.kid), SELF, "it is still the user's own key");
  await removeTrust(nodeHost, places, own.kid);
  assert.deepEqual(await refusals(), [BARRED, BARRED, null]);
  await addTrust(nodeHost, places, said, NOW);
  await revokeTrust(nodeHost, places, { kid: own.kid }, NOW);
  await refusal(removeTrust(nodeHost, places, own.kid), "TRUST_REFUSED");
  assert.equal((await refusals())[0], "KEY_REVOKED");
});

test("adding a key that is present, or the user's own, is refused; a removed one is unknown again", async () => {
  const places = newPlaces();
  const own = await loadSigner(nodeHost, places);
  const given = grant();
  const { kid } = await addTrust(nodeHost, places, given, NOW);
  await refusal(addTrust(nodeHost, places, given, NOW), "TRUST_REFUSED");
  await refusal(
    addTrust(nodeHost, places, grant({ publicKey: own.publicKey }), NOW),
    "TRUST_REFUSED",
  );
  assert.equal((await removeTrust(nodeHost, places, kid))?.kid, kid);
  assert.equal(await removeTrust(nodeHost, places, kid), null);
  assert.equal(judged(await Trust.load(places), kid), "unknown");
});

test("a key of small order cannot be added", async () => {
  const places = newPlaces();
  for (const publicKey of [new Uint8Array(32), new Uint8Array(32).fill(0xff)]) {
    await refusal(addTrust(nodeHost, places, grant({ publicKey }), NOW), "TRUST_REFUSED");
  }
  assert.ok(!existsSync(places.trustPath), "nothing was written");
});

test("the file is 0600, and concurrent changes lose nothing", async () => {
  const places = newPlaces();
  const grants = Array.from({ length: 12 }, () => grant());
  await Promise.all(grants.map((each) => addTrust(nodeHost, places, each, NOW)));
  assert.equal(statSync(places.trustPath).mode & 0o777, 0o600);
  assert.equal(statSync(dirname(places.trustPath)).mode & 0o777, 0o700);
  const kids = readTrustFile(places.trustPath).map(({ kid }) => kid);
  const added = grants.map(({ publicKey }) => kidOf(nodeCrypto, publicKey));
  assert.deepEqual([...kids].sort(), added.sort());
});

test("a file with any part that cannot be parsed is refused as a whole", async () => {
  const places = newPlaces();
  const good = await addTrust(nodeHost, places, grant(), NOW);
  const other = entryOf(grant());
  const text = readFileSync(places.trustPath, "utf8");
  const refused: readonly [unknown, RegExp][] = [
    [text.slice(0, -3), /not JSON/],
    ["", /not JSON/],
    [[], /cannot read it/],
    [null, /cannot read it/],
    [{ version: 2, keys: [] }, /cannot read it/],
    [{ keys: [] }, /cannot read it/],
    [{ version: 1, keys: {} }, /something else than version and keys/],
    [{ version: 1, keys: [], extra: 1 }, /something else than version and keys/],
    [{ version: 1, keys: [good, other, good] }, /key 3: it is listed twice/],
    [{ version: 1, keys: [good, { ...other, kid: good.kid }] }, /key 2: kid is not/],
    [{ version: 1, keys: [{ ...good, publicKey: "A".repeat(43) }] }, /key 1: .*small order/],
    [{ version: 1, keys: [good, { ...other, revoked: true }] }, /key 2: .*does not know/],
  ];
  for (const [value, expected] of refused) {
    const written = typeof value === "string" ? value : JSON.stringify(value);
    writeFileSync(places.trustPath, written);
    for (const work of [
      () => Trust.load(places),
      () => loadSigner(nodeHost, places),
      () => addTrust(nodeHost, places, grant(), NOW),
    ]) {
      const error = await refusal(work(), "TRUST_REFUSED");
      assert.match(error.details.reason, expected);
    }
    assert.equal(readFileSync(places.trustPath, "utf8"), written, "the file is unchanged");
  }
});

test("a file that others can change, or a link to one, is refused", async () => {
  const places = newPlaces();
  await addTrust(nodeHost, places, grant(), NOW);
  chmodSync(places.trustPath, 0o644);
  assert.equal((await Trust.load(places)).keys.length, 1);
  chmodSync(places.trustPath, 0o664);
  await refusal(Trust.load(places), "TRUST_REFUSED");
  chmodSync(places.trustPath, 0o600);
  chmodSync(dirname(places.trustPath), 0o777);
  await refusal(Trust.load(places), "TRUST_REFUSED");
  chmodSync(dirname(places.trustPath), 0o700);
  const linked = join(dirname(places.trustPath), "linked.json");
  symlinkSync(places.trustPath, linked);
  await refusal(Trust.load({ ...places, trustPath: linked }), "TRUST_REFUSED");
});

test("the list accepts keys and bytes up to its limits, and not one more", async () => {
  const places = newPlaces();
  const one = entryOf(grant());
  await addTrust(nodeHost, places, grant(), NOW);
  const entries = Array.from({ length: ENTRIES_MAX + 1 }, () => one);
  const text = JSON.stringify({ version: 1, keys: entries });
  writeFileSync(places.trustPath, text);
  const { details } = await refusal(Trust.load(places), "TRUST_REFUSED");
  assert.match(details.reason, /over 1000 keys/);
  writeFileSync(places.trustPath, JSON.stringify({ version: 1, keys: entries.slice(1) }));
  const { details: twice } = await refusal(Trust.load(places), "TRUST_REFUSED");
  assert.match(twice.reason, /key 2: it is listed twice/, "the count itself is not the error");
  const json = JSON.stringify({ version: 1, keys: [one] });
  writeFileSync(places.trustPath, json.padEnd(TRUST_BYTES_MAX));
  assert.equal((await Trust.load(places)).keys.length, 1);
  writeFileSync(places.trustPath, json.padEnd(TRUST_BYTES_MAX + 1));
  await refusal(Trust.load(places), "TRUST_REFUSED");
});

test("a list that would be too large to read back is not written", async () => {
  const places = newPlaces();
  const large = "x".repeat(200);
  const sessions = Array.from({ length: 100 }, (_, n) => `${n}`.padEnd(200, "x"));
  await changeTrustFile(nodeHost, places.trustPath, () => [entryOf(grant({ owner: large }))]);
  const before = readFileSync(places.trustPath, "utf8");
  const many = Array.from({ length: 60 }, () => entryOf(grant({ sessions })));
  const change = changeTrustFile(nodeHost, places.trustPath, () => many);
  await refusal(change, "TRUST_REFUSED");
  assert.equal(readFileSync(places.trustPath, "utf8"), before);
});

test("keys are looked up by id or fingerprint, with the reason why one is not trusted", () => {
  const limited = entryOf(grant({ validBefore: "2026-11-16T00:00:00.000Z" }));
  const revoked = entryOf(grant(), { revokedAt: new Date(NOW).toISOString() });
  const elsewhere = entryOf(grant({ sessions: ["other"] }));
  const free = entryOf(grant());
  const trust = new Trust([], [limited, revoked, elsewhere, free]);
  const keys = transcriptKeys(trust, "hello-1");
  const [before, after] = ["2026-11-15T00:00:00Z", "2026-11-17T00:00:00Z"];
  assert.equal(keys.byKid(limited.kid, before).refusal, null);
  assert.equal(keys.byKid(limited.kid, after).refusal, "KEY_EXPIRED");
  assert.equal(keys.byKid(limited.kid, "no time").refusal, "KEY_EXPIRED");
  assert.equal(keys.byKid(revoked.kid, before).refusal, "KEY_REVOKED");
  assert.equal(keys.byKid(elsewhere.kid, before).refusal, "KEY_OF_OTHER_PURPOSE");
  const answer = keys.byKid(free.kid, before);
  assert.equal(answer.owner, "Ada");
  const older = { ...answer, refusal: "KEY_NOT_FOR_OLDER_FORMAT" };
  assert.deepEqual(keys.byFp(answer.fp ?? ""), older);
  const kid = "0".repeat(64);
  const unknown = { publicKey: null, kid, fp: null, owner: null, refusal: "KEY_UNKNOWN" };
  assert.deepEqual(keys.byKid(kid, before), unknown);
  const fp = "0".repeat(16);
  assert.deepEqual(keys.byFp(fp), { ...unknown, kid: null, fp });
  const limitedFp = keys.byKid(limited.kid, before).fp ?? "";
  assert.equal(keys.byFp(limitedFp).refusal, "KEY_EXPIRED", "older files prove no time");
});
