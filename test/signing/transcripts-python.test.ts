/**
 * Signed transcripts, verified by two programs that share no code with ours: a verifier written from
 * the seed's text, and one that computes everything again from the format's documentation.
 */

import assert from "node:assert/strict";
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { test } from "vitest";
import type { NewEntry } from "../../src/core/model/entry.ts";
import { nodeCrypto } from "../../src/trust/keys/node-crypto.ts";
import { fromHex, toHex } from "../../src/trust/proof/bytes.ts";
import { readCheckpoint } from "../../src/trust/proof/checkpoint.ts";
import { findParts, LeafHasher } from "../../src/trust/proof/leaf.ts";
import { answered, SHAPES, SigningUser, said, type Written } from "../support/signing-user.ts";
import { hasCryptography, runPython } from "./python.ts";

const LONG = 'he said "so\\\\", and more: \\u00e9 \\ud83d\\ude00 '.repeat(20);

/**
 * Turns with everything that makes a line hard to hash: quotes, backslashes, long and short
 * strings.
 */
function entries(turns: number): NewEntry[] {
  return Array.from({ length: turns }, (_, n): NewEntry[] => [
    { kind: "turn_start" },
    said(`${n} "quoted" \\ back\\\\slash \\" é 😀`),
    answered(n % 2 === 0 ? LONG + n : `short ${n}`),
  ]).flat();
}

const WAYS = [
  ["a checkpoint a turn", {}],
  ["a checkpoint an append", { sign: "append" }],
  ["shared", { mode: "shared" }],
] as const;

function publicPem({ places }: SigningUser): string {
  return join(places.keyDirectory, "public_key.pem");
}

interface Recomputed {
  readonly checkpoints: number;
  readonly wrong: readonly unknown[];
  readonly withheld: readonly [number, string];
}

interface Case {
  readonly name: string;
  readonly written: Written;
  /** Checkpoints, as our own verifier counts them. */
  readonly total: number;
}

/** All ways to sign, for one Python: starting it takes longer than what it computes. */
async function writeAll(user: SigningUser): Promise<Case[]> {
  const cases: Case[] = [];
  for (const [name, shape] of Object.entries(SHAPES)) {
    for (const [way, options] of WAYS) {
      const written = await user.write(shape, entries(8), options);
      const { verdict, checkpoints } = await user.verify(written);
      assert.equal(verdict, "verified", `${name}, ${way}`);
      cases.push({ name: `${name}, ${way}`, written, total: checkpoints.total });
    }
  }
  return cases;
}

const hasOwnSidecar = ({ written: { target } }: Case) => target.dialect === "homeagent";

test.skipIf(!hasCryptography)("Python computes every checkpoint of ours the same", async () => {
  const user = new SigningUser();
  const cases = await writeAll(user);
  const questions = cases.map((each) => ({
    log: each.written.path,
    sidecar: hasOwnSidecar(each) ? each.written.sidecarPath : null,
  }));
  const answers = runPython("recompute.py", [publicPem(user)], questions) as Recomputed[];
  assert.equal(answers.length, 12);
  for (const [at, { name, written, total }] of cases.entries()) {
    const answer = answers[at] ?? assert.fail(name);
    assert.deepEqual(answer.wrong, [], name);
    assert.equal(answer.checkpoints, total, name);
    assert.ok(answer.checkpoints >= 8, name);
    assert.equal(answer.withheld[1], withheldHash(written, answer.withheld[0]), name);
  }
});

test.skipIf(!hasCryptography)(
  "a verifier written from the seed accepts our files, and each checkpoint",
  async () => {
    const user = new SigningUser();
    const inLog = (await writeAll(user)).filter((each) => !hasOwnSidecar(each));
    const paths = inLog.map(({ written }) => written.path);
    const answers = runPython("seed_verify.py", [publicPem(user)], paths);
    assert.equal(answers.length, 9);
    assert.deepEqual(
      answers.map((answer, at) => [inLog[at]?.name, answer]),
      inLog.map(({ name, total }) => [name, { valid: true, checkpoints: total }]),
    );
  },
);

/** The hash that replaces the first long string of a line, by our own code. */
function withheldHash({ path, sidecarPath, target }: Written, index: number): string {
  const linesOf = (file: string) => readFileSync(file, "latin1").split("\n").slice(0, -1);
  const hasSidecar = target.dialect === "homeagent";
  const envelopes = ["rye", "entire", "sidecar"] as const;
  for (const text of linesOf(hasSidecar ? sidecarPath : path)) {
    const line = Buffer.from(text, "latin1");
    const found = envelopes.map((name) => readCheckpoint(line, name)).find((each) => each);
    if (found?.kind !== "genesis") continue;
    const hasher = new LeafHasher(nodeCrypto, fromHex(found.salt), found.parts);
    const whole = Buffer.from(linesOf(path)[index] ?? "", "latin1");
    const [part] = findParts(whole, found.parts);
    assert.ok(part);
    const contents = whole.subarray(part.at, part.at + part.length);
    return toHex(hasher.partHash(contents, hasher.salts(index, 2).subarray(16)));
  }
  assert.fail("no genesis");
}
