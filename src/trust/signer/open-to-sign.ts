/**
 * Open to sign: one pass over a log before this process signs its first checkpoint. It verifies the
 * log and gathers the state that the next checkpoint needs.
 *
 * O1  A log with a bad verdict is not signed: CHECKPOINT_MISMATCH. Signing it would launder it.
 *
 * Lines after the last checkpoint are accepted, and stated as found (log-signer.ts, S3). So are all
 * lines of a log that is signed for the first time. But lines that would be tampering in a signed
 * log are not signed there either, or they would be `verified` from then on (walk.ts, WA1).
 */

import { VerbatimError } from "../../core/base/errors.ts";
import type { OpenFile } from "../../core/base/files.ts";
import { LOG_LIMITS } from "../../core/base/limits.ts";
import { reportOf, sidecarFindings } from "../judge/assemble.ts";
import { type Inspection, inspectLog, lineTooLong, readExactly } from "../judge/inspect.ts";
import { inspectBare, inspectSidecar, type SidecarInspection } from "../judge/inspect-sidecar.ts";
import { newTail } from "../judge/tail-keeper.ts";
import { fileFindings, inspectOptions } from "../judge/verify.ts";
import type { VerifyOptions } from "../judge/verify-options.ts";
import { envelopeOf, hasSidecar, namesSession } from "../proof/envelopes.ts";
import type { Judge } from "../proof/judge.ts";
import type { LogLedger } from "../proof/ledger.ts";
import type { TailFault } from "../proof/tail.ts";
import type { Verdict } from "../proof/verdict.ts";
import { WholeLines } from "../proof/whole-lines.ts";
import { contentOf, type SignableLog } from "../session-log.ts";
import { nothingSigned, type SignedSoFar } from "./signer-state.ts";

/** Verdicts that allow signing: everything that is signed is valid. */
const GOES_ON: ReadonlySet<Verdict> = new Set(["verified", "incomplete", "unsigned", "unpinned"]);

export interface OpenToSign {
  readonly target: SignableLog;
  readonly log: OpenFile;
  /** Null when there is none. */
  readonly sidecar: OpenFile | null;
  /** The log's end: only whole lines before it, unless the log is raw. */
  readonly end: number;
  /** Torn bytes that opening cut off. */
  readonly cut: number;
  /** A new salt, if the log has none. */
  readonly newSalt: () => Uint8Array;
  readonly options: VerifyOptions;
  /** A head that the user gave up and that is not stated yet. */
  readonly lost: SignedSoFar["lost"];
}

/** The state of a log after it was judged fit to be signed. */
export async function openToSign(opening: OpenToSign): Promise<SignedSoFar> {
  const { target, log, sidecar, end, cut, newSalt, options, lost } = opening;
  const isSidecar = hasSidecar(target.dialect);
  const isRaw = target.content === "bytes";
  const { here, deleted } = options.remembered ?? {};
  if (end === 0 && !sidecar && (!here || deleted)) {
    return nothingSigned(options.crypto, newSalt(), isSidecar, isRaw);
  }
  const inspecting = { ...inspectOptions(target, options, end), isDeep: true };
  let inspection: Inspection | SidecarInspection;
  if (sidecar) inspection = await inspectSidecar(log, sidecar, inspecting, end);
  else if (inspecting.content !== "lines") inspection = await inspectBare(log, inspecting, end);
  else inspection = await inspectLog(log, envelopeOf(target.dialect), inspecting, end);
  await refuseUnlessFit(opening, inspection);

  const { judge, deep } = inspection;
  if (!judge.genesis || !deep) return beginLate(opening, isSidecar, isRaw, judge);
  const signedEnd = sidecar ? end - inspection.tailBytes : judge.claimsEnd;
  const foundRange = signedEnd < end ? ([signedEnd, end] as const) : null;
  const { seq, prev, turn } = judge.next;
  const { signedThrough: newest, handOvers, isInTurn, from, genesisHash } = judge;
  const state = {
    seq,
    prev,
    turn,
    isInTurn,
    found: foundRange,
    cut,
    lost,
    newest,
    handOvers,
    from,
  };
  return { ledger: deep.ledger, ...judge.genesis, genesisHash, ...state };
}

async function refuseUnlessFit(
  { target, options, log }: OpenToSign,
  inspection: Inspection,
): Promise<void> {
  const inSidecar = "sidecar" in inspection ? sidecarFindings(inspection as SidecarInspection) : [];
  const extra = [...inSidecar, ...(await fileFindings(log, inspection, options))];
  const report = reportOf(target, options, { inspection, extra });
  if (GOES_ON.has(report.verdict)) return;
  const why = report.findings.find(({ verdict }) => verdict === report.verdict);
  throw new VerbatimError(
    "CHECKPOINT_MISMATCH",
    `${report.path} is ${report.verdict} and is not signed any further: ${why?.message ?? report.verdict}; ` +
      "`verbatim verify` says more",
    { path: report.path, offset: why?.byte_offset ?? 0, verdict: report.verdict },
  );
}

/** A log that is signed for the first time: every line is stated as found. */
async function beginLate(
  opening: OpenToSign,
  isSidecar: boolean,
  isRaw: boolean,
  judge: Judge,
): Promise<SignedSoFar> {
  const { end, cut, newSalt, options, lost } = opening;
  const begun = nothingSigned(options.crypto, newSalt(), isSidecar, isRaw);
  await addSignable(begun.ledger, opening, isRaw, (at) => judge.isVoid(at));
  return { ...begun, found: end > 0 ? [0, end] : null, cut, lost };
}

/** Adds all lines, or raw bytes; refuses lines that would be tampering in a signed log. */
async function addSignable(
  ledger: LogLedger,
  { target, log, end, options }: OpenToSign,
  isRaw: boolean,
  isVoid: (at: number) => boolean,
): Promise<void> {
  const { dialect, root, logId } = target;
  const path = `${root}/${logId}`;
  const whole = new WholeLines((lines) => ledger.addLines(lines));
  const id = namesSession(dialect) ? target.id : null;
  // Lines signed by the Python original are stated as found like any other: only a person can vouch
  // for them.
  const admitsLegacy = options.isLegacyProfile === true;
  const isData = contentOf(target) === "messages";
  const tail = newTail(envelopeOf(dialect), id, 0, { isData, admitsLegacy, isVoid });
  for await (const chunk of readExactly(log, 0, end, path)) {
    if (isRaw) ledger.addLines(chunk);
    else for (const taker of [tail, whole]) taker.feed(chunk);
    if (whole.restBytes > LOG_LIMITS.lineBytesMax) throw lineTooLong(ledger.bytes);
  }
  if (tail.fault) throw unsignable(path, tail.fault);
}

/** The error for bytes that must not be signed. */
export function unsignable(path: string, { byteOffset, message }: TailFault): VerbatimError {
  return new VerbatimError(
    "CHECKPOINT_MISMATCH",
    `${path} is not signed any further: at byte ${byteOffset} ${message}. Keep a copy, take that line out of ` +
      "the log, and open the session again",
    { path, offset: byteOffset, verdict: "tampered" },
  );
}
