/**
 * What a proof must not hold: salts of anything that it does not show, and anything that confirms a
 * guess. VERBATIM_DEEP=1 tries all guesses of five digits; an ordinary run some.
 */

import assert from "node:assert/strict";
import { createHash, createPublicKey, verify } from "node:crypto";
import { existsSync, readFileSync } from "node:fs";
import { test } from "vitest";
import { nodeHost } from "../../src/core/base/node-host.ts";
import { loadSigner } from "../../src/trust/keys/keys.ts";
import { nodeCrypto } from "../../src/trust/keys/node-crypto.ts";
import { fromHex } from "../../src/trust/proof/bytes.ts";
import { publicKeyPem } from "../../src/trust/proof/ed25519-keys.ts";
import { findParts, LeafHasher } from "../../src/trust/proof/leaf.ts";
import { SECRET, SHORT } from "../support/disclosing.ts";
import { linesIn, prove } from "../support/proving.ts";
import { runs, seed } from "../support/seed.ts";
import { ALL_SHAPES, SigningUser, said, turnOf, type Written } from "../support/signing-user.ts";

const SHAPES = Object.entries(ALL_SHAPES);
/** The secret comes first, so that the `hash` of genesis is of little else. */
const ENTRIES = [said(SECRET), said(SHORT), ...turnOf("good morning"), ...turnOf("good night")];

function genesisOf({ path, sidecarPath }: Written) {
  const text = readFileSync(existsSync(sidecarPath) ? sidecarPath : path, "utf8");
  const [line = ""] = text.split("\n").filter((each) => each.includes('"kind":"genesis"'));
  return JSON.parse(line).payload as {
    salt: string;
    hash: string;
    sig: string;
    sig2: string;
    byte_offset: number;
  };
}

test.each(SHAPES)("no salt of anything that is not shown is in a proof (%s)", async (_n, shape) => {
  const user = new SigningUser();
  const written = await user.write(shape, ENTRIES);
  const genesis = genesisOf(written);
  const hasher = new LeafHasher(nodeCrypto, fromHex(genesis.salt), 64);
  const lines = readFileSync(written.path, "latin1").split("\n").slice(0, -1);
  for (const { number } of linesIn(readFileSync(written.path))) {
    const bytes = Buffer.from((await prove(user, written.target, [number])).bytes);
    const isIn = (secret: Uint8Array) => {
      const one = Buffer.from(secret);
      return (
        bytes.includes(one) ||
        ["hex", "base64url"].some((as) => bytes.includes(one.toString(as as "hex")))
      );
    };
    let [hidden, shown] = [0, 0];
    for (const [index, text] of lines.entries()) {
      const line = Buffer.from(text, "latin1");
      const parts = findParts(line, 64);
      const salts = hasher.salts(index, parts.length + 1).slice();
      const isGenesis = text.includes('"kind":"genesis"');
      for (let n = 0; n <= parts.length; n++) {
        const at = parts[n - 1]?.at ?? 0;
        const isSecret = n > 0 && /"(hash|sig|salt|sig2)":"$/.test(text.slice(0, at));
        const isShown = index === number - 1 || (isGenesis && !isSecret);
        const salt = salts.subarray(16 * n, 16 * n + 16);
        if (isShown) shown += isIn(salt) || isIn(hasher.salts(index, parts.length + 1)) ? 1 : 0;
        else {
          assert.ok(!isIn(salt), `line ${index + 1}, salt ${n}`);
          hidden++;
        }
      }
    }
    assert.ok(hidden > 2 && shown > 0);
    for (const secret of [genesis.salt, genesis.hash, genesis.sig, genesis.sig2]) {
      assert.ok(secret.length >= 64 && !bytes.includes(secret));
    }
    assert.ok(!isIn(fromHex(genesis.salt)));
  }
});

/** All that an attacker with a guess can compute, without the salts of what is not shown. */
function* computable(texts: readonly string[], salts: readonly Buffer[]): Generator<Buffer> {
  const sha = (...parts: readonly (string | Buffer)[]) => {
    const hash = createHash("sha256");
    for (const part of parts) hash.update(part);
    return hash.digest();
  };
  const [tag, leaf, none] = [Buffer.of(2), Buffer.of(0), Buffer.alloc(4)];
  for (const text of texts) {
    for (const known of [text, `${text}\n`]) {
      yield sha(known);
      yield sha(tag, known);
      yield sha(leaf, known);
    }
    for (const salt of [Buffer.alloc(16), ...salts]) {
      yield sha(tag, salt, text);
      yield sha(leaf, salt, none, text);
    }
  }
}

test.each(SHAPES)("no guess matches a hash or a signature of a proof (%s)", async (name, shape) => {
  const user = new SigningUser();
  const written = await user.write(shape, ENTRIES);
  const { publicKey } = await loadSigner(nodeHost, user.places);
  const log = readFileSync(written.path, "utf8");
  const lines = linesIn(readFileSync(written.path));
  const [hidden] = lines.filter(({ text }) => text.includes("48213"));
  // Next to the secret: its leaf is on the path.
  const shown = lines.find(({ text }) => text.includes("90417"))?.number ?? 0;
  const proof = Buffer.from((await prove(user, written.target, [shown])).bytes).toString("latin1");
  const before = log.slice(0, genesisOf(written).byte_offset);
  const guessOf = (digits: string) =>
    [SECRET, hidden?.text ?? "", before].map((text) => text.replaceAll("48213", digits));
  const left = new Set(proof.match(/[0-9a-f]{64}/g));
  for (const path of proof.match(/(?<="path":")[^"]+/g) ?? []) {
    for (const hash of path.split(" ")) left.add(Buffer.from(hash, "base64url").toString("hex"));
  }
  const salts = [...proof.matchAll(/"(?:line|genesis)":"([\w-]+)"/g)].flatMap(([, text = ""]) => {
    const bytes = Buffer.from(text, "base64url");
    return Array.from({ length: bytes.length / 16 }, (_, n) => bytes.subarray(16 * n, 16 * n + 16));
  });
  assert.ok(left.size > 5 && salts.length > 0);
  const tries = name === "rye-flat" ? runs(3000) : 100;
  for (let n = 0; n < tries; n++) {
    const digits = n === 0 ? "48213" : String((n * 7919 + seed) % 100_000).padStart(5, "0");
    for (const hash of computable(guessOf(digits), salts)) {
      assert.ok(!left.has(hash.toString("hex")), digits);
    }
  }
  const key = createPublicKey(publicKeyPem(publicKey));
  const sigs = proof.match(/(?<="sig":")[\w-]{86}/g) ?? [];
  for (const hash of computable(guessOf("48213"), salts)) {
    for (const sig of sigs) {
      const message = Buffer.from(hash.toString("hex"));
      assert.ok(!verify(null, message, key, Buffer.from(sig, "base64url")));
    }
  }
});
