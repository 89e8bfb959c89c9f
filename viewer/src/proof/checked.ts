/** Checked: what a check in this browser found, whole or of the end alone. */

import type { KeyAnswer } from "../../../src/proof/keys.ts";
import type { Finding, Verdict } from "../../../src/proof/verdict.ts";
import { worse } from "../../../src/proof/verdict.ts";

/** Up to here a session is checked whole without being asked; of longer ones this much of the end. */
export const WHOLE_BYTES_MAX = 8 * 1024 * 1024;
export const END_BYTES = 4 * 1024 * 1024;

/** A stretch of the log that is not as it was signed. */
export interface AlteredRange {
  readonly from: number;
  /** One past its last byte. */
  readonly to: number;
  readonly turn: number | null;
}

export interface Checked {
  /** What these bytes call for; of the end alone when `isWhole` is false. */
  readonly verdict: Verdict;
  readonly isWhole: boolean;
  /** Signed stretches that hold, and how many there are: one for each checkpoint. */
  readonly stretches: { readonly held: number; readonly total: number };
  /** Turns whose lines are under a signature that holds, and how many there are. */
  readonly turns: { readonly held: number; readonly total: number };
  readonly bytes: { readonly checked: number; readonly total: number };
  readonly keys: readonly KeyAnswer[];
  readonly altered: readonly AlteredRange[];
  readonly findings: readonly Finding[];
  /** Whole lines after the last checkpoint. */
  readonly unsignedLines: number;
  /** When the signer says that the newest checkpoint which holds was made. */
  readonly signedAt: string | null;
}

/** Kinds before which a turn may go on. A rotation or a link says nothing of turns. */
const ENDS_NOTHING: ReadonlySet<string> = new Set(["batch", "recovery"]);

/** The turn that a checkpoint ends, or that goes on where it stands; 0 for none. */
export function turnAt({ kind, turn }: { readonly kind: string; readonly turn: number }): number {
  return ENDS_NOTHING.has(kind) ? turn + 1 : turn;
}

export function verdictOf(findings: readonly Finding[]): Verdict {
  return findings.reduce<Verdict>(
    (so, { verdict }) => (verdict === null ? so : worse(so, verdict)),
    "verified",
  );
}

/** Where to look: what was found altered, else where the first finding of tampering points to. */
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
