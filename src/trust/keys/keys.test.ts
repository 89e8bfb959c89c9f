/** The user's own keys, on a real disk. */

import assert from "node:assert/strict";
import { generateKeyPairSync } from "node:crypto";
import {
  chmodSync,
  cpSync,
  existsSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  renameSync,
  rmSync,
  statSync,
  symlinkSync,
  writeFileSync,
} from "node:fs";
import { join } from "node:path";
import { test } from "vitest";
import { errno, refusal } from "../../../test/support/refusal.ts";
import { tempDirectory } from "../../../test/support/temp-directory.ts";
import { WatchedFiles } from "../../../test/support/watched-files.ts";
import { nodeHost } from "../../core/base/node-host.ts";
import { publicKeyPem } from "../proof/ed25519-keys.ts";
import { revokeTrust } from "../trusted-keys/trust.ts";
import { CurrentKeys } from "./current-keys.ts";
import { importKey, loadOwnKeys, loadSigner, makeFirstKey, rotateKey } from "./keys.ts";
import { nodeCrypto } from "./node-crypto.ts";
import { privateKeyPem } from "./pem.ts";

function newPlaces() {
  const home = tempDirectory();
  return { keyDirectory: join(home, "config/keys"), trustPath: join(home, "config/trust.json") };
}

type Places = ReturnType<typeof newPlaces>;

async function statesOf(places: Places): Promise<[string, string][]> {
  return (await loadOwnKeys(places)).map(({ kid, state }) => [kid, state]);
}

function modeOf(path: string): string {
  return (statSync(path).mode & 0o777).toString(8);
}

test("looking for keys creates neither a key nor a directory", async () => {
  const places = newPlaces();
  assert.deepEqual(await loadOwnKeys(places), []);
  assert.ok(!existsSync(join(places.keyDirectory, "..")));
});

test("the first signing creates a key, which the next one finds and which verifies", async () => {
  const places = newPlaces();
  const signer = await loadSigner(nodeHost, places);
  const message = Buffer.from("a head");
  const signature = await signer.sign(message);
  const again = await loadSigner(nodeHost, places);
  assert.equal(again.kid, signer.kid);
  assert.deepEqual(await again.sign(message), signature, "Ed25519 is deterministic");
  assert.ok(nodeCrypto.verifyEd25519(signer.publicKey, message, signature));
  assert.equal(signature.length, 64);
});

test("keys are two PEM files, 0600 in a 0700 directory", async () => {
  const places = newPlaces();
  const { publicKey } = await loadSigner(nodeHost, places);
  await rotateKey(nodeHost, places);
  const { keyDirectory } = places;
  const [retired = ""] = readdirSync(join(keyDirectory, "retired"));
  for (const directory of [keyDirectory, join(keyDirectory, "retired", retired)]) {
    assert.equal(modeOf(directory), "700");
    for (const name of ["private_key.pem", "public_key.pem"]) {
      assert.equal(modeOf(join(directory, name)), "600");
    }
  }
  assert.equal(
    readFileSync(join(keyDirectory, "retired", retired, "public_key.pem"), "utf8"),
    publicKeyPem(publicKey),
  );
  assert.match(
    readFileSync(join(keyDirectory, "private_key.pem"), "utf8"),
    /^-----BEGIN PRIVATE KEY-----\n/,
  );
});

test("concurrent creators of the first key all end up with the same one", async () => {
  const places = newPlaces();
  const made = await Promise.all(Array.from({ length: 8 }, () => makeFirstKey(nodeHost, places)));
  assert.equal(new Set(made.map(({ key }) => key.kid)).size, 1);
  assert.equal(made.filter(({ isNew }) => isNew).length, 1);
  assert.deepEqual(await statesOf(places), [[made[0]?.key.kid, "current"]]);
});

test("rotating retires the current key, which can still sign if necessary", async () => {
  const places = newPlaces();
  await assert.rejects(rotateKey(nodeHost, places), { code: "KEY_NOT_FOUND" });
  const first = await loadSigner(nodeHost, places);
  const { key: second, retired } = await rotateKey(nodeHost, places);
  assert.equal(retired.kid, first.kid);
  assert.equal((await loadSigner(nodeHost, places)).kid, second.kid);
  const { key: third } = await rotateKey(nodeHost, places);
  const others = [first.kid, second.kid].sort().map((kid) => [kid, "retired"]);
  assert.deepEqual(await statesOf(places), [[third.kid, "current"], ...others]);
  for (const { signer, publicKey } of await loadOwnKeys(places)) {
    const signature = await signer?.sign(Buffer.from("rotate"));
    assert.ok(signature && nodeCrypto.verifyEd25519(publicKey, Buffer.from("rotate"), signature));
  }
});

