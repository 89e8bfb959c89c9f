/** Advice: what to do about a refused session, by its verdict. */

import { VerbatimError } from "../base/errors.ts";

const ADVICE: Readonly<Record<string, string>> = {
  tampered: "do not continue from it: restore it from a copy, and see docs/security.md",
  unreadable: "no verdict was reached: check the file, and verify it again",
  rollback: "restore what is missing from a copy, or give it up with `verbatim head accept`",
  untrusted: "trust the key with `verbatim trust add`, once you know whose key it is",
  unsigned: "allow it to be unsigned (allowUnsigned, --allow-unsigned), or sign it first",
  unpinned: "verify it by a pin from elsewhere, or look at it and `verbatim verify --pin`",
  incomplete:
    "sign what is there with `verbatim repair --vouch`, or take it unverified (lenient policy)",
};

/** Where only `verified` is accepted, whatever the policy. */
export const STRICT_ADVICE: Readonly<Record<string, string>> = {
  ...ADVICE,
  unsigned: "look at it and sign it with `verbatim repair --vouch`",
  incomplete: "look at what is there and sign it with `verbatim repair --vouch`",
};

/** Adds what to do next to a refusal; every other error is returned unchanged. */
export function withAdvice(error: unknown, of = ADVICE): unknown {
  if (!(error instanceof VerbatimError) || error.code !== "NOT_VERIFIED") return error;
  const { path, verdict } = error.details as { readonly path: string; readonly verdict: string };
  const advice = of[verdict];
  if (advice === undefined) return error;
  const message = `${error.message}; ${advice}`;
  return new VerbatimError("NOT_VERIFIED", message, { path, verdict }, { cause: error });
}
