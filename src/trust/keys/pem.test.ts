import assert from "node:assert/strict";
import { generateKeyPairSync, type KeyObject } from "node:crypto";
import fc from "fast-check";
import { test } from "vitest";
import { kidOf, publicKeyPem } from "../proof/ed25519-keys.ts";
import { nodeCrypto } from "./node-crypto.ts";
import {
  parsePrivatePem,
  parsePublicPem,
  parseRawPublicKey,
  privateKeyPem,
  rawPublicKey,
} from "./pem.ts";

const { privateKey, publicKey } = generateKeyPairSync("ed25519");
const privateText = privateKeyPem(privateKey);
const publicText = publicKeyPem(rawPublicKey(publicKey));

function pkcs8(key: KeyObject): string {
  return key.export({ format: "pem", type: "pkcs8" }) as string;
}

test("OpenSSL reads the same PEM once, and another PEM after many others", () => {
  const { value: first } = parsePrivatePem(privateText);
  assert.equal(parsePrivatePem(privateText).value, first);
  for (let n = 0; n < 20; n++) {
    const other = generateKeyPairSync("ed25519").privateKey;
    const { value } = parsePrivatePem(privateKeyPem(other));
    assert.ok(value);
    assert.deepEqual(rawPublicKey(value), rawPublicKey(other));
  }
  assert.deepEqual(
    rawPublicKey(parsePrivatePem(privateText).value ?? assert.fail()),
    rawPublicKey(publicKey),
  );
});

test("a key is read back from the PEM that was written for it", () => {
  const parsed = parsePrivatePem(privateText);
  assert.ok(parsed.value);
  assert.deepEqual(rawPublicKey(parsed.value), rawPublicKey(publicKey));
  assert.deepEqual(parsePublicPem(publicText).value, rawPublicKey(publicKey));
  const raw = Buffer.from(rawPublicKey(publicKey)).toString("base64url");
  assert.deepEqual(parseRawPublicKey(raw).value, rawPublicKey(publicKey));
});

test("line ends and whitespace around a PEM change neither the key nor its id", () => {
  const expected = kidOf(nodeCrypto, rawPublicKey(publicKey));
  for (const text of [
    publicText.replaceAll("\n", "\r\n"),
    publicText.trimEnd(),
    `\n\n${publicText}\n\n`,
  ]) {
    const { value } = parsePublicPem(text);
    assert.ok(value);
    assert.equal(kidOf(nodeCrypto, value), expected);
  }
});

test("every other kind of private key is refused, with the reason", () => {
  const rsa = generateKeyPairSync("rsa", { modulusLength: 2048 }).privateKey;
  const ec = generateKeyPairSync("ec", { namedCurve: "P-256" }).privateKey;
  const encrypted = privateKey.export({
    format: "pem",
    type: "pkcs8",
    cipher: "aes-256-cbc",
    passphrase: "secret",
  }) as string;
  const refusals: readonly [string, RegExp][] = [
    [pkcs8(rsa), /key for rsa, not Ed25519/],
    [rsa.export({ format: "pem", type: "pkcs1" }) as string, /RSA key, not Ed25519/],
    [pkcs8(ec), /key for ec, not Ed25519/],
    [ec.export({ format: "pem", type: "sec1" }) as string, /another curve/],
    [pkcs8(generateKeyPairSync("ed448").privateKey), /key for ed448/],
    [pkcs8(generateKeyPairSync("x25519").privateKey), /key for x25519/],
    [encrypted, /encrypted; decrypt it first/],
    [privateText.replaceAll("PRIVATE KEY", "OPENSSH PRIVATE KEY"), /OpenSSH/],
    [privateText.replaceAll("PRIVATE KEY", "CERTIFICATE"), /certificate/],
    [privateText.replaceAll("PRIVATE KEY", "SOMETHING"), /another kind/],
    [publicText, /it is a public key/],
    [privateText + publicText, /not one PEM block/],
    [privateText + privateText, /not one PEM block/],
    [`# my key\n${privateText}`, /not one PEM block/],
    ["", /not one PEM block/],
    [privateText.replace(/MC\w/, "AAA"), /OpenSSL cannot read it/],
  ];
  for (const [text, reason] of refusals) {
    const { value, fault } = parsePrivatePem(text);
    assert.equal(value, null);
    assert.match(fault ?? "", reason);
  }
});

test("every other kind of public key is refused, with the reason", () => {
  const small = Buffer.alloc(32);
  const notCanonical = Buffer.alloc(32, 0xff);
  const x25519 = generateKeyPairSync("x25519").publicKey;
  const refusals: readonly [string, RegExp][] = [
    [publicKeyPem(small), /small order/],
    [publicKeyPem(notCanonical), /not below the prime/],
    [x25519.export({ format: "pem", type: "spki" }) as string, /key for x25519/],
    [privateText, /private key; give the public one/],
    [publicText + publicText, /not one PEM block/],
  ];
  for (const [text, reason] of refusals) {
    const { value, fault } = parsePublicPem(text);
    assert.equal(value, null);
    assert.match(fault ?? "", reason);
  }
});

test("a raw key is accepted only in canonical form and with the right length", () => {
  const raw = Buffer.from(rawPublicKey(publicKey)).toString("base64url");
  const last = raw.at(-1) ?? "";
  const alphabet = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_";
  const next = alphabet[alphabet.indexOf(last) + 1] ?? ""; // A lax decoder gives the same bytes.
  assert.deepEqual(
    Buffer.from(raw.slice(0, -1) + next, "base64url"),
    Buffer.from(raw, "base64url"),
  );
  for (const text of [raw.slice(0, -1) + next, `${raw}=`, `${raw}A`, raw.slice(1), `${raw} `, ""]) {
    assert.equal(parseRawPublicKey(text).value, null, text);
  }
  assert.match(parseRawPublicKey("A".repeat(43)).fault ?? "", /small order/);
});

test("a PEM cut anywhere, or with a byte changed, is refused or is still the same kind of key", () => {
  for (let cut = 0; cut < privateText.length - 1; cut++) {
    assert.equal(parsePrivatePem(privateText.slice(0, cut)).value, null, `cut at ${cut}`);
  }
  for (let cut = 0; cut < publicText.length - 1; cut++) {
    assert.equal(parsePublicPem(publicText.slice(0, cut)).value, null, `cut at ${cut}`);
  }
  for (let at = 0; at < privateText.length; at++) {
    const changed = `${privateText.slice(0, at)}!${privateText.slice(at + 1)}`;
    const { value } = parsePrivatePem(changed);
    assert.ok(value === null || value.asymmetricKeyType === "ed25519");
  }
});

test("no text makes parsing throw, and no reason quotes the text", () => {
  const label = fc.constantFrom("PRIVATE KEY", "PUBLIC KEY", "X", "RSA PRIVATE KEY");
  const body = fc.base64String({ maxLength: 100 });
  const block = fc
    .tuple(label, body)
    .map(([kind, text]) => `-----BEGIN ${kind}-----\n${text}\n-----END ${kind}-----\n`);
  fc.assert(
    fc.property(fc.oneof(fc.string({ minLength: 20 }), block), (text) => {
      const [inside = ""] = /[A-Za-z0-9+/]{12,}/.exec(text) ?? [];
      for (const { fault } of [
        parsePrivatePem(text),
        parsePublicPem(text),
        parseRawPublicKey(text),
      ]) {
        if (inside !== "") assert.ok(!fault?.includes(inside));
      }
    }),
    { numRuns: 1000 },
  );
});