test("a rotation that fails at any disk call loses no key, and the next one succeeds", async () => {
  let failing = 0;
  for (let isOver = false; !isOver; failing++) {
    const places = newPlaces();
    const first = await loadSigner(nodeHost, places);
    const disk = new WatchedFiles();
    let made = 0;
    disk.before = ({ call }) => {
      if (call !== "close" && made++ === failing) throw errno("EIO");
      return undefined;
    };
    await rotateKey(disk.host, places).catch(() => {}); // Some failures change nothing.
    isOver = made <= failing;
    const kids = (await loadOwnKeys(places)).map(({ kid }) => kid);
    assert.ok(kids.includes(first.kid), `the key is lost by failing call ${failing}`);
    await loadSigner(nodeHost, places);
    const { key } = await rotateKey(nodeHost, places);
    const after = await statesOf(places);
    assert.deepEqual(after[0], [key.kid, "current"]);
    assert.ok(after.some(([kid]) => kid === first.kid));
  }
  assert.ok(failing > 15, `only ${failing} calls were made to fail`);
});

test("at every moment of a rotation, readers find the key that was current before", async () => {
  const places = newPlaces();
  const first = await loadSigner(nodeHost, places);
  const disk = new WatchedFiles();
  const seen: Promise<string[]>[] = [];
  disk.before = () => {
    seen.push(loadOwnKeys(places).then((keys) => keys.map(({ kid }) => kid)));
    return undefined;
  };
  await rotateKey(disk.host, places);
  const found = await Promise.all(seen);
  assert.ok(found.length > 15);
  for (const kids of found) assert.ok(kids.includes(first.kid));
  assert.ok(found.some((kids) => kids.length === 2));
});

test("a private key that others can read is refused, whatever the mode, and the error suggests chmod", async () => {
  const places = newPlaces();
  await loadSigner(nodeHost, places);
  const path = join(places.keyDirectory, "private_key.pem");
  for (let others = 1; others <= 0o77; others++) {
    chmodSync(path, 0o600 | others);
    for (const load of [() => loadSigner(nodeHost, places), () => loadOwnKeys(places)]) {
      const error = await refusal(load(), "KEY_REFUSED");
      assert.equal(error.details.path, path);
      assert.match(error.message, /chmod 600 /);
    }
  }
  chmodSync(path, 0o600);
  await loadSigner(nodeHost, places);
});

test("a retired private key that others can read is refused too", async () => {
  const places = newPlaces();
  const { kid } = await loadSigner(nodeHost, places);
  await rotateKey(nodeHost, places);
  chmodSync(join(places.keyDirectory, "retired", kid, "private_key.pem"), 0o640);
  await refusal(loadOwnKeys(places), "KEY_REFUSED");
});

test("a key directory that others can change is refused", async () => {
  const places = newPlaces();
  await loadSigner(nodeHost, places);
  chmodSync(places.keyDirectory, 0o770);
  await refusal(loadSigner(nodeHost, places), "KEY_REFUSED");
  await refusal(rotateKey(nodeHost, places), "KEY_REFUSED");
  chmodSync(places.keyDirectory, 0o755);
  await loadSigner(nodeHost, places);
});

test("a link in place of a key is refused, and left as it is", async () => {
  for (const name of ["private_key.pem", "public_key.pem"]) {
    const places = newPlaces();
    await loadSigner(nodeHost, places);
    const path = join(places.keyDirectory, name);
    renameSync(path, `${path}.real`);
    symlinkSync(`${path}.real`, path);
    const { message } = await refusal(loadSigner(nodeHost, places), "KEY_REFUSED");
    assert.match(message, /symbolic link/);
  }
});

test("a public key that belongs to another key is refused; a missing one is derived from the private key", async () => {
  const places = newPlaces();
  const { kid } = await loadSigner(nodeHost, places);
  const path = join(places.keyDirectory, "public_key.pem");
  rmSync(path);
  assert.equal((await loadSigner(nodeHost, places)).kid, kid);
  const other = await loadSigner(nodeHost, newPlaces());
  writeFileSync(path, publicKeyPem(other.publicKey), { mode: 0o600 });
  const { message } = await refusal(loadSigner(nodeHost, places), "KEY_REFUSED");
  assert.match(message, /not the public key of/);
});

test("a public key alone is not a current key, and is not overwritten by a new one", async () => {
  const places = newPlaces();
  await loadSigner(nodeHost, places);
  const path = join(places.keyDirectory, "public_key.pem");
  const text = readFileSync(path, "utf8");
  rmSync(join(places.keyDirectory, "private_key.pem"));
  const { message } = await refusal(loadSigner(nodeHost, places), "KEY_REFUSED");
  assert.match(message, /without its private key/);
  await refusal(makeFirstKey(nodeHost, places), "KEY_REFUSED");
  assert.equal(readFileSync(path, "utf8"), text);
});

