/** Verify text: a report as a person reads it. */

import { grouped } from "../render/phrases.ts";
import type { VerifyReport } from "../signing/report.ts";

/** One line with the verdict, and one for each reason. */
export function describeReport(report: VerifyReport): string[] {
  const { session, path, verdict, findings } = report;
  const reasons = findings.filter((finding) => finding.verdict === verdict || !finding.verdict);
  const advice = adviceOn(report);
  return [
    `${session ?? path}: ${verdict}${detailOf(report)}`,
    ...(report.from ? [beginningOf(report.from)] : []),
    ...reasons.map(({ message, code }) => `  ${message} (${code})`),
    ...(advice ? [`  ${advice}`] : []),
  ];
}

function detailOf({ verdict, signed_through: through, bad_range: bad, freshness }: VerifyReport) {
  if (verdict === "verified" && through) return ` to turn ${through.turn}${FRESHNESS[freshness]}`;
  const parts: string[] = [];
  if (through) parts.push(`verified to turn ${through.turn}`);
  if (bad && bad.turns.length > 0) {
    const turns =
      bad.turns.length === 1 ? `turn ${bad.turns[0]} was` : `${turnsOf(bad.turns)} were`;
    parts.push(`${turns} altered, from byte ${grouped(bad.from)} to ${grouped(bad.to)}`);
  }
  return parts.length === 0 ? "" : `; ${parts.join("; ")}`;
}

function beginningOf({ log, seq, at }: NonNullable<VerifyReport["from"]>): string {
  return `  it began as a fork of the log ${log}, at byte ${grouped(at)}, signed by checkpoint ${seq}`;
}

const TURNS_LISTED_MAX = 5;

function turnsOf(turns: readonly number[]): string {
  const listed = turns.slice(0, TURNS_LISTED_MAX).join(", ");
  const more = turns.length - TURNS_LISTED_MAX;
  return `turns ${listed}${more > 0 ? ` and ${more} more` : ""}`;
}

const FRESHNESS: Readonly<Record<VerifyReport["freshness"], string>> = {
  match: ", and that is the last head seen",
  ahead: ", past the last head seen",
  none: "; no head was seen before, so that lines cut off its end would not be missed",
};

function adviceOn(report: VerifyReport): string | undefined {
  const { verdict, signed_through: through, findings, path } = report;
  // Trusting the key more than it was is no way out: its finding says where to read on.
  if (verdict === "untrusted" && findings.some(({ code }) => code === "OLDER_FORMAT")) return;
  if (verdict !== "rollback" || through) return ADVICE[verdict];
  // There is no head that could be accepted.
  const isBeside = findings.some(({ code }) => code === "LOG_SHORTER_THAN_SIDECAR");
  const beside = isBeside ? `, and move ${path}.checkpoints away` : "";
  return `restore it from a copy, or give it up: \`verbatim head forget\`${beside}`;
}

/** What to do about it. */
const ADVICE: Readonly<Partial<Record<VerifyReport["verdict"], string>>> = {
  tampered: "do not go on from it; restore it from a copy, and see docs/security.md",
  rollback: "restore it from a copy, or give up what is lost: `verbatim head accept`",
  untrusted: "`verbatim trust add` trusts a key, once you know whose it is",
  incomplete: "`verbatim repair --vouch` signs what is there, after showing it to you",
};
