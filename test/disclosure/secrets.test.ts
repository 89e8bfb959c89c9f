/**
 * What a copy must not hold: salts of what is withheld, and anything that confirms a guess.
 * VERBATIM_DEEP=1 tries all guesses of five digits; an ordinary run some, and always the true one.
 */

import assert from "node:assert/strict";
import { createHash, createPublicKey, verify } from "node:crypto";
import { existsSync, readFileSync } from "node:fs";
import { test } from "vitest";
import { nodeHost } from "../../src/core/base/node-host.ts";
import { loadSigner } from "../../src/trust/keys/keys.ts";
import { nodeCrypto } from "../../src/trust/keys/node-crypto.ts";
import { fromHex, toHex } from "../../src/trust/proof/bytes.ts";
import { readRecord } from "../../src/trust/proof/disclosure/records.ts";
import { publicKeyPem } from "../../src/trust/proof/ed25519-keys.ts";
import { findParts, LeafHasher } from "../../src/trust/proof/leaf.ts";
import { disclose, SECRET, SHORT } from "../support/disclosing.ts";
import { isTried } from "../support/seed.ts";
import { ALL_SHAPES, SigningUser, said, turnOf, type Written } from "../support/signing-user.ts";

const SHAPES = Object.entries(ALL_SHAPES);
/** The secret comes first, so that the `hash` of genesis is of little else. */
const ENTRIES = [said(SECRET), said(SHORT), ...turnOf("good morning"), ...turnOf("good night")];

interface Checkpoint {
  readonly hash: string;
  readonly sig: string;
  readonly salt?: string;
  readonly byte_offset: number;
}

function checkpointsOf({ path, sidecarPath }: Written): Checkpoint[] {
  const file = existsSync(sidecarPath) ? sidecarPath : path;
  const lines = readFileSync(file, "utf8").trimEnd().split("\n");
  return lines.filter((line) => line.includes('"sig2"')).map((line) => JSON.parse(line).payload);
}

/** Every 16 bytes of the copy that are a salt. */
function saltsIn(copy: Buffer): Buffer[] {
  const salts: Buffer[] = [];
  for (const line of copy.toString("latin1").split("\n")) {
    const record = readRecord(Buffer.from(line, "latin1"));
    const bytes = record && "salts" in record ? record.salts : new Uint8Array(0);
    for (let at = 0; at < bytes.length; at += 16)
      salts.push(Buffer.from(bytes.subarray(at, at + 16)));
  }
  return salts;
}

test.each(SHAPES)(
  "no salt of anything withheld is in a copy, nor the log's (%s)",
  async (_n, shape) => {
    const user = new SigningUser();
    const written = await user.write(shape, ENTRIES);
    const { bytes } = await disclose(user, written.target, { entries: [5], hasMasks: true });
    const [genesis] = checkpointsOf(written);
    const salt = fromHex(genesis?.salt ?? "");
    const shown = new Set(saltsIn(bytes).map((each) => each.toString("hex")));
    const hasher = new LeafHasher(nodeCrypto, salt, 64);
    const lines = readFileSync(written.path, "latin1").split("\n").slice(0, -1);
    let withheld = 0;
    const refuse = (salts: Uint8Array, n: number) => {
      withheld++;
      const one = Buffer.from(salts.subarray(16 * n, 16 * n + 16));
      assert.ok(!shown.has(one.toString("hex")) && !bytes.includes(one));
      assert.ok(!bytes.includes(one.toString("hex")) && !bytes.includes(one.toString("base64url")));
    };
    for (const [index, text] of lines.entries()) {
      const line = Buffer.from(text, "latin1");
      const parts = findParts(line, 64);
      const salts = hasher.salts(index, parts.length + 1);
      const isGenesis = text.includes('"kind":"genesis"');
      if (index === 4 || text.includes("90417")) refuse(salts, 0);
      for (const [n, { at, length }] of parts.entries()) {
        const contents = text.slice(at, at + length);
        const isSecret = isGenesis && /"(hash|sig|salt|sig2)":"$/.test(text.slice(0, at));
        if (contents.includes("48213") || isSecret) refuse(salts, n + 1);
      }
    }
    assert.ok(withheld >= 3);
    const secrets = [genesis?.salt ?? "", genesis?.hash ?? "", genesis?.sig ?? "", toHex(salt)];
    for (const secret of secrets) assert.ok(secret.length >= 64 && !bytes.includes(secret));
    assert.ok(
      !bytes.includes(Buffer.from(salt)) &&
        !bytes.includes(Buffer.from(salt).toString("base64url")),
    );
  },
);

