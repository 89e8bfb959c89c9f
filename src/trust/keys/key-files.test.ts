import assert from "node:assert/strict";
import { generateKeyPairSync, type KeyObject } from "node:crypto";
import { writeFileSync } from "node:fs";
import { basename, join } from "node:path";
import { test } from "vitest";
import { thrownRefusal } from "../../../test/support/refusal.ts";
import { tempDirectory } from "../../../test/support/temp-directory.ts";
import { readUserFile } from "../../core/base/node-user-files.ts";
import { publicKeyPem } from "../proof/ed25519-keys.ts";
import { PRIVATE_NAME, PUBLIC_NAME, readKeyPair, readPublicKeyFile } from "./key-files.ts";
import { PEM_BYTES_MAX, privateKeyPem, rawPublicKey } from "./pem.ts";

function put(directory: string, privateKey: KeyObject): void {
  const options = { mode: 0o600 };
  writeFileSync(join(directory, PRIVATE_NAME), privateKeyPem(privateKey), options);
  writeFileSync(join(directory, PUBLIC_NAME), publicKeyPem(rawPublicKey(privateKey)), options);
}

test("a pair that is replaced while its files are read is read again, not refused", () => {
  const directory = tempDirectory();
  const [old, young] = [0, 1].map(() => generateKeyPairSync("ed25519").privateKey);
  assert.ok(old && young);
  put(directory, old);
  let hasRotated = false;
  const pair = readKeyPair(directory, (path, rules) => {
    if (basename(path) === PUBLIC_NAME && !hasRotated) {
      hasRotated = true;
      put(directory, young);
    }
    return readUserFile(path, rules);
  });
  assert.deepEqual(pair?.publicKey, rawPublicKey(young));
  assert.ok(hasRotated);
});

test("a pair that is created while its files are read is read whole", () => {
  const directory = tempDirectory();
  const { privateKey } = generateKeyPairSync("ed25519");
  let isMade = false;
  const pair = readKeyPair(directory, (path, rules) => {
    if (basename(path) === PUBLIC_NAME && !isMade) {
      isMade = true;
      put(directory, privateKey);
    }
    return readUserFile(path, rules);
  });
  assert.deepEqual(pair?.publicKey, rawPublicKey(privateKey));
  assert.ok(pair?.privateKey);
});

test("a public key that permanently contradicts the private one is refused", () => {
  const directory = tempDirectory();
  const [one, other] = [0, 1].map(() => generateKeyPairSync("ed25519").privateKey);
  assert.ok(one && other);
  put(directory, one);
  writeFileSync(join(directory, PUBLIC_NAME), publicKeyPem(rawPublicKey(other)));
  const { details } = thrownRefusal(() => readKeyPair(directory), "KEY_REFUSED");
  assert.equal(details.path, join(directory, PUBLIC_NAME));
});

test("a PEM may be as long as its limit, and not a byte longer", () => {
  const path = join(tempDirectory(), "key.pem");
  const raw = rawPublicKey(generateKeyPairSync("ed25519").publicKey);
  writeFileSync(path, publicKeyPem(raw).padEnd(PEM_BYTES_MAX));
  assert.deepEqual(readPublicKeyFile(path), raw);
  writeFileSync(path, publicKeyPem(raw).padEnd(PEM_BYTES_MAX + 1));
  assert.match(thrownRefusal(() => readPublicKeyFile(path), "KEY_REFUSED").message, /larger than/);
});
