/**
 * Prove: proofs that lines are part of a signed log, from the log or from a disclosed copy.
 *
 * - No proof is returned that its own judge does not accept.
 * - A large log is verified once, to make its leaf index; later proofs read only what they need. If
 *   the index does not fit the log, it is made again, and the log verified.
 */

import { basename, dirname } from "node:path";
import { VerbatimError } from "../../core/base/errors.ts";
import type { Host } from "../../core/base/host.ts";
import { openLogPath, openToRead } from "../../core/log/log-path.ts";
import { changedWhileRead, readExactly } from "../../trust/judge/inspect.ts";
import type { VerifyOptions } from "../../trust/judge/verify-options.ts";
import type { Signer } from "../../trust/keys/keys.ts";
import { nodeCrypto } from "../../trust/keys/node-crypto.ts";
import { DisclosureJudge } from "../../trust/proof/disclosure/judge.ts";
import type { Keys } from "../../trust/proof/ed25519-keys.ts";
import { judgeProof, type ProofJudgement } from "../../trust/proof/inclusion/judge.ts";
import type { Verdict } from "../../trust/proof/verdict.ts";
import { contentOf, type SignableLog } from "../../trust/session-log.ts";
import { Copying, type Genesis, refuseUnsigned } from "../redact/redact.ts";
import { verifyWithCopy } from "../verify/erased-copy.ts";
import { type AssembleOptions, assembleProof, type ProofRequest } from "./assemble.ts";
import { CopyProofSource } from "./copy-source.ts";
import { IndexBuilder, type LeafIndex, loadIndex, saveIndex } from "./leaf-index.ts";
import { LogSource, StaleIndex } from "./log-source.ts";

/** Smaller logs are read whole each time, and have no index. */
export const INDEX_FROM_BYTES = 16 * 1024 * 1024;

export interface Proven {
  readonly bytes: Uint8Array;
  readonly judgement: ProofJudgement;
}

export interface ProveLogOptions {
  /** Options for one verdict. */
  readonly verify: () => Promise<VerifyOptions>;
  /** Signs what is stated about genesis; null if there is no key. */
  readonly signer: Signer | null;
  readonly nowMs: () => number;
  /** Where leaf indexes are kept; null: nowhere. */
  readonly indexDirectory: string | null;
  readonly indexFromBytes?: number;
  /** Bytes of the log that were read to make its index. */
  readonly onProgress?: (bytes: number) => void;
}

/** `host` is the dialect's (`hostOf`). */
export async function proveLog(
  host: Host,
  target: SignableLog,
  asked: ProofRequest,
  options: ProveLogOptions,
): Promise<Proven> {
  const { indexDirectory: directory, signer, nowMs } = options;
  const verify = await options.verify();
  const how: AssembleOptions = { crypto: verify.crypto, signer, nowMs };
  const prove = (index: LeafIndex, isKept: boolean) =>
    LogSource.with(host, target, verify.crypto, index, async (source) => {
      if (isKept && source.hasGrown && !isEnough(index, asked)) throw new StaleIndex();
      const bytes = await assembleProof(source, asked, how);
      return { bytes, judgement: judgeProof(bytes, verify) };
    });
  const kept = directory === null ? null : await loadIndex(directory, target, verify.crypto);
  if (kept) {
    const proven = await prove(kept, true).catch((cause: unknown) => {
      if (cause instanceof StaleIndex || cause instanceof VerbatimError) return null;
      throw cause;
    });
    if (proven && isGood(proven.judgement.verdict)) return proven;
  }
  const index = await indexLog(host, target, verify, options.onProgress);
  const { indexFromBytes = INDEX_FROM_BYTES } = options;
  if (directory !== null && index.facts.bytes >= indexFromBytes) {
    await saveIndex(host, directory, target, index.spell(verify.crypto));
  }
  const path = `${target.root}/${target.logId}`;
  const proven = await prove(index, false).catch((cause: unknown) => {
    throw cause instanceof StaleIndex ? changedWhileRead(path, 0) : cause;
  });
  if (!isGood(proven.judgement.verdict)) throw notVerified(path, proven.judgement.verdict);
  return proven;
}

/** Whether an index of an earlier part of the log has all that is asked for. */
function isEnough({ facts }: LeafIndex, { entries, context, consistency }: ProofRequest): boolean {
  const last = Math.max(0, ...entries) + context;
  return last <= facts.leaves && (consistency?.[1] ?? 0) < facts.checkpoints;
}

function isGood(verdict: Verdict): boolean {
  return verdict === "verified" || verdict === "incomplete";
}

function notVerified(path: string, verdict: Verdict): VerbatimError {
  const message = `${path} is ${verdict}, so nothing of it is proven; see verbatim verify`;
  return new VerbatimError("NOT_VERIFIED", message, { path, verdict });
}

/** Verifies a log and makes its index; refuses one that is not verified, or not signed enough. */
async function indexLog(
  host: Host,
  target: SignableLog,
  verify: VerifyOptions,
  onProgress: (bytes: number) => void = () => {},
): Promise<LeafIndex> {
  let genesis: Genesis | null = null;
  const report = await verifyWithCopy(host, target, {
    ...verify,
    onProgress,
    onCheckpoint: (_seq, _line, said) => {
      if (said.kind === "genesis") genesis ??= said as Genesis;
    },
  });
  const through = refuseUnsigned(report);
  const found = genesis as Genesis | null;
  if (!found) throw changedWhileRead(report.path, 0);
  const builder = new IndexBuilder(verify.crypto, found, contentOf(target) === "bytes");
  const again = { ...verify, onProgress };
  await new Copying(target, again, report, through, found, builder).run(host);
  return builder.finish(found.log);
}

export interface ProveCopyOptions {
  readonly keys: Keys;
  readonly signer: Signer | null;
  readonly nowMs: () => number;
}

/** A proof from a disclosed copy, of what is shown there. */
export async function proveCopy(
  host: Host,
  path: string,
  asked: ProofRequest,
  { keys, signer, nowMs }: ProveCopyOptions,
): Promise<Proven> {
  const crypto = nodeCrypto;
  const near = (index: number) =>
    asked.entries.some((entry) => Math.abs(index + 1 - entry) <= asked.context);
  const judge = new DisclosureJudge({ crypto, keys, pinnedSeqOf: () => null });
  const source = new CopyProofSource(crypto, path, near);
  const place = await openLogPath(host, basename(path), { create: false, root: dirname(path) });
  try {
    const file = openToRead(place);
    try {
      for await (const chunk of readExactly(file, 0, file.size(), path)) {
        judge.feed(chunk);
        source.feed(chunk);
      }
    } finally {
      file.close();
    }
  } finally {
    place.directory.close();
  }
  const { verdict, findings } = judge.finish();
  if (!isGood(verdict)) throw notVerified(path, verdict);
  // Signing what is not confirmed would make the redactor's word ours.
  const isUnconfirmed = findings.some(({ code }) => code === "GENESIS_UNCONFIRMED");
  const by = isUnconfirmed ? null : signer;
  const bytes = await assembleProof(source, asked, { crypto, signer: by, nowMs });
  const judgement = judgeProof(bytes, { crypto, keys });
  if (!isGood(judgement.verdict)) throw notVerified(path, judgement.verdict);
  return { bytes, judgement };
}
