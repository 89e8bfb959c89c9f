/**
 * Verify proof: the verdict on a proof, by the user's trusted keys and pinned heads.
 *
 * Never throws because of the file's content. As for a disclosed copy, a key that is trusted for some
 * sessions only is not trusted here. A proof of an older checkpoint than the pinned one contradicts
 * nothing: only another checkpoint with that number does.
 */

import { basename, dirname, resolve } from "node:path";
import type { Host } from "../../core/base/host.ts";
import { readStretch } from "../../core/log/bytes.ts";
import { openLogPath, openToRead } from "../../core/log/log-path.ts";
import type { VerifyReport } from "../../trust/judge/report.ts";
import { nodeCrypto } from "../../trust/keys/node-crypto.ts";
import {
  judgeProof,
  notCheckedIn,
  type ProofJudgement,
} from "../../trust/proof/inclusion/judge.ts";
import { PROOF_BYTES_MAX } from "../../trust/proof/inclusion/records.ts";
import { type Finding, findingOf, type Verdict, worse } from "../../trust/proof/verdict.ts";
import { transcriptKeys } from "../../trust/trusted-keys/trust.ts";
import {
  judgeSeen,
  type ReportedKey,
  reportedKey,
  type SeenFreshness,
  withKey,
} from "../redact/verify-copy.ts";
import type { UserJudging } from "../verify/user-judging.ts";
import { proofInPage } from "./proof-page.ts";

/** A public format, like the report on a session: fields are added, never renamed. */
export interface ProofReport {
  readonly schema: "verbatim.proof/1";
  readonly verdict: Verdict;
  readonly path: string;
  readonly session: string | null;
  readonly dialect: string | null;
  readonly log: string | null;
  /** The last checkpoint on which something relies. */
  readonly signed_through: {
    readonly seq: number;
    readonly turn: number;
    readonly ts: string;
  } | null;
  readonly lines: readonly {
    /** Counted from 1. */
    readonly line: number;
    /** The prover's word; null for context. */
    readonly entry: number | null;
    readonly turn: number | null;
    /** The first checkpoint that covers it, and its time, as its signer says. */
    readonly seq: number;
    readonly ts: string;
    readonly bytes: number;
    /** With `x` in place of withheld strings; bytes that are not UTF-8 are replaced. */
    readonly text: string;
    readonly strings_withheld: number;
  }[];
  /** Pairs of checkpoints: the log of the first is the beginning of the second's. */
  readonly consistent: readonly (readonly [number, number])[];
  /** `stated`: the prover states how the log began; a finding says if that does not count. */
  readonly genesis: "opened" | "stated" | null;
  readonly prover: ReportedKey | null;
  readonly keys: readonly ReportedKey[];
  readonly freshness: SeenFreshness;
  readonly not_checked: readonly string[];
  readonly findings: VerifyReport["findings"];
}

export interface VerifyProofOptions {
  readonly judging: UserJudging;
  /** A public key, 32 bytes, that counts as trusted unless the user decided otherwise. */
  readonly key?: Uint8Array | null;
  readonly requirePin?: boolean;
}

export async function verifyProof(
  host: Host,
  path: string,
  { judging, key = null, requirePin = false }: VerifyProofOptions,
): Promise<ProofReport> {
  const full = resolve(path);
  const keys = withKey(transcriptKeys(judging.trust, null), key);
  let bytes: Uint8Array = new Uint8Array(0);
  const unread: Finding[] = [];
  try {
    bytes = await readProof(host, full);
  } catch (cause) {
    const message = cause instanceof Error ? cause.message : String(cause);
    unread.push(findingOf("UNREADABLE", "unreadable", message));
  }
  const judged = judgeProof(proofInPage(bytes) ?? bytes, { crypto: nodeCrypto, keys });
  const remembered = judging.remembered({ place: "", id: "" });
  const pin = judged.log === null ? null : remembered.ofLog(judged.log);
  const { checkpoints, newest } = judged;
  const line = checkpoints.get(pin?.seq ?? -1) ?? null;
  const seen = judgeSeen(pin, { newestSeq: newest?.seq ?? null, line }, requirePin);
  const findings = unread.length > 0 ? unread : [...judged.findings, ...seen.findings];
  return reportOf(full, judged, findings, seen.freshness);
}

/** One byte more than the limit is enough to judge a file that is too long. */
async function readProof(host: Host, path: string): Promise<Uint8Array> {
  const place = await openLogPath(host, basename(path), { create: false, root: dirname(path) });
  try {
    const file = openToRead(place);
    try {
      return await readStretch(file, 0, Math.min(file.size(), PROOF_BYTES_MAX + 1));
    } finally {
      file.close();
    }
  } finally {
    place.directory.close();
  }
}

function reportOf(
  path: string,
  judged: ProofJudgement,
  findings: readonly Finding[],
  freshness: SeenFreshness,
): ProofReport {
  const verdict = findings.reduce<Verdict>(
    (so, each) => (each.verdict === null ? so : worse(so, each.verdict)),
    "verified",
  );
  const { session, log, header, newest, lines, consistent, genesis, prover, keys } = judged;
  return {
    schema: "verbatim.proof/1",
    verdict,
    path,
    session,
    dialect: header?.dialect ?? null,
    log,
    signed_through: newest,
    lines: lines.map(({ index, entry, turn, seq, ts, bytes, gaps }) => ({
      line: index + 1,
      entry,
      turn,
      seq,
      ts,
      bytes: bytes.length,
      text: Buffer.from(bytes).toString(),
      strings_withheld: gaps.length,
    })),
    consistent,
    genesis,
    prover: prover && reportedKey(prover),
    keys: keys.map(reportedKey),
    freshness,
    not_checked: notCheckedIn(genesis),
    findings: findings.map(({ code, verdict, byteOffset, turn, message }) => {
      return { code, verdict, byte_offset: byteOffset, turn, message };
    }),
  };
}
