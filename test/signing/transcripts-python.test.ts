/**
 * Signed transcripts, verified by two programs that share no code with ours: a verifier written from
 * the seed's text, and one that computes everything again from the format's documentation.
 */

import assert from "node:assert/strict";
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { test } from "vitest";
import type { NewEntry } from "../../src/model/entry.ts";
import { fromHex, toHex } from "../../src/proof/bytes.ts";
import { readCheckpoint } from "../../src/proof/checkpoint.ts";
import { findParts, LeafHasher } from "../../src/proof/leaf.ts";
import { nodeCrypto } from "../../src/signing/keys/node-crypto.ts";
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

for (const [name, shape] of Object.entries(SHAPES)) {
  for (const [way, options] of WAYS) {
    test.skipIf(!hasCryptography)(
      `Python computes every checkpoint of ours the same (${name}, ${way})`,
      async () => {
        const user = new SigningUser();
        const written = await user.write(shape, entries(8), options);
        const report = await user.verify(written);
        assert.equal(report.verdict, "verified");
        const sidecar = shape.dialect === "homeagent" ? written.sidecarPath : null;
        const question = { log: written.path, sidecar };
        const [answer] = runPython("recompute.py", [publicPem(user)], [question]) as [Recomputed];
        assert.deepEqual(answer.wrong, []);
        assert.equal(answer.checkpoints, report.checkpoints.total);
        assert.ok(answer.checkpoints >= 8);
        assert.equal(answer.withheld[1], withheldHash(written, answer.withheld[0]));
      },
    );

    test.skipIf(!hasCryptography || shape.dialect === "homeagent")(
      `a verifier written from the seed accepts our files, and each checkpoint (${name}, ${way})`,
      async () => {
        const user = new SigningUser();
        const written = await user.write(shape, entries(8), options);
        const { checkpoints } = await user.verify(written);
        const answers = runPython("seed_verify.py", [publicPem(user)], [written.path]);
        assert.deepEqual(answers, [{ valid: true, checkpoints: checkpoints.total }]);
      },
    );
  }
}

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
