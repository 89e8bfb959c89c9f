/** Advice: what to do about a refused session, by its verdict. */

import { VerbatimError } from "../core/base/errors.ts";

const ADVICE: Readonly<Record<string, string>> = {
  tampered: "do not continue from it: restore it from a copy, and see docs/security.md",
  unreadable: "no verdict was reached: check the file, and verify it again",
  rollback: "restore what is missing from a copy, or give it up with `verbatim keys head accept`",
  untrusted: "trust the key with `verbatim keys trust add`, once you know whose key it is",
  unsigned: "allow it to be unsigned (allowUnsigned, --allow-unsigned), or sign it first",
  unpinned: "verify it by a pin from elsewhere, or look at it and `verbatim verify --pin`",
  incomplete:
    "sign what is there with `verbatim doctor --fix --vouch`, or take it unverified (lenient policy)",
};

/** Where only `verified` is accepted, whatever the policy. */
export const STRICT_ADVICE: Readonly<Record<string, string>> = {
  ...ADVICE,
  unsigned: "look at it and sign it with `verbatim doctor --fix --vouch`",
  incomplete: "look at what is there and sign it with `verbatim doctor --fix --vouch`",
};

/** Findings about the signed file that no signature over the log mends. */
const OF_META: ReadonlySet<string | undefined> = new Set([
  "META_ALTERED",
  "META_STRIPPED",
  "META_OTHER_LOG",
  "META_BEHIND",
  "META_MISSING",
  "META_RECONSTRUCTED",
]);

export const META_ADVICE =
  "restore its thread.json from a copy; without one, move the file away and write it again " +
  "(`writeThreadMeta`)";

/** What to do about a finding, if that is more than its verdict says. */
export function adviceOnFinding(code: string | undefined): string | undefined {
  return OF_META.has(code) ? META_ADVICE : undefined;
}

/** Adds what to do next to a refusal; every other error is returned unchanged. */
export function withAdvice(error: unknown, of = ADVICE): unknown {
  if (!(error instanceof VerbatimError) || error.code !== "NOT_VERIFIED") return error;
  const { details } = error as VerbatimError<"NOT_VERIFIED">;
  const advice = adviceOnFinding(details.finding) ?? of[details.verdict];
  if (advice === undefined) return error;
  const message = `${error.message}; ${advice}`;
  return new VerbatimError("NOT_VERIFIED", message, details, { cause: error });
}
