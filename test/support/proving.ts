/** Proving: proofs of real signed sessions, and verdicts on their bytes. */

import { nodeHost } from "../../src/core/base/node-host.ts";
import { type ProveLogOptions, type Proven, proveLog } from "../../src/evidence/prove/prove.ts";
import { loadSigner } from "../../src/trust/keys/keys.ts";
import { nodeCrypto } from "../../src/trust/keys/node-crypto.ts";
import { judgeProof, type ProofJudgement } from "../../src/trust/proof/inclusion/judge.ts";
import type { SignableLog } from "../../src/trust/session-log.ts";
import type { keysOf } from "./disclosing.ts";
import type { SigningUser } from "./signing-user.ts";

export interface Wanted extends Partial<ProveLogOptions> {
  readonly context?: number;
  readonly consistency?: readonly [number, number] | null;
}

export async function prove(
  user: SigningUser,
  target: SignableLog,
  entries: readonly number[],
  { context = 0, consistency = null, ...more }: Wanted = {},
): Promise<Proven> {
  return proveLog(
    nodeHost,
    target,
    { entries, context, consistency },
    {
      verify: () => user.judging({ ...target }, false),
      signer: await loadSigner(nodeHost, user.places),
      nowMs: () => 1.8e12,
      indexDirectory: null,
      ...more,
    },
  );
}

export function judge(keys: ReturnType<typeof keysOf>, bytes: Uint8Array): ProofJudgement {
  return judgeProof(bytes, { crypto: nodeCrypto, keys });
}

export function verdictOf({ verdict, findings }: ProofJudgement): string {
  const first = findings.find((each) => each.verdict === verdict);
  return first ? `${verdict} ${first.code}` : verdict;
}

/** The numbers of the lines of a log that are not checkpoints, from 1. */
export function linesIn(log: Buffer): { readonly number: number; readonly text: string }[] {
  return log
    .toString("latin1")
    .split("\n")
    .slice(0, -1)
    .map((text, at) => ({ number: at + 1, text }))
    .filter(({ text }) => !text.includes('"sig2"'));
}

/** A proof with a checksum that fits, as an attacker would write it. */
export function withEnd(lines: readonly string[]): Buffer {
  const bytes = Buffer.from(lines.map((line) => `${line}\n`).join(""), "latin1");
  const sha256 = Buffer.from(nodeCrypto.sha256(bytes)).toString("hex");
  const end = `{"end":{"bytes":${bytes.length},"sha256":"${sha256}"}}\n`;
  return Buffer.concat([bytes, Buffer.from(end)]);
}
