/** Proof words: what a check found, in plain words. Pure. */

import type { SessionVerdict } from "../../../src/client/session-shapes.ts";
import type { Verdict } from "../../../src/proof/verdict.ts";
import { counted, sizeOf } from "../words.ts";
import type { Checked } from "./checked.ts";

/** How a verdict looks: its colour goes with its sign, so that nobody needs the colour. */
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
};

export const SIGNS: Readonly<Record<Tone, string>> = {
  good: "✓",
  bad: "✕",
  wait: "!",
  plain: "–",
};

/** The word for a badge. */
export function badgeWord({ verdict, isWhole }: Checked, canVerify: boolean): string {
  if (!canVerify && verdict !== "tampered" && verdict !== "unsigned") return "not checked";
  if (verdict === "verified" && !isWhole) return "end verified";
  return verdict === "rollback" ? "rolled back" : verdict;
}

export function toneOf({ verdict, isWhole }: Checked, canVerify: boolean): Tone {
  if (!canVerify && verdict !== "tampered" && verdict !== "unsigned") return "wait";
  return verdict === "verified" && !isWhole ? "good" : TONES[verdict];
}

/** What was found, in a sentence. */
export function sentenceOf(checked: Checked, canVerify: boolean): string {
  const { verdict, isWhole, altered } = checked;
  if (!canVerify && verdict !== "tampered" && verdict !== "unsigned") {
    return "This browser cannot check Ed25519 signatures here, so it proves nothing. See what the server says, or use a newer browser over HTTPS or on this machine.";
  }
  switch (verdict) {
    case "verified":
      return isWhole
        ? "Every byte of this session is as it was signed. Your own browser has checked it."
        : "The end of this session is as it was signed. What stands before it was not checked here.";
    case "tampered":
      return altered.length > 1
        ? `This session is not what was signed: ${counted(altered.length, "stretch", "stretches")} of it were altered.`
        : "This session is not what was signed: part of it was altered.";
    case "rollback":
      return "More was signed than is here: the session was cut back.";
    case "untrusted":
      return "It is signed, but by a key that the user of this server does not trust.";
    case "unsigned":
      return isWhole
        ? "Nobody signed this session. Whether it was changed cannot be told."
        : "No signature covers the end of this session.";
    case "incomplete":
      return "What is signed holds. The last lines are not signed, or not yet.";
    default:
      return "The checkpoints of this session cannot be read.";
  }
}

/** How much was checked here. */
export function checkedWords({ turns, stretches, bytes }: Checked): string {
  if (stretches.total === 0) return "nothing is signed";
  const what =
    turns.total > 0
      ? `${turns.held} of ${counted(turns.total, "turn")}`
      : `${stretches.held} of ${counted(stretches.total, "signed stretch", "signed stretches")}`;
  const { checked, total } = bytes;
  const read =
    checked === total ? `all ${sizeOf(total)}` : `${sizeOf(checked)} of ${sizeOf(total)}`;
  return `${what} hold (${read} read)`;
}

const REFUSALS: Readonly<Record<string, string>> = {
  KEY_UNKNOWN: "not on the trust list",
  KEY_REVOKED: "revoked",
  KEY_EXPIRED: "its time is over",
  KEY_NOT_YET_VALID: "its time has not come",
  KEY_OF_OTHER_PURPOSE: "trusted for other things",
  KEY_NOT_FOR_OLDER_FORMAT: "not allowed to use the older format",
};

/** The server's user calls their own keys so; the reader may be somebody else. */
export function ownerWords(owner: string): string {
  return owner === "you" ? "the user who runs this server" : owner;
}

export function trustWords(refusal: string | null): string {
  return refusal === null ? "trusted" : (REFUSALS[refusal] ?? "not trusted");
}

/** Whether the end is the one that the server's user remembers. */
export function pinWords(report: SessionVerdict): string {
  const rolledBack = report.findings.find(({ code }) => PIN_FINDINGS.has(code));
  if (rolledBack) return `No: ${rolledBack.message}.`;
  switch (report.freshness) {
    case "match":
      return "Yes: it ends where the server's user saw it end.";
    case "ahead":
      return "Yes: it goes on from the end that the server's user saw.";
    default:
      return "None is remembered there: had somebody cut it back to an earlier signed end, it would look the same.";
  }
}

const PIN_FINDINGS = new Set(["BEHIND", "FORK", "REPLACED", "CHECKPOINTS_STRIPPED"]);
