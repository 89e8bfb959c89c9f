/**
 * Assemble: builds a report from the judges' results. The first verdict that applies is the
 * session's.
 */

import { type ErrorCode, VerbatimError } from "../../core/base/errors.ts";
import type { DeepJudge } from "../proof/deep.ts";
import { hasTurns, LEGACY_PROFILE } from "../proof/envelopes.ts";
import type { Judge } from "../proof/judge.ts";
import type { Pin } from "../proof/pin.ts";
import { type Freshness, judgePin, type Rollback } from "../proof/pins.ts";
import {
  type Finding,
  type FindingCode,
  type SignedThrough,
  type Verdict,
  worse,
} from "../proof/verdict.ts";
import type { SignableLog } from "../session-log.ts";
import type { Inspection } from "./inspect.ts";
import type { SidecarInspection } from "./inspect-sidecar.ts";
import type { VerifyReport } from "./report.ts";
import { NOTHING_REMEMBERED, type RememberedPins, type VerifyOptions } from "./verify-options.ts";

/** The result of inspecting the log and its sidecar. */
export interface LogInspection {
  readonly inspection: Inspection;
  readonly extra: readonly Finding[];
}

export function reportOf(
  target: SignableLog,
  options: VerifyOptions,
  { inspection, extra }: LogInspection,
): VerifyReport {
  const { judge, deep, tail, tailBytes, bytes } = inspection;
  const { findings: pinFindings, freshness, missing } = pinFindingsOf(judge, options);
  // If the log is shorter than what was signed, nothing past its end can be compared: the finding
  // is that it is shorter. Checkpoints over bytes that are there still count.
  const isThere = ({ byteOffset }: Finding) => byteOffset === null || byteOffset <= bytes;
  const findings = [
    ...judge.findings.filter((found) => found.code !== "HASH_MISMATCH" || isThere(found)),
    ...(deep?.findings ?? []).filter(isThere),
    ...extra,
    ...tailFindings(inspection, options),
    ...pinFindings,
    ...signednessFindings(judge, options, target, pinFindings),
  ];
  const verdict = findings.reduce<Verdict>(
    (so, { verdict }) => (verdict === null ? so : worse(so, verdict)),
    "verified",
  );
  const through = judge.signedThrough;
  return {
    schema: "verbatim.verify/1",
    verdict,
    session: target.id ?? judge.session,
    dialect: target.dialect,
    path: `${target.root}/${target.logId}`,
    profile: judge.legacy > 0 && judge.legacy === judge.total ? LEGACY_PROFILE : "v2",
    deep: deep !== null,
    file: { bytes },
    signed_through: through && throughReport(through),
    checkpoints: { total: judge.total, valid: judge.sound },
    tail: {
      bytes: tail || target.content === "bytes" ? tailBytes : 0,
      lines: tail?.lines ?? 0,
      types: Object.fromEntries(tail?.types ?? []),
    },
    found: judge.found,
    bad_range: badRange(findings, deep, through?.end ?? 0, target),
    freshness,
    log: judge.log,
    from: through && judge.from,
    erasures: options.erasures?.within(through?.end ?? 0, judge.found) ?? [],
    keys: judge.keys.map(({ kid, fp, owner, refusal, rotatedFrom = null }) => {
      return { kid, fp, owner, trusted: refusal === null, rotated_from: rotatedFrom };
    }),
    rotations: judge.keyChanges.map(({ isNamed, ...change }) => ({ ...change, named: isNamed })),
    links: judge.links.filter(({ seq }) => through !== null && seq <= through.seq),
    missing,
    findings: findings.map(findingFacts),
  };
}

function throughReport(through: SignedThrough): VerifyReport["signed_through"] {
  const { seq, turn, turns, byteOffset, end, line, rev, ts, kid } = through;
  return { seq, turn, turns, byte_offset: byteOffset, end, line, rev, ts, kid };
}

