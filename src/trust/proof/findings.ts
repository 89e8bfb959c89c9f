/** Findings: the list of what is wrong with a log, and its messages, which repeat no log text. */

import { asciiJson } from "./checkpoint.ts";
import type { KeyAnswer } from "./ed25519-keys.ts";
import type { Finding, FindingCode, Verdict } from "./verdict.ts";

/** Further findings are dropped, except the first of each code. */
export const FINDINGS_MAX = 100;

/** Messages shorten session names to this: a hostile file may hold any name. */
const NAME_CHARS_MAX = 200;

export class Findings {
  readonly list: Finding[] = [];
  #isBroken = false;

  /** Whether a fault was found: bytes after it are not vouched for. */
  get isBroken(): boolean {
    return this.#isBroken;
  }

  /** Adds a finding that makes the log `tampered`. */
  fault(code: FindingCode, byteOffset: number, turn: number | null, message: string): void {
    this.#isBroken = true;
    this.add(code, "tampered", byteOffset, turn, message);
  }

  /** The first of each code is listed even past FINDINGS_MAX, because it decides the verdict. */
  add(
    code: FindingCode,
    verdict: Verdict | null,
    byteOffset: number | null,
    turn: number | null,
    message: string,
  ): void {
    if (this.list.length >= FINDINGS_MAX && this.list.some((finding) => finding.code === code))
      return;
    this.list.push({ code, verdict, byteOffset, turn, message });
  }
}

/** `which`: checkpoints are named by number. Those of the older format have only a turn. */
export const OTHER_BYTES = (which: string) =>
  `the bytes before ${which} are not those that were signed`;

export const OTHER_GENESIS = "checkpoint 1 was signed after a genesis that states something else";

export const FALSE_SIGNATURE = (which: string) => `the signature of ${which} is not valid`;

export const OLDER_AFTER_NEWER = "a checkpoint of the older format follows one of this format";

export const NEWER = (version: number) =>
  `a checkpoint has format ${version}, which this program does not know; update Verbatim`;

/** Names both sessions, so that a move or a rename is plain at once. */
export function otherSession(seq: number, session: string, expected: string): string {
  const [signed, here] = [session, expected].map((id) => asciiJson(id.slice(0, NAME_CHARS_MAX)));
  return (
    `checkpoint ${seq} is of session ${signed}, but this is the log of ${here}: ` +
    "the file was moved, renamed or replaced"
  );
}

/** Of a genesis that is stated by a key which checkpoint 1 does not lead to. */
export function unconfirmedGenesisText({ kid, owner }: KeyAnswer, firstSize: number): string {
  const whose = owner === null ? "" : ` of ${owner}`;
  const lines = firstSize === 1 ? "line 1 counts" : `lines 1 to ${firstSize} count`;
  return (
    `how the log began is stated by the key ${kid}${whose}, which did not sign checkpoint 1 and is ` +
    `no successor of the key that did: ${lines} as unsigned`
  );
}

/** Why the key of the newest checkpoint, or of another signed text, is refused. */
export function refusedKeyText(
  { refusal, kid, fp, owner }: KeyAnswer,
  signed = "the newest checkpoint",
): string {
  const name = kid ?? `with the short name ${fp}`;
  const whose = owner === null ? "" : ` of ${owner}`;
  const why = refusal === null ? "" : REFUSALS[refusal];
  return `${signed} is signed by the key ${name}${whose}, ${why}`;
}

const REFUSALS: Readonly<Record<NonNullable<KeyAnswer["refusal"]>, string>> = {
  KEY_UNKNOWN: "which is not trusted here",
  KEY_REVOKED: "which was revoked here",
  KEY_EXPIRED: "whose trust ended before that",
  KEY_NOT_YET_VALID: "whose trust begins after that",
  KEY_OF_OTHER_PURPOSE: "which is trusted only for other sessions or purposes",
  KEY_NOT_FOR_OLDER_FORMAT: "which is not allowed to sign in the older checkpoint format",
};