test("a retired key may have only its public part, and then verifies but does not sign", async () => {
  const places = newPlaces();
  const { kid } = await loadSigner(nodeHost, places);
  await rotateKey(nodeHost, places);
  rmSync(join(places.keyDirectory, "retired", kid, "private_key.pem"));
  const retired = (await loadOwnKeys(places)).find((key) => key.kid === kid);
  assert.equal(retired?.state, "retired");
  assert.equal(retired?.signer, null);
});

test("a retired key under another's name is refused; other names and empty directories are ignored", async () => {
  const places = newPlaces();
  const { kid } = await loadSigner(nodeHost, places);
  await rotateKey(nodeHost, places);
  const retired = join(places.keyDirectory, "retired");
  mkdirSync(join(retired, "0".repeat(64))); // Left by a process that was killed before it wrote.
  writeFileSync(join(retired, "notes.txt"), "mine");
  assert.equal((await loadOwnKeys(places)).length, 2);
  cpSync(join(retired, kid), join(retired, "1".repeat(64)), { recursive: true });
  chmodSync(join(retired, "1".repeat(64), "private_key.pem"), 0o600);
  chmodSync(join(retired, "1".repeat(64), "public_key.pem"), 0o600);
  const { message } = await refusal(loadOwnKeys(places), "KEY_REFUSED");
  assert.match(message, /another key than its name says/);
});

test("keys of rye work when their files are copied in", async () => {
  const places = newPlaces();
  const { privateKey, publicKey } = generateKeyPairSync("ed25519");
  mkdirSync(places.keyDirectory, { recursive: true, mode: 0o700 });
  writeFileSync(join(places.keyDirectory, "private_key.pem"), privateKeyPem(privateKey), {
    mode: 0o600,
  });
  const publicText = publicKey.export({ format: "pem", type: "spki" });
  writeFileSync(join(places.keyDirectory, "public_key.pem"), publicText, { mode: 0o644 });
  const signer = await loadSigner(nodeHost, places);
  assert.equal(publicKeyPem(signer.publicKey), publicText);
});

test("an imported key becomes current or retired as requested, and importing twice changes nothing", async () => {
  const places = newPlaces();
  const [one, two] = [0, 1].map(() => generateKeyPairSync("ed25519").privateKey);
  assert.ok(one && two);
  const first = await importKey(nodeHost, places, one, "current");
  assert.deepEqual(await statesOf(places), [[first.kid, "current"]]);
  const second = await importKey(nodeHost, places, two, "retired");
  assert.deepEqual(await statesOf(places), [
    [first.kid, "current"],
    [second.kid, "retired"],
  ]);
  for (const state of ["current", "retired"] as const) {
    assert.equal((await importKey(nodeHost, places, one, state)).state, "current");
    assert.equal((await statesOf(places)).length, 2);
  }
  await importKey(nodeHost, places, two, "current");
  assert.deepEqual(await statesOf(places), [
    [second.kid, "current"],
    [first.kid, "retired"],
  ]);
});

test("a revoked key does not sign until it is rotated", async () => {
  const places = newPlaces();
  const { kid } = await loadSigner(nodeHost, places);
  await revokeTrust(nodeHost, places, { kid, reason: "stolen" }, Date.now());
  const { message } = await refusal(loadSigner(nodeHost, places), "KEY_REFUSED");
  assert.match(message, /revoked.*verbatim keys rotate/);
  const { key } = await rotateKey(nodeHost, places);
  assert.equal((await loadSigner(nodeHost, places)).kid, key.kid);
});

test("current keys are read again when a key or the trust changes, or changed just now", async () => {
  const places = newPlaces();
  const signer = await loadSigner(nodeHost, places);
  const later = new CurrentKeys(places, signer, () => Date.now() + 60_000);
  const first = await later.read();
  assert.equal(await later.read(), first);

  const { key } = await rotateKey(nodeHost, places);
  const rotated = await later.read();
  assert.equal(rotated.own.current.kid, key.kid);
  assert.deepEqual([...rotated.own.signers.keys()].sort(), [key.kid, signer.kid].sort());
  await revokeTrust(nodeHost, places, { kid: signer.kid }, Date.now());
  const revoked = await later.read();
  assert.deepEqual([...revoked.own.signers.keys()], [key.kid]);
  assert.equal(await later.read(), revoked);

  const now = new CurrentKeys(places, signer);
  assert.notEqual(await now.read(), await now.read());
});