function tailFindings(
  { judge, tail, bytes, tailBytes }: Inspection,
  options: VerifyOptions,
): Finding[] {
  if (judge.total === 0) return [];
  if (!tail) return tailBytes > 0 ? [bytesAfter(judge.signedThrough?.end ?? 0, tailBytes)] : [];
  const { fault, lines, tornBytes, hasNul } = tail;
  const start = bytes - tailBytes;
  const isLegacy = options.isLegacyProfile === true && judge.legacy === judge.total;
  const findings: Finding[] = [];
  if (fault) findings.push(finding(fault.code, "tampered", fault.byteOffset, fault.message));
  if (hasNul) {
    findings.push(finding("NUL_TAIL", "incomplete", start, "NUL bytes follow the signed part"));
  }
  if (tornBytes > 0) {
    const message = `${tornBytes} bytes of a torn line follow the signed part`;
    findings.push(finding("TORN_TAIL", "incomplete", start, message));
  }
  if (lines === 0) return findings;
  const message = `${lines} ${lines === 1 ? "line follows" : "lines follow"} the signed part`;
  const isTerminal = isLegacy && !fault && [...tail.types.keys()].every((type) => ENDS.has(type));
  if (isTerminal && sum(tail.types) === lines) {
    findings.push(finding("LEGACY_TERMINAL_UNSIGNED", null, start, `${message}: only its end`));
  } else {
    findings.push(finding("UNSIGNED_TAIL", "incomplete", start, message));
  }
  return findings;
}

/** A log without lines has only a byte range. */
function bytesAfter(start: number, bytes: number): Finding {
  const message = `${bytes} bytes follow the signed part`;
  return finding("UNSIGNED_TAIL", "incomplete", start, message);
}

/** Events that add nothing to the conversation; the Python original wrote them after signing. */
const ENDS = new Set([
  "thread_completed",
  "thread_error",
  "thread_cancelled",
  "thread_continued",
  "thread_resumed",
]);

function sum(counts: ReadonlyMap<string, number>): number {
  return [...counts.values()].reduce((total, count) => total + count, 0);
}

export function pinFindingsOf(
  judge: Judge,
  { remembered = NOTHING_REMEMBERED, requirePin }: Pick<VerifyOptions, "remembered" | "requirePin">,
): {
  readonly findings: Finding[];
  readonly freshness: Freshness;
  readonly missing: VerifyReport["missing"];
} {
  const findings: Finding[] = [];
  if (remembered.isDamaged) {
    const message = "some remembered heads cannot be read; this session's may be among them";
    findings.push(finding("PIN_MAY_BE_MISSING", null, null, message));
  }
  const pin = remembered.here ?? (judge.log === null ? null : remembered.ofLog(judge.log));
  const judged = judgePin(pin, {
    log: judge.newestSeq === null ? null : judge.log,
    seq: judge.newestSeq ?? -1,
    lineAt: () => judge.pinnedLine,
  });
  const voidCheckpoint = pin && judge.voids.find(({ line }) => line === pin.line);
  if (voidCheckpoint) {
    const message =
      `checkpoint ${voidCheckpoint.seq} was in its place when it was seen before; lines were put before it, ` +
      `and it is at byte ${voidCheckpoint.start} now`;
    findings.push(finding("CHECKPOINT_MISPLACED", "tampered", voidCheckpoint.start, message));
  }
  const rollback = judged.rollback ?? remembered.conflict ?? null;
  if (rollback && judge.newestSeq === null) {
    const message = `the log has no checkpoint at all, and ${seenBefore(pin)}`;
    findings.push(finding("CHECKPOINTS_STRIPPED", "rollback", null, message));
  } else if (rollback) {
    const message = rollbackOf(rollback, pin, judge);
    findings.push(finding(rollback, "rollback", null, message));
  }
  if (!pin && requirePin) {
    findings.push(finding("UNPINNED", "unpinned", null, "no head is remembered"));
  }
  findings.push(...linkFindings(remembered));
  return {
    findings,
    freshness: (rollback ? null : judged.freshness) ?? "none",
    missing: rollback && pin ? missingOf(pin) : null,
  };
}

