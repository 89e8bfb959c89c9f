/** Proof words: results of a check as text for people. Pure. */

import type { SessionVerdict } from "../../../src/client/session-shapes.ts";
import type { Verdict } from "../../../src/trust/proof/verdict.ts";
import { countText, sizeOf } from "../words.ts";
import type { CheckResult } from "./checked.ts";

/** The look of a verdict: each colour has its sign, so that colour is not needed. */
export type Tone = "good" | "bad" | "wait" | "plain";

export const TONES: Readonly<Record<Verdict, Tone>> = {
  verified: "good",
  tampered: "bad",
  rollback: "bad",
  unreadable: "bad",
  untrusted: "wait",
  unpinned: "wait",
  incomplete: "wait",
  unsigned: "plain",
  deleted: "plain",
};

export const SIGNS: Readonly<Record<Tone, string>> = {
  good: "✓",
  bad: "✕",
  wait: "!",
  plain: "–",
};

/** The verdict in a word or two, for the badge and the list. */
export const VERDICT_WORDS: Readonly<Record<Verdict, string>> = {
  verified: "verified",
  tampered: "tampered",
  unreadable: "unreadable",
  rollback: "rolled back",
  untrusted: "untrusted",
  unsigned: "unsigned",
  unpinned: "unpinned",
  incomplete: "incomplete",
  deleted: "deleted",
};

const SENTENCES: Readonly<Record<Verdict, string>> = {
  verified: "Every byte of this session is as it was signed.",
  tampered: "This session is not what was signed: part of it was altered.",
  unreadable: "The signatures of this session cannot be read.",
  rollback: "More was signed than is here: this session was cut back or replaced.",
  untrusted: "It is signed, but by a key that the user of this server does not trust.",
  unsigned: "Nothing here is signed. Whether it was changed cannot be told.",
  unpinned: "The user of this server does not remember where this session ended.",
  incomplete: "What is signed holds. The last lines are not signed.",
  deleted: "This session was deleted on purpose, as its owner signed.",
};

/** The verdict in a sentence; `checked` when it is this browser's. */
export function sentenceOf(verdict: Verdict, checked: CheckResult | null): string {
  const stretches = checked?.altered.length ?? 0;
  if (verdict === "tampered" && stretches > 1) {
    return `This session is not what was signed: ${countText(stretches, "stretch", "stretches")} of it were altered.`;
  }
  return SENTENCES[verdict];
}

/** What to do next: docs/security.md, "When a verdict is bad", in short. */
export const ADVICE: Readonly<Record<Verdict, (id: string) => string | null>> = {
  verified: () => null,
  tampered: (id) =>
    "Do not rely on it. Keep the files as they are and compare them with a backup. " +
    `\`verbatim verify --deep ${id}\` names the first altered byte.`,
  unreadable: (id) =>
    `No verdict was reached. \`verbatim verify ${id}\` says why: the disk, a limit, or a newer version.`,
  rollback: (id) =>
    `If you restored a backup yourself, run \`verbatim keys head accept ${id}\`. ` +
    "Otherwise treat it as tampered.",
  untrusted: () =>
    "Nothing says that it was changed. Find out whose key it is in another way, " +
    "then run `verbatim keys trust add`.",
  unsigned: () =>
    "It was never signed, or its signatures were removed. To sign from now on, record with " +
    "`verbatim record --sign` or `verbatim hooks install --sign`; `verbatim guard --sign` signs " +
    "the copies of other programs' sessions.",
  unpinned: (id) => `Look at it, then run \`verbatim verify --pin ${id}\`.`,
  incomplete: (id) =>
    `Usually a crash. Read the last lines; \`verbatim doctor --fix --vouch ${id}\` signs them in your name.`,
  deleted: () => null,
};

/** How much was checked here. */
export function checkedWords({ turns, stretches, bytes }: CheckResult): string {
  if (stretches.total === 0) return "nothing signed found";
  const what =
    turns.total > 0
      ? `${turns.held} of ${countText(turns.total, "turn")}`
      : `${stretches.held} of ${countText(stretches.total, "signed stretch", "signed stretches")}`;
  const { checked, total } = bytes;
  const read =
    checked === total ? `all ${sizeOf(total)}` : `${sizeOf(checked)} of ${sizeOf(total)}`;
  return `${what} hold (${read} read)`;
}

const REFUSALS: Readonly<Record<string, string>> = {
  KEY_UNKNOWN: "not on the trust list",
  KEY_REVOKED: "revoked",
  KEY_EXPIRED: "expired",
  KEY_NOT_YET_VALID: "not valid yet",
  KEY_OF_OTHER_PURPOSE: "trusted for other purposes",
  KEY_NOT_FOR_OLDER_FORMAT: "not allowed to use the older format",
};

/** The server's user calls their own keys "you"; the reader may be another person. */
export function ownerWords(owner: string): string {
  return owner === "you" ? "the user who runs this server" : owner;
}

export function trustWords(refusal: string | null): string {
  return refusal === null ? "trusted" : (REFUSALS[refusal] ?? "not trusted");
}

/** Whether the end is the pinned one; null where a finding says it. */
export function pinWords(report: SessionVerdict): string | null {
  if (report.findings.some(({ code }) => PIN_FINDINGS.has(code))) return null;
  switch (report.freshness) {
    case "match":
      return "It ends where the server's user last saw it end.";
    case "ahead":
      return "It continues from the end that the server's user last saw.";
    default:
      return "No end is remembered there: if it had been cut back to an earlier signed end, it would look the same.";
  }
}

const PIN_FINDINGS = new Set(["BEHIND", "FORK", "REPLACED", "CHECKPOINTS_STRIPPED"]);
