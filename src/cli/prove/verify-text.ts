/** Verify text: a report as text. */

import { labelOf, READ_DIALECT_NAMES } from "../../dialects/registry.ts";
import { adviceOnFinding, META_ADVICE } from "../../resume/advice.ts";
import { groupDigits } from "../../sessions/render/phrases.ts";
import type { VerifyReport } from "../../trust/judge/report.ts";
import { hasTurns } from "../../trust/proof/envelopes.ts";
import { findingLine } from "../serve/findings-report.ts";

/** One line with the verdict, and one for each reason. */
export function describeReport(report: VerifyReport): string[] {
  const { session, path } = report;
  const advice = adviceOn(report);
  return [
    `${session ?? path}: ${report.verdict}${detailOf(report)}`,
    ...signerOf(report),
    ...report.erasures.map(erasureOf),
    ...(report.from ? [beginningOf(report, report.from)] : []),
    ...report.links.map(linkOf),
    ...report.rotations.map(rotationOf),
    ...reasonsOf(report).map(reasonLine),
    ...(advice ? [`  ${advice}`] : []),
  ];
}

/** Like a finding of `doctor`. */
export function reasonLine({
  code,
  verdict,
  byte_offset,
  message,
}: VerifyReport["findings"][number]) {
  const isNote = verdict === null || verdict === "deleted";
  const severity = isNote ? "note" : BAD.has(verdict) ? "error" : "warning";
  return `  ${findingLine({ code, severity, offset: byte_offset, detail: message })}`;
}

const BAD: ReadonlySet<VerifyReport["verdict"]> = new Set(["tampered", "unreadable", "rollback"]);

/** Only the first finding of each kind of tampering: one cause shows at every later checkpoint. */
function reasonsOf({ verdict, findings }: VerifyReport): VerifyReport["findings"] {
  const reasons = findings.filter((finding) => finding.verdict === verdict || !finding.verdict);
  if (verdict !== "tampered") return reasons;
  const converted = reasons.find(({ code }) => code === "LINE_ENDINGS_CONVERTED");
  if (converted) return [converted];
  return reasons.filter(({ code }, n) => reasons.findIndex((each) => each.code === code) === n);
}

function detailOf(report: VerifyReport): string {
  const { verdict, signed_through: through, freshness } = report;
  if (verdict === "verified" && through) {
    const erased = report.erasures.reduce((sum, { lines }) => sum + lines, 0);
    const isWhole = report.erasures.length === 0;
    const amount = `${amountOf(report)}${isWhole ? "" : `, text erased from ${linesOf(erased)}`}`;
    return `: ${amount}${freshnessText(freshness, isWhole)}`;
  }
  const altered = alteredOf(report);
  const isStream = !hasTurns(report.dialect);
  const good = isStream ? `checkpoint ${through?.seq}` : `turn ${through?.turns}`;
  // Only the genesis may be valid.
  const isSome = through !== null && (isStream || through.turns > 0);
  return `${altered ? `: ${altered}` : ""}${isSome ? `; verified to ${good}` : ""}`;
}

/** How much the last valid signature covers. */
function amountOf({ signed_through: through, dialect }: VerifyReport): string {
  if (!through) return "nothing";
  const [count, word] = hasTurns(dialect)
    ? [through.turns, "turn"]
    : [through.seq + 1, "checkpoint"];
  return `${groupDigits(count)} ${word}${count === 1 ? "" : "s"}`;
}

function alteredOf({ bad_range: bad, dialect }: VerifyReport): string | null {
  if (!bad || bad.turns.length === 0) return null;
  const [word, turns] = [hasTurns(dialect) ? "turn" : "checkpoint", bad.turns];
  const which = turns.length === 1 ? `${word} ${turns[0]}` : `${word}s ${listOf(turns)}`;
  if (bad.from === bad.to)
    return `${which}, before byte ${groupDigits(bad.to)}, changed after signing`;
  return `bytes ${groupDigits(bad.from)} to ${groupDigits(bad.to)} (${which}) were changed after signing`;
}

/** Signer and time of the last valid signature, as the signer states them. */
function signerOf({ signed_through: through, keys }: VerifyReport): string[] {
  const key = through && keys.find(({ kid }) => kid === through.kid);
  if (!through || !key) return [];
  const when = through.ts === "" ? "" : `, ${through.ts}`;
  return [`  signed by ${keyText(key)}${when}`];
}

/** A key by its owner and its id, the same for sessions, copies and proofs. */
export function keyText({ kid, owner, trusted }: VerifyReport["keys"][number]): string {
  return `${owner ?? "an unknown key"} (${kid ?? "?"}${trusted ? "" : ", not trusted"})`;
}

/** Also where its copy is gone: the session itself states it. */
function erasureOf({ at, reason }: VerifyReport["erasures"][number]): string {
  return `  text was erased from it${at === null ? "" : `, ${at}`}; reason: ${reason}`;
}

function linesOf(count: number): string {
  return `${groupDigits(count)} ${count === 1 ? "line" : "lines"}`;
}

function beginningOf(
  { erasures }: VerifyReport,
  { log, seq, at }: NonNullable<VerifyReport["from"]>,
): string {
  if (erasures.some((erasure) => erasure.log === log)) {
    return `  it replaced the log ${log} as of checkpoint ${seq} when text was erased`;
  }
  return `  it began as a fork of the log ${log}, at byte ${groupDigits(at)}, signed by checkpoint ${seq}`;
}

