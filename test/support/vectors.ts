/** Vectors: expected results that another implementation computed (test/vectors/make.py). */

import { readFileSync } from "node:fs";

export interface SignatureCase {
  readonly comment: string;
  readonly key: Uint8Array;
  readonly message: Uint8Array;
  readonly signature: Uint8Array;
  readonly isValid: boolean;
}

/** How many there are, of which so many are valid: a file that lost cases fails the tests. */
export const SIGNATURE_CASES = { all: 115, valid: 17 };

// biome-ignore lint/suspicious/noExplicitAny: JSON of known shape, read by tests alone.
export function ownVectors(name: string): any {
  return JSON.parse(readFileSync(new URL(`../vectors/${name}.json`, import.meta.url), "utf8"));
}

export function signatureCases(): readonly SignatureCase[] {
  return ownVectors("ed25519").map((each: Record<string, string>) => ({
    ...each,
    key: Buffer.from(each.key ?? "", "hex"),
    message: Buffer.from(each.message ?? "", "hex"),
    signature: Buffer.from(each.signature ?? "", "hex"),
  }));
}

/** The cases of a file of Wycheproof's. */
export function wycheproofCases(path: string): readonly SignatureCase[] {
  const { testGroups, numberOfTests } = JSON.parse(readFileSync(path, "utf8"));
  const cases: SignatureCase[] = [];
  for (const { publicKey, tests } of testGroups) {
    for (const { tcId, comment, msg, sig, result } of tests) {
      cases.push({
        comment: `case ${tcId}: ${comment}`,
        key: Buffer.from(publicKey.pk, "hex"),
        message: Buffer.from(msg, "hex"),
        signature: Buffer.from(sig, "hex"),
        isValid: result === "valid",
      });
    }
  }
  if (cases.length !== numberOfTests) throw new Error("cases of Wycheproof are missing");
  return cases;
}