/** All that an attacker with a guess can compute, without the salts that are withheld. */
function* computable(guess: Guess, salts: readonly Buffer[]): Generator<string> {
  const sha = (...parts: readonly (string | Buffer)[]) => {
    const hash = createHash("sha256");
    for (const part of parts) hash.update(part);
    return hash.digest("hex");
  };
  const { contents, line, before } = guess;
  const [tag, leaf] = [Buffer.of(2), Buffer.concat([Buffer.of(0)])];
  for (const known of [contents, line, `${line}\n`, before, `${before}\n`]) {
    yield sha(known);
    yield sha(tag, known);
    yield sha(leaf, known);
    yield sha(leaf, Buffer.alloc(16), Buffer.alloc(4), known);
  }
  for (const salt of salts) {
    yield sha(tag, salt, contents);
    yield sha(leaf, salt, Buffer.alloc(4), line);
  }
}

interface Guess {
  readonly contents: string;
  readonly line: string;
  /** The log up to its first checkpoint. */
  readonly before: string;
}

test.each(SHAPES)(
  "no guess of five digits matches a hash or a signature that is left (%s)",
  async (name, shape) => {
    const user = new SigningUser();
    const written = await user.write(shape, ENTRIES);
    const { publicKey } = await loadSigner(nodeHost, user.places);
    const { bytes } = await disclose(user, written.target);
    const log = readFileSync(written.path, "utf8");
    const [genesis] = checkpointsOf(written);
    const [line = ""] = log.split("\n").filter((each) => each.includes("48213"));
    const before = log.slice(0, genesis?.byte_offset);
    const guessOf = (digits: string): Guess => {
      const swap = (text: string) => text.replaceAll("48213", digits);
      return { contents: swap(SECRET), line: swap(line), before: swap(before) };
    };
    const left = new Set(bytes.toString("latin1").match(/[0-9a-f]{64}/g));
    const salts = saltsIn(bytes);
    assert.ok(left.size > 10 && salts.length > 3);
    for (let n = 0; n < 100_000; n++) {
      const digits = String(n).padStart(5, "0");
      if (digits !== "48213" && !(name === "rye-flat" && isTried(n, 100))) continue;
      for (const hash of computable(guessOf(digits), salts)) assert.ok(!left.has(hash), digits);
    }
    // Signatures over hashes confirm a guess, too.
    const key = createPublicKey(publicKeyPem(publicKey));
    const sigs = bytes.toString("latin1").match(/(?<="sig":")[\w-]{86}/g) ?? [];
    const confirms = (hash: string, sig: string) =>
      verify(null, Buffer.from(hash), key, Buffer.from(sig, "base64url"));
    assert.ok(sigs.length > 1);
    for (const hash of computable(guessOf("48213"), salts)) {
      for (const sig of sigs) assert.ok(!confirms(hash, sig));
    }
    // In a log, the first checkpoint alone would have confirmed it: this attack is a real one.
    if (!name.startsWith("rye") && name !== "entire") return;
    const own = [...computable(guessOf("48213"), [])];
    assert.ok(own.includes(genesis?.hash ?? ""));
    assert.ok(own.some((hash) => confirms(hash, genesis?.sig.slice(0, 86) ?? "")));
    assert.ok(![...computable(guessOf("48214"), [])].includes(genesis?.hash ?? ""));
  },
);
