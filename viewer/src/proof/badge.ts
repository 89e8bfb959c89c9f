/**
 * Badge: one verdict from two judges. This browser checks the log's bytes; the server also knows
 * the pinned heads, the files next to the log and which keys are trusted. Pure.
 *
 * - The badge shows the worse of the two, by the order of src/trust/proof/verdict.ts.
 * BD2  It is green only when both have answered, about the session as it is now, and both say
 *      verified.
 */

import type { SessionVerdict } from "../../../src/client/session-shapes.ts";
import { VERDICTS, type Verdict, worse } from "../../../src/trust/proof/verdict.ts";
import { countText, erasedText } from "../words.ts";
import type { CheckResult } from "./checked.ts";
import { ADVICE, sentenceOf, TONES, type Tone, VERDICT_WORDS } from "./proof-words.ts";

/** What this browser knows. */
export type BrowserWord =
  | { readonly is: "checking"; readonly share: number }
  | { readonly is: "checked"; readonly checked: CheckResult; readonly canVerify: boolean }
  | { readonly is: "failed"; readonly reason: string };

/** The server's answer. For a very long session it is requested only on demand. */
export type ServerWord =
  | { readonly is: "asking" }
  | { readonly is: "not asked" }
  | { readonly is: "said"; readonly report: SessionVerdict }
  | { readonly is: "failed"; readonly reason: string };

export interface Words {
  readonly browser: BrowserWord;
  readonly server: ServerWord;
  /** The session was appended to within the last minute. */
  readonly isLive: boolean;
  /** The session has changed since these answers: new ones were requested. */
  readonly isStale: boolean;
}

export interface Badge {
  /**
   * The worse of the two verdicts; null while there is none, or only one of two that must agree.
   */
  readonly verdict: Verdict | null;
  readonly tone: Tone;
  readonly word: string;
  readonly sentence: string;
  /** What to do next; null when there is nothing to do. */
  readonly advice: string | null;
}

export function badgeOf(words: Words): Badge {
  const ours = browserVerdict(words.browser);
  const theirs = serverVerdict(words.server);
  const verdict = worst(ours, theirs);
  if (verdict !== null && TONES[verdict] === "bad") return bad(verdict, words);
  const isPending = words.browser.is === "checking" || words.server.is === "asking";
  if (isPending) return pending(words.browser);
  if (verdict === null) return unchecked(words);
  if (verdict !== "verified")
    return isSigning(verdict, words) ? signing(words) : bad(verdict, words);
  if (ours === null || theirs === null) return halfChecked(words); // BD2
  return words.isStale ? pending(words.browser) : verified(words);
}

/** This browser's verdict; null when it has none yet, or cannot check signatures. */
export function browserVerdict(browser: BrowserWord): Verdict | null {
  if (browser.is !== "checked") return null;
  const { verdict } = browser.checked;
  return browser.canVerify || NEEDS_NO_SIGNATURE.has(verdict) ? verdict : null;
}

/** Verdicts that need no signature. */
const NEEDS_NO_SIGNATURE = new Set<Verdict>(["tampered", "unreadable", "rollback", "unsigned"]);

/** Null when there is no answer. An unknown verdict is not a good one. */
export function serverVerdict(server: ServerWord): Verdict | null {
  if (server.is !== "said") return null;
  return VERDICTS.find((known) => known === server.report.verdict) ?? "unreadable";
}

function worst(one: Verdict | null, other: Verdict | null): Verdict | null {
  if (one === null || other === null) return one ?? other;
  return worse(one, other);
}

function verified({ browser, server }: Words): Badge {
  const isWhole = browser.is === "checked" && browser.checked.isWhole;
  const sentence = isWhole
    ? "Every byte of this session is as it was signed."
    : "The server found every byte as it was signed. Your browser checked the end.";
  const erasures = server.is === "said" ? (server.report.erasures ?? []) : [];
  const word = isWhole ? "verified" : "end verified";
  return {
    verdict: "verified",
    tone: "good",
    word: erasures.length === 0 ? word : `${word}, text erased`,
    sentence: [sentence, ...erasures.map(erasureSentence)].join(" "),
    advice: null,
  };
}

