import assert from "node:assert/strict";
import { createHash, generateKeyPairSync, sign } from "node:crypto";
import fc from "fast-check";
import { test } from "vitest";
import type { Signer } from "../keys/keys.ts";
import { nodeCrypto } from "../keys/node-crypto.ts";
import { rawPublicKey } from "../keys/pem.ts";
import { LogSigner } from "./log-signer.ts";
import { nothingSigned } from "./signer-state.ts";

const { privateKey, publicKey } = generateKeyPairSync("ed25519");
const raw = rawPublicKey(publicKey);
const signer: Signer = {
  publicKey: raw,
  kid: createHash("sha256").update(raw).digest("hex"),
  fp: "0".repeat(16),
  sign: async (message) => new Uint8Array(sign(null, message, privateKey)),
};
const WHEN = { turn: 1, rev: 0 };
const OPENING = '{"type":"checkpoint",';

const anySteps = fc.array(
  fc.oneof(
    fc.constant("looked at" as const),
    fc.constant("checkpoint" as const),
    fc.stringMatching(/^[^\n]*$/).map((text) => ({ line: Buffer.from(`${text}\n`) })),
  ),
  { maxLength: 12 },
);

test.for([false, true])(
  "a draft changes nothing until committed; committing has the effect of each step in turn (sidecar: %s)",
  async (isSidecar) => {
    await fc.assert(
      fc.asyncProperty(anySteps, fc.boolean(), async (steps, isCommitted) => {
        const [drafted, stepwise] = [begun(isSidecar), begun(isSidecar)];
        const before = await saysOf(drafted);
        const draft = drafted.draft();
        for (const step of steps) {
          if (step === "looked at") assert.equal(await saysOf(draft), await saysOf(stepwise));
          else await Promise.all([take(draft, step), takeAndCommit(stepwise, step)]);
          assert.equal(draft.bytes, stepwise.bytes);
          assert.equal(await saysOf(drafted), before);
        }
        if (isCommitted) draft.commit();
        const expected = isCommitted ? await saysOf(stepwise) : before;
        assert.equal(await saysOf(drafted), expected);
      }),
      { numRuns: 50 },
    );
  },
);

type Step = "checkpoint" | { readonly line: Uint8Array };

async function take(draft: LogSigner, step: Step): Promise<void> {
  if (step === "checkpoint") await draft.checkpoint("batch", OPENING, WHEN);
  else draft.addLines(step.line);
}

async function takeAndCommit(log: LogSigner, step: Step): Promise<void> {
  const draft = log.draft();
  await take(draft, step);
  draft.commit();
}

function begun(isSidecar: boolean): LogSigner {
  const so = nothingSigned(nodeCrypto, new Uint8Array(32).fill(7), isSidecar);
  const nowIso = () => "2026-02-09T04:03:50.365Z";
  return LogSigner.from(so, { crypto: nodeCrypto, signer, isSidecar, nowIso });
}

/** The next checkpoint, which covers everything before it. */
async function saysOf(log: LogSigner): Promise<string> {
  const { line } = await log.sign({ kind: "batch" }, OPENING, WHEN);
  return Buffer.from(line).toString("utf8");
}
