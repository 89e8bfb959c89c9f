/** Finding words: what the judge says of checkpoints, for people. No text of a log is in it. */

import { asciiJson } from "./checkpoint.ts";
import type { KeyAnswer } from "./keys.ts";

/** A file can name a session as it likes: of a long name only the beginning is repeated. */
const NAME_CHARS_MAX = 200;

export const OTHER_BYTES = (turn: number) =>
  `bytes before turn ${turn}'s checkpoint are not those that were signed`;

export const FALSE_SIGNATURE = (turn: number) => `the signature of turn ${turn} is false`;

export const OLDER_AFTER_NEWER = "a checkpoint of the older format stands after one of this format";

export const NEWER = (version: number) =>
  `a checkpoint is of format ${version}, which this program does not know; update it`;

/** Both names: who moved or renamed a session sees at once what was done. */
export function otherSession(seq: number, said: string, expected: string): string {
  const [signed, here] = [said, expected].map((id) => asciiJson(id.slice(0, NAME_CHARS_MAX)));
  return (
    `checkpoint ${seq} is of the session ${signed}, and this is the log of ${here}: ` +
    "the file was moved, renamed or replaced"
  );
}

/** Why the newest checkpoint does not count, with the key that it is by. */
export function refused({ refusal, kid, fp, owner }: KeyAnswer): string {
  const name = kid ?? `with the short name ${fp}`;
  const whose = owner === null ? "" : ` of ${owner}`;
  const why = refusal === null ? "" : REFUSALS[refusal];
  return `the newest checkpoint is signed by the key ${name}${whose}, ${why}`;
}

const REFUSALS: Readonly<Record<NonNullable<KeyAnswer["refusal"]>, string>> = {
  KEY_UNKNOWN: "which is not trusted here",
  KEY_REVOKED: "which was revoked here",
  KEY_EXPIRED: "which was trusted only until before that checkpoint",
  KEY_NOT_YET_VALID: "which is trusted only from after that checkpoint on",
  KEY_OF_OTHER_PURPOSE: "which is trusted for other sessions or purposes only",
  KEY_NOT_FOR_OLDER_FORMAT: "which you did not allow to use the older format of checkpoints",
};