function missingOf({ seq, byteOffset, ts }: Pin): NonNullable<VerifyReport["missing"]> {
  return { seq, byte_offset: byteOffset, ts };
}

/** The link decides which file is judged, so pins of both names count. */
function linkFindings({ leadsTo }: RememberedPins): Finding[] {
  if (!leadsTo) return [];
  const message = `the root of its store is a link to ${leadsTo}; heads remembered of either count`;
  return [finding("ROOT_IS_LINK", null, null, message)];
}

/** From the pin: how much there was, and when. */
function seenBefore(pin: Pin | null): string {
  if (!pin) return "signed checkpoints were seen before";
  return `checkpoint ${pin.seq} was seen before, over ${pin.byteOffset} bytes, signed ${pin.ts}`;
}

function rollbackOf(rollback: Rollback, pin: Pin | null, judge: Judge): string {
  const seen = seenBefore(pin);
  if (rollback === "REPLACED") return `this is another log than the one seen here before: ${seen}`;
  if (rollback === "FORK") {
    return `another history was seen before: ${seen}, and the log has a different one in its place`;
  }
  const { signedThrough: through, newestSeq } = judge;
  const since = through ? `, at byte ${through.byteOffset}, signed ${through.ts}` : "";
  const from = (newestSeq ?? -1) + 1;
  const lost =
    pin && from < pin.seq ? `checkpoints ${from} to ${pin.seq} are` : `checkpoint ${from} is`;
  return `${seen}; the log ends with checkpoint ${newestSeq}${since}: ${lost} missing, with the signed lines`;
}

function signednessFindings(
  judge: Judge,
  options: VerifyOptions,
  target: SignableLog,
  pinFindings: readonly Finding[],
): Finding[] {
  const findings: Finding[] = [];
  const isRollback = pinFindings.some(({ verdict }) => verdict === "rollback");
  if (judge.total === 0 && !isRollback && judge.findings.length === 0) {
    const message = "nothing in it is signed: it never was, or its signatures were removed";
    findings.push(finding("UNSIGNED", "unsigned", null, message));
  }
  const isLegacy = judge.total > 0 && judge.legacy === judge.total;
  if (isLegacy && options.isLegacyProfile !== true) {
    const message =
      "its checkpoints are of the older format, which does not count by itself; see " +
      'docs/security.md, "Transcripts of the Python original"';
    findings.push(finding("OLDER_FORMAT", "untrusted", null, message));
  }
  if (target.id === null && judge.total > 0) {
    const message = "the file is not in a store; only its checkpoints name its session";
    findings.push(finding("IDENTITY_UNKNOWN", null, null, message));
  }
  return findings;
}

function badRange(
  findings: readonly Finding[],
  deep: DeepJudge | null,
  from: number,
  { dialect }: SignableLog,
): VerifyReport["bad_range"] {
  const first = findings.find(({ verdict }) => verdict === "tampered");
  if (!first) return null;
  // A stream has no turns; its checkpoints are counted instead.
  const altered = hasTurns(dialect) ? deep?.turns : deep?.seqs;
  const isElsewhere = first.code === "OTHER_SESSION" || first.code === "OTHER_LOG";
  const said = first.turn === null || isElsewhere ? [] : [first.turn];
  const turns = altered && altered.length > 0 ? altered : said;
  return { from: Math.min(from, first.byteOffset ?? from), to: first.byteOffset ?? from, turns };
}

