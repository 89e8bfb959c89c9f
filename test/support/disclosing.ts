/** Disclosing: copies of real signed sessions, and verdicts on their bytes. */

import { nodeHost } from "../../src/core/base/node-host.ts";
import { allOf, type Finder } from "../../src/evidence/redact/hits.ts";
import {
  type RedactionResult,
  type RedactOptions,
  redactLog,
} from "../../src/evidence/redact/redact.ts";
import { entriesNumbered, matching } from "../../src/evidence/redact/text-matches.ts";
import { loadSigner } from "../../src/trust/keys/keys.ts";
import { nodeCrypto } from "../../src/trust/keys/node-crypto.ts";
import {
  type DisclosedLine,
  DisclosureJudge,
  type DisclosureResult,
} from "../../src/trust/proof/disclosure/judge.ts";
import type { SignableLog } from "../../src/trust/session-log.ts";
import { Trust, transcriptKeys } from "../../src/trust/trusted-keys/trust.ts";
import type { SigningUser } from "./signing-user.ts";

/** Longer than any string that can be withheld by itself must be. */
export const SECRET =
  "the address is 17 Mill Lane and the number of the card is 48213, do not tell";
/** Short: it takes its line with it. */
export const SHORT = "code 90417";

export const secrets: Finder = allOf(matching(["48213"]), matching(["90417"]));

export interface Copy extends RedactionResult {
  readonly bytes: Buffer;
}

export async function disclose(
  user: SigningUser,
  target: SignableLog,
  options: Partial<RedactOptions> & { readonly entries?: readonly number[] } = {},
): Promise<Copy> {
  const pieces: Buffer[] = [];
  const { entries = [], finder = secrets } = options;
  const redacted = await redactLog(nodeHost, target, {
    verify: await user.judging({ ...target }, false),
    reason: "a test",
    signer: await loadSigner(nodeHost, user.places),
    nowMs: () => 1.8e12,
    ...options,
    finder: allOf(finder, entriesNumbered(new Set(entries))),
    out: (bytes) => pieces.push(Buffer.from(bytes)),
  });
  return { ...redacted, bytes: Buffer.concat(pieces) };
}

export interface Judged extends DisclosureResult {
  /** What is shown, in order; strings that are withheld are runs of x. */
  readonly shown: readonly DisclosedLine[];
  readonly text: string;
}

export function keysOf(user: SigningUser) {
  return transcriptKeys(Trust.read(user.places), null);
}

/** The verdict of a reader, fed in chunks of this size. */
export function judgeBytes(
  keys: ReturnType<typeof keysOf>,
  bytes: Uint8Array,
  chunk = bytes.length + 1,
): Judged {
  const shown: DisclosedLine[] = [];
  const onShown = (each: DisclosedLine) => {
    shown.push({ ...each, bytes: each.bytes?.slice() ?? null });
  };
  const options = { crypto: nodeCrypto, keys, pinnedSeqOf: () => null, onShown };
  const judge = new DisclosureJudge(options);
  for (let at = 0; at < bytes.length; at += chunk) judge.feed(bytes.subarray(at, at + chunk));
  const text = () => shown.map((each) => Buffer.from(each.bytes ?? []).toString()).join("\n");
  return { ...judge.finish(), shown, text: text() };
}

export function verdictOf({ verdict, findings }: DisclosureResult): string {
  const first = findings.find((each) => each.verdict === verdict);
  return first ? `${verdict} ${first.code}` : verdict;
}