function erasureSentence(erasure: NonNullable<SessionVerdict["erasures"]>[number]): string {
  const text = erasedText(erasure);
  return `Before it was signed again, ${text}${text.endsWith(".") ? "" : "."}`;
}

function bad(verdict: Verdict, { browser, server }: Words): Badge {
  const found = browser.is === "checked" ? browser.checked : null;
  const sentence = sentenceOf(verdict, verdict === browserVerdict(browser) ? found : null);
  const report = server.is === "said" ? server.report : null;
  return {
    verdict,
    tone: TONES[verdict],
    word: VERDICT_WORDS[verdict],
    sentence,
    advice: ADVICE[verdict](report?.session ?? "ID"),
  };
}

function pending(browser: BrowserWord): Badge {
  const share = browser.is === "checking" ? browser.share : 0;
  const sentence = "Your browser and the server are checking what was signed.";
  const word = `checking ${percent(share)}`;
  return { verdict: null, tone: "plain", word, sentence, advice: null };
}

/** Neither judge has a verdict. */
function unchecked({ browser, server }: Words): Badge {
  const why = [browser, server].map((word) => (word.is === "failed" ? word.reason : ""));
  const sentence = `This session could not be checked. ${why.join(" ")}`.trim();
  return { verdict: null, tone: "wait", word: "not checked", sentence, advice: AGAIN };
}

const AGAIN = "Check again, or run `verbatim verify` where the session lies.";

/** One says verified, and the other says nothing: never green. */
function halfChecked({ browser, server }: Words): Badge {
  if (server.is !== "said") {
    const isFailed = server.is === "failed";
    const why = isFailed ? `: ${server.reason}` : " yet.";
    const sentence =
      "What your browser read is as it was signed. " +
      `The server has not checked pins and the files next to the log${why}`;
    const advice = isFailed ? AGAIN : "“Check all of it” asks the server, too.";
    return { verdict: null, tone: "wait", word: "half checked", sentence, advice };
  }
  const why =
    browser.is === "failed"
      ? `could not check it: ${browser.reason}`
      : "cannot check Ed25519 signatures on this page.";
  return {
    verdict: null,
    tone: "wait",
    word: "not checked here",
    sentence: `The server says that this session is verified. Your browser ${why}`,
    advice: "Use a newer browser over HTTPS or on this machine, or run `verbatim verify` yourself.",
  };
}

/** An honest session that is being written: the last lines are signed when their turn ends. */
function isSigning(verdict: Verdict, { browser, server, isLive }: Words): boolean {
  if (verdict !== "incomplete" || !isLive) return false;
  const codes = [
    ...(browser.is === "checked" ? browser.checked.findings : []),
    ...(server.is === "said" ? server.report.findings : []),
  ].map(({ code }) => code);
  return !codes.some((code) => code === "FOUND_UNSIGNED" || code === "NUL_TAIL");
}

function signing({ browser, server }: Words): Badge {
  const ours = browser.is === "checked" ? browser.checked.unsignedLines : 0;
  const lines = Math.max(ours, server.is === "said" ? tailLines(server.report) : 0);
  const waiting = `${countText(lines, "line")} not signed yet`;
  return {
    verdict: "incomplete",
    tone: "plain",
    word: "signing …",
    sentence: `Signing in progress: ${waiting}. What is signed holds.`,
    advice: null,
  };
}

function tailLines({ tail }: SessionVerdict): number {
  const lines = (tail as { readonly lines?: unknown } | undefined)?.lines;
  return typeof lines === "number" ? lines : 0;
}

export function percent(share: number): string {
  return share === 0 ? "…" : `${Math.floor(share * 100)} %`;
}