function linkOf({ id, log, seq }: VerifyReport["links"][number]): string {
  return `  the session ${JSON.stringify(id)} (log ${log}) goes on from here, says checkpoint ${seq}`;
}

function rotationOf({ seq, from, to, named }: VerifyReport["rotations"][number]): string {
  if (named) return `  from checkpoint ${seq} on the key ${to} signs, as the key ${from} says`;
  return (
    `  from checkpoint ${seq} on the key ${to} signs; the key before it, ${from}, does not name it, ` +
    "so readers must trust both"
  );
}

const TURNS_LISTED_MAX = 5;

function listOf(turns: readonly number[]): string {
  const listed = turns.slice(0, TURNS_LISTED_MAX).join(", ");
  const more = turns.length - TURNS_LISTED_MAX;
  return `${listed}${more > 0 ? ` and ${more} more` : ""}`;
}

const FRESHNESS: Readonly<Record<VerifyReport["freshness"], string>> = {
  match: "it ends with the last head pinned here",
  ahead: "newer than the last head pinned here",
  none: "no head is pinned here, so that lines cut off its end would not be noticed",
};

/** Follows an amount. `isWhole`: nothing was withheld or erased, so nothing is missing. */
export function freshnessText(freshness: VerifyReport["freshness"], isWhole: boolean): string {
  const upTo = freshness === "none" ? " up to its last signature" : "";
  const missing = isWhole && freshness !== "ahead" ? `, nothing missing${upTo}` : "";
  return `${missing}; ${FRESHNESS[freshness]}`;
}

function adviceOn(report: VerifyReport): string | undefined {
  const { verdict, signed_through: through, findings, path } = report;
  const has = (code: string) => findings.some((finding) => finding.code === code);
  // Trusting the key more does not help: its finding says where to read more.
  if (verdict === "untrusted" && has("OLDER_FORMAT")) return undefined;
  if (verdict === "untrusted") return UNTRUSTED.find(([code]) => has(code))?.[1];
  if (verdict === "tampered" && has("LINE_ENDINGS_CONVERTED")) return undefined; // The finding says what to do.
  const isUnwitnessed = findings.some(
    ({ code, message }) => code === "UNPINNED" && message.includes("witness"),
  );
  if (verdict === "unpinned" && isUnwitnessed) {
    return "`verbatim keys head witness` has its head cosigned by a witness";
  }
  const isOnlyWaiting = findings.filter((each) => each.verdict === "incomplete").length === 1;
  if (verdict === "incomplete" && isOnlyWaiting && has("HOOKS_WAITING")) {
    return "`verbatim show`, or any command that reads it, puts them into the log and signs them";
  }
  const reasons = findings.filter((each) => each.verdict === verdict).map(({ code }) => code);
  const isMetaAlone = reasons.length > 0 && reasons.every((code) => code === "META_UNSIGNED");
  const ofReason = isMetaAlone ? META_ADVICE : adviceOnFinding(reasons[0]);
  if (ofReason !== undefined) return ofReason;
  const label = programOf(report.dialect);
  if (verdict === "unsigned" && label !== null) {
    return `${label} signs nothing; \`verbatim guard\` keeps copies of its sessions`;
  }
  if (verdict !== "rollback" || through) return ADVICE[verdict];
  // There is no head that could be accepted.
  const alsoMove = has("LOG_SHORTER_THAN_SIDECAR") ? `, and move ${path}.checkpoints away` : "";
  return `restore it from a copy, or give it up: \`verbatim keys head forget ID\`${alsoMove}`;
}

function programOf(dialect: string): string | null {
  return READ_DIALECT_NAMES.some((name) => name === dialect) ? labelOf(dialect) : null;
}

/** What to do about a verdict. */
const ADVICE: Readonly<Partial<Record<VerifyReport["verdict"], string>>> = {
  tampered: "do not continue it; restore it from a copy, and see docs/security.md",
  rollback: "restore it from a copy, or give up what is lost: `verbatim keys head accept ID`",
  unsigned:
    "`verbatim doctor --fix --vouch ID` signs what is there, after showing it to you; do not resume it " +
    "unattended before",
  unpinned: "verify it by a pin from elsewhere (`--against`), or look at it and use `verify --pin`",
  incomplete: "`verbatim doctor --fix --vouch ID` signs what is there, after showing it to you",
};

/** Only an unknown key can be added. */
const UNTRUSTED: readonly (readonly [string, string])[] = [
  [
    "KEY_UNKNOWN",
    "`verbatim keys trust add FILE --owner NAME` trusts a key, once you know whose it is",
  ],
  [
    "KEY_REVOKED",
    "nothing that a revoked key signed counts; ask its owner for a copy that another key signed",
  ],
  [
    "KEY_EXPIRED",
    "`verbatim keys trust ls` shows until when you trust it; ask its owner for the new key",
  ],
  ["KEY_NOT_YET_VALID", "`verbatim keys trust ls` shows from when on you trust it"],
  ["KEY_OF_OTHER_PURPOSE", "`verbatim keys trust ls` shows what you trust it for"],
];
