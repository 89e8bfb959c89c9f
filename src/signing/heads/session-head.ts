/**
 * Session head: the newest checkpoint of a session, as a head to be pinned. Only for a verified
 * session: a pin says that its content was accepted.
 *
 * Everything signed must be valid, under a trusted key. Lines after it do not matter. A pin that
 * the log contradicts, and checkpoints in a sidecar that cover more than the log holds, are
 * returned and not judged: `verbatim head` asks the user about them.
 */

import { VerbatimError } from "../../base/errors.ts";
import type { Host } from "../../base/host.ts";
import type { ByteOffset } from "../../base/offset.ts";
import { LogReader } from "../../log/reader.ts";
import { concat, LF, toHex } from "../../proof/bytes.ts";
import { type Checkpoint, type EnvelopeName, readCheckpoint } from "../../proof/checkpoint.ts";
import { hasSidecar, INSIDE } from "../../proof/envelopes.ts";
import type { Head } from "../../proof/pin.ts";
import type { Rollback } from "../../proof/pins.ts";
import type { Verdict } from "../../proof/verdict.ts";
import type { VerifyReport } from "../judging/report.ts";
import { verifyLog } from "../judging/verify.ts";
import type { VerifyOptions } from "../judging/verify-options.ts";
import { type SignableLog, sidecarOf } from "../session-log.ts";
import { placeOf } from "./heads.ts";

/** A session of a store, or a stream. */
export interface StoredLog extends SignableLog {
  readonly id: string;
}

export interface SessionHead {
  readonly head: Head;
  /** How the log contradicts its pin; null if it does not. */
  readonly rollback: Rollback | null;
  /** The newest sidecar checkpoint if the log has lost bytes that it covers; else null. */
  readonly surplus: Checkpoint | null;
}

/** Verdicts under which everything signed is valid. */
const HOLDS: ReadonlySet<Verdict> = new Set(["verified", "incomplete", "unpinned", "rollback"]);
const ROLLBACKS: ReadonlySet<string> = new Set<Rollback>(["REPLACED", "BEHIND", "FORK"]);

/** The head of a session whose signed part is valid; else refuses with NOT_VERIFIED. */
export async function readHead(
  host: Host,
  session: StoredLog,
  options: VerifyOptions,
): Promise<SessionHead> {
  const report = await verifyLog(host, session, options);
  const { log, signed_through: through, findings } = report;
  const against = findings.find(({ verdict }) => verdict !== null && !HOLDS.has(verdict));
  if (against || !log || !through) throw notVerified(report, session, against?.message);
  const isShorter = findings.some(({ code }) => code === "LOG_SHORTER_THAN_SIDECAR");
  const surplus = isShorter ? await newestInSidecar(host, session) : null;
  const checkpoint = await findCheckpoint(host, session, through, options.crypto);
  if (!checkpoint || (isShorter && !surplus)) {
    throw notVerified(report, session, "it was changed while it was verified");
  }
  const { seq, byteOffset, kind, kid, ts } = checkpoint;
  const place = await placeOf(host, session);
  const found = findings.find(({ code }) => ROLLBACKS.has(code))?.code as Rollback | undefined;
  const pin = options.remembered?.here ?? options.remembered?.ofLog(log) ?? null;
  // The pinned checkpoint may be in the sidecar although the bytes it covers are gone.
  const rollback = found ?? (surplus && pin && pin.seq > seq ? "BEHIND" : null);
  const head = { place, id: session.id, log, seq, byteOffset, line: through.line, kind, kid, ts };
  return { head, rollback, surplus };
}

/** The last checkpoint of a sidecar. */
async function newestInSidecar(
  host: Host,
  { root, logId }: SignableLog,
): Promise<Checkpoint | null> {
  const reader = new LogReader(host, sidecarOf(logId), { root, onBadLine: "skip" });
  for await (const { bytes } of reader.backward()) return readCheckpoint(bytes, "sidecar");
  return null;
}

/** The checkpoint that was verified, found by the hash of its line. */
async function findCheckpoint(
  host: Host,
  { root, logId, dialect }: SignableLog,
  through: NonNullable<VerifyReport["signed_through"]>,
  crypto: VerifyOptions["crypto"],
): Promise<Checkpoint | null> {
  const isSidecar = hasSidecar(dialect);
  const path = isSidecar ? sidecarOf(logId) : logId;
  const reader = new LogReader(host, path, { root, onBadLine: "skip" });
  const range = isSidecar ? {} : { to: through.end as ByteOffset };
  for await (const { bytes } of reader.backward(range)) {
    if (toHex(crypto.sha256(concat(bytes, Uint8Array.of(LF)))) !== through.line) continue;
    // It was verified; the envelope only decides how to parse it.
    const envelopes: readonly EnvelopeName[] = isSidecar ? ["sidecar"] : INSIDE;
    return envelopes.map((name) => readCheckpoint(bytes, name)).find((found) => found) ?? null;
  }
  return null;
}

function notVerified(
  { path, verdict }: VerifyReport,
  { dialect }: SignableLog,
  why: string | undefined,
): VerbatimError {
  const begun = `\`verbatim head forget\`${hasSidecar(dialect) ? `, and move ${sidecarOf(path)} away` : ""}`;
  const nothing =
    verdict === "rollback"
      ? `no checkpoint is left that holds: restore it from a copy, or start over: ${begun}`
      : "nothing in it is signed";
  const reason = why ?? nothing;
  return new VerbatimError(
    "NOT_VERIFIED",
    `${path} is ${verdict}, and its head is not pinned: ${reason}; \`verbatim verify\` says more`,
    { path, verdict },
  );
}
