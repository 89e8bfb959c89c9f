/** Checked: the result of a check in this browser, whole or of the end only. */

import type { KeyAnswer } from "../../../src/trust/proof/ed25519-keys.ts";
import type { Finding, Verdict } from "../../../src/trust/proof/verdict.ts";
import { worse } from "../../../src/trust/proof/verdict.ts";

/**
 * Sessions up to this size are checked whole automatically; of longer ones this much of the end.
 */
export const WHOLE_BYTES_MAX = 8 * 1024 * 1024;
export const END_BYTES = 4 * 1024 * 1024;

/** A range of the log that is not as it was signed. */
export interface AlteredRange {
  readonly from: number;
  /** One past its last byte. */
  readonly to: number;
  readonly turn: number | null;
}

export interface CheckResult {
  /** The verdict on these bytes; of the end only when `isWhole` is false. */
  readonly verdict: Verdict;
  readonly isWhole: boolean;
  /** Signed segments that are valid, and how many there are: one per checkpoint. */
  readonly stretches: { readonly held: number; readonly total: number };
  /** Turns whose lines are under a valid signature, and how many there are. */
  readonly turns: { readonly held: number; readonly total: number };
  readonly bytes: { readonly checked: number; readonly total: number };
  readonly keys: readonly KeyAnswer[];
  readonly altered: readonly AlteredRange[];
  readonly findings: readonly Finding[];
  /** Whole lines after the last checkpoint. */
  readonly unsignedLines: number;
  /** When the newest valid checkpoint was made, as the signer states. */
  readonly signedAt: string | null;
}

/** Kinds that may come within a turn. A rotation or a link says nothing about turns. */
const ENDS_NOTHING: ReadonlySet<string> = new Set(["batch", "recovery"]);

/** The turn that a checkpoint ends, or that is open at it; 0 for none. */
export function turnAt({ kind, turn }: { readonly kind: string; readonly turn: number }): number {
  return ENDS_NOTHING.has(kind) ? turn + 1 : turn;
}

export function verdictOf(findings: readonly Finding[]): Verdict {
  return findings.reduce<Verdict>(
    (so, { verdict }) => (verdict === null ? so : worse(so, verdict)),
    "verified",
  );
}

/** Where to look: altered ranges, else where the first tampering finding points. */
export function alteredOf(
  altered: readonly AlteredRange[],
  findings: readonly Finding[],
  heldTo: number,
): readonly AlteredRange[] {
  if (altered.length > 0) return altered;
  const first = findings.find(({ verdict }) => verdict === "tampered");
  if (first === undefined || first.byteOffset === null) return [];
  const { byteOffset, turn, code } = first;
  const from = code === "HASH_MISMATCH" ? Math.min(heldTo, byteOffset) : byteOffset;
  return [{ from, to: Math.max(byteOffset, from + 1), turn }];
}