/** The report on an unreadable session; `hasCheckpoints`: there are some where its log was. */
export function unreadableReport(
  target: SignableLog,
  options: VerifyOptions,
  cause: unknown,
  hasCheckpoints = false,
  code: FindingCode = "UNREADABLE",
): VerifyReport {
  const remembered = options.remembered ?? NOTHING_REMEMBERED;
  const { here, deleted, conflict } = remembered;
  const isMissing = cause instanceof VerbatimError && cause.code === "LOG_NOT_FOUND";
  const reason = cause instanceof Error ? cause.message : String(cause);
  const known = cause instanceof VerbatimError && CAUSES[cause.code as ErrorCode];
  let why = finding(known || code, "unreadable", null, reason);
  const isDeleted = isMissing && deleted && !conflict && !hasCheckpoints;
  if (isDeleted) {
    why = finding("DELETED", "deleted", null, deletedText(deleted));
  } else if (isMissing && here) {
    why = finding("BEHIND", "rollback", null, `the log is gone, and ${seenBefore(here)}`);
  } else if (isMissing && hasCheckpoints) {
    why = finding("LOG_SHORTER_THAN_SIDECAR", "rollback", 0, "the log is gone, and was signed");
  } else if (isMissing) {
    why = finding("NOT_FOUND", "unreadable", null, reason);
  }
  return {
    schema: "verbatim.verify/1",
    verdict: why.verdict ?? "unreadable",
    session: target.id,
    dialect: target.dialect,
    path: `${target.root}/${target.logId}`,
    profile: "v2",
    deep: false,
    file: { bytes: 0 },
    signed_through: null,
    checkpoints: { total: 0, valid: 0 },
    tail: { bytes: 0, lines: 0, types: {} },
    found: [],
    bad_range: null,
    freshness: "none",
    log: null,
    from: null,
    erasures: [],
    keys: [],
    rotations: [],
    links: [],
    missing: isMissing && here && !isDeleted ? missingOf(here) : null,
    findings: [why, ...linkFindings(remembered)].map(findingFacts),
  };
}

/** Who deleted it, when and why, by its signed tombstone. */
function deletedText({ seq, ts, tombstone }: Pin): string {
  const { at = "", by = "", reason = "" } = tombstone ?? {};
  const why = reason === "" ? "" : `; reason: ${reason}`;
  return `it was deleted ${at} by ${by}${why}; it ended with checkpoint ${seq}, signed ${ts}`;
}

/** Read errors that have a finding code of their own. */
const CAUSES: Readonly<Partial<Record<ErrorCode, FindingCode>>> = {
  LINE_TOO_LONG: "TOO_LONG",
  CHANGED_WHILE_READ: "CHANGED_WHILE_READ",
  NEEDS_RECOVERY: "NEEDS_RECOVERY",
};

function finding(
  code: FindingCode,
  verdict: Verdict | null,
  byteOffset: number | null,
  message: string,
): Finding {
  return { code, verdict, byteOffset, turn: null, message };
}

function findingFacts({ code, verdict, byteOffset, turn, message }: Finding) {
  return { code, verdict, byte_offset: byteOffset, turn, message };
}

/** Findings about the sidecar file itself. */
export function sidecarFindings(sidecar: SidecarInspection): Finding[] {
  const findings: Finding[] = [];
  const { foreignAt, newerAt, tornBytes } = sidecar.sidecar;
  if (newerAt !== null) {
    const message = "a checkpoint is of a format that this program does not know; update it";
    findings.push(finding("NEWER_FORMAT", "unreadable", newerAt, message));
  }
  if (foreignAt !== null) {
    const message = "the file of checkpoints has lines that are not checkpoints";
    findings.push(finding("SIDECAR_FOREIGN_BYTES", "tampered", foreignAt, message));
  }
  if (sidecar.lostAt !== null) {
    const message = `the log ends at byte ${sidecar.lostAt}, and more was signed`;
    findings.push(finding("LOG_SHORTER_THAN_SIDECAR", "rollback", sidecar.lostAt, message));
  }
  if (tornBytes > 0) {
    const message = `the last checkpoint was cut short, by a crash or otherwise`;
    findings.push(finding("TORN_TAIL", null, null, message));
  }
  return findings;
}
