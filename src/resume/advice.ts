/** Advice: what to do about a session that is refused, by its verdict. */

import { VerbatimError } from "../base/errors.ts";

const ADVICE: Readonly<Record<string, string>> = {
  tampered: "do not go on from it: restore it from a copy, and see docs/security.md",
  unreadable: "no verdict was reached: see to the file, and verify it again",
  rollback: "restore what is missing from a copy, or give it up with `verbatim head accept`",
  untrusted: "trust the key with `verbatim trust add`, once you know whose it is",
  unsigned: "say that it may be unsigned (allowUnsigned, --allow-unsigned), or sign it first",
  unpinned: "verify it by a pin from elsewhere, or look at it and `verbatim verify --pin`",
  incomplete:
    "sign what is there with `verbatim repair --vouch`, or take it unverified (lenient policy)",
};

/** Where nothing but `verified` is taken, whatever a policy says. */
export const STRICT_ADVICE: Readonly<Record<string, string>> = {
  ...ADVICE,
  unsigned: "look at it and sign it with `verbatim repair --vouch`",
  incomplete: "look at what is there and sign it with `verbatim repair --vouch`",
};

/** A refusal with what to do next; every other error as it is. */
export function withAdvice(error: unknown, of = ADVICE): unknown {
  if (!(error instanceof VerbatimError) || error.code !== "NOT_VERIFIED") return error;
  const { path, verdict } = error.details as { readonly path: string; readonly verdict: string };
  const advice = of[verdict];
  if (advice === undefined) return error;
  const message = `${error.message}; ${advice}`;
  return new VerbatimError("NOT_VERIFIED", message, { path, verdict }, { cause: error });
}
