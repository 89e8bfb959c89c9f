/**
 * Open to sign: opening to sign is verifying. One pass over a log, before its first checkpoint by
 * this process, that judges it and gathers what the next checkpoint needs.
 *
 * O1  A log whose verdict is bad is not signed on: CHECKPOINT_MISMATCH. Signing whatever is found
 *     would launder it.
 * O2  Lines after the last checkpoint are taken, and stated as found (log-signer.ts, S3).
 */

import { VerbatimError } from "../base/errors.ts";
import type { OpenFile } from "../base/files.ts";
import { readChunks } from "../log/bytes.ts";
import type { Ledger } from "../proof/ledger.ts";
import type { Verdict } from "../proof/verdict.ts";
import { WholeLines } from "../proof/whole-lines.ts";
import { besideFindings, reportOf } from "./assemble.ts";
import { envelopeOf, type Inspection, inspectLog } from "./inspect.ts";
import { inspectBare, inspectBeside, type SidecarInspection } from "./inspect-beside.ts";
import { nothingSigned, type SignedSoFar } from "./log-signer.ts";
import { hasSidecar, type SignedLog } from "./session-log.ts";
import { inspectOptions } from "./verify.ts";
import type { VerifyOptions } from "./verify-options.ts";

/** Verdicts on which one may go on: all is well, or all that is signed is. */
const GOES_ON: ReadonlySet<Verdict> = new Set(["verified", "incomplete", "unsigned", "unpinned"]);

const ENDS_TURN: ReadonlySet<string> = new Set(["turn", "final"]);

export interface OpenToSign {
  readonly target: SignedLog;
  readonly log: OpenFile;
  /** Null when there is none. */
  readonly sidecar: OpenFile | null;
  /** The log's end: whole lines, all of them, unless it is raw. */
  readonly end: number;
  /** Bytes that opening cut off as torn. */
  readonly cut: number;
  /** A new salt, should the log have none. */
  readonly newSalt: () => Uint8Array;
  readonly options: VerifyOptions;
  /** A head that a person gave up, and that was not stated yet. */
  readonly lost: SignedSoFar["lost"];
}

/** What a log comes to, once it was judged fit to be signed on. */
export async function openToSign(opening: OpenToSign): Promise<SignedSoFar> {
  const { target, log, sidecar, end, cut, newSalt, options, lost } = opening;
  const isSidecar = hasSidecar(target.dialect);
  const isRaw = target.content === "bytes";
  if (end === 0 && !sidecar && !options.remembered?.here) {
    return nothingSigned(options.crypto, newSalt(), isSidecar, isRaw);
  }
  const inspecting = { ...inspectOptions(target, options, end), isDeep: true };
  let inspection: Inspection | SidecarInspection;
  if (sidecar) inspection = await inspectBeside(log, sidecar, inspecting, end);
  else if (inspecting.content !== "lines") inspection = await inspectBare(log, inspecting, end);
  else inspection = await inspectLog(log, await envelopeOf(target.dialect, log), inspecting, end);
  refuseUnlessFit(opening, inspection);

  const { judge, deep } = inspection;
  if (!judge.genesis || !deep) return beginLate(opening, isSidecar, isRaw);
  const signedEnd = sidecar ? end - inspection.tailBytes : judge.claimsEnd;
  if (sidecar) await addRest(deep.ledger, isRaw, log, signedEnd, end);
  const found = signedEnd < end ? ([signedEnd, end] as const) : null;
  const { seq, prev, turn } = judge.next;
  const isInTurn = found !== null || !ENDS_TURN.has(judge.signedThrough?.kind ?? "");
  const { signedThrough: newest } = judge;
  const known = { seq, prev, turn, isInTurn, found, cut, lost, newest };
  return { ledger: deep.ledger, ...judge.genesis, ...known };
}

function refuseUnlessFit({ target, options }: OpenToSign, inspection: Inspection): void {
  const extra = "sidecar" in inspection ? besideFindings(inspection as SidecarInspection) : [];
  const report = reportOf(target, options, { inspection, extra });
  if (GOES_ON.has(report.verdict)) return;
  const why = report.findings.find(({ verdict }) => verdict === report.verdict);
  throw new VerbatimError(
    "CHECKPOINT_MISMATCH",
    `${report.path} is ${report.verdict} and is not signed on: ${why?.message ?? report.verdict}; ` +
      "`verbatim verify` says more",
    { path: report.path, offset: why?.byte_offset ?? 0, verdict: report.verdict },
  );
}

/** A log that is signed for the first time: every line in it was found. */
async function beginLate(
  opening: OpenToSign,
  isSidecar: boolean,
  isRaw: boolean,
): Promise<SignedSoFar> {
  const { log, end, cut, newSalt, options, lost } = opening;
  const begun = nothingSigned(options.crypto, newSalt(), isSidecar, isRaw);
  await addRest(begun.ledger, isRaw, log, 0, end);
  return { ...begun, isInTurn: end > 0, found: end > 0 ? [0, end] : null, cut, lost };
}

async function addRest(
  ledger: Ledger,
  isRaw: boolean,
  log: OpenFile,
  from: number,
  to: number,
): Promise<void> {
  const whole = new WholeLines((lines) => ledger.addLines(lines));
  for await (const chunk of readChunks(log, from, to)) {
    if (isRaw) ledger.addLines(chunk);
    else whole.feed(chunk);
  }
}
