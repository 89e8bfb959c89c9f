/** Case: one attack on a signed session, the files it leaves, and the expected verdict. */

import type { Pin } from "../../../src/trust/proof/pin.ts";
import type { Freshness } from "../../../src/trust/proof/pins.ts";
import type { FindingCode, Verdict } from "../../../src/trust/proof/verdict.ts";
import { bytesOf, checkpointEnds, editLast, type Honest, type Kit, linesOf } from "./kit.ts";

/** As a user passes them to `verbatim verify`. */
export interface Flags {
  readonly profile?: "rye";
  readonly requirePin?: true;
  readonly lenient?: true;
  readonly allowUnsigned?: true;
}

/** The files after the attack. */
export interface Attacked {
  /** The session that the store takes it for: the place of the log. */
  readonly honest: Honest;
  /** Null: deleted. */
  readonly log: Uint8Array | null;
  readonly sidecar?: Uint8Array | null;
  /** Other files, by their path below the store's root. */
  readonly otherFiles?: Readonly<Record<string, Uint8Array>>;
  readonly pin: Pin | null;
}

export interface AttackCase {
  readonly name: string;
  /** The hole or the threat that it represents. */
  readonly row: string;
  readonly attacks: string;
  readonly flags?: Flags;
  readonly verdict: Verdict;
  /** If it differs from the verdict's own. */
  readonly exit?: number;
  /** Findings that must be reported. */
  readonly codes: readonly FindingCode[];
  readonly freshness?: Freshness;
  readonly make: (kit: Kit) => Promise<Attacked>;
}

/** Scripts rely on these; repeated here, so that a change in the product is noticed. */
export const EXITS: Readonly<Record<Verdict, number>> = {
  verified: 0,
  tampered: 1,
  unsigned: 3,
  untrusted: 4,
  incomplete: 5,
  rollback: 6,
  unpinned: 6,
  unreadable: 7,
  deleted: 8,
};

/** A changed log, everything else unchanged. */
export function changed(honest: Honest, log: Uint8Array | null, isPinned = true): Attacked {
  const sidecar = honest.sidecar.length > 0 ? { sidecar: honest.sidecar } : {};
  return { honest, log, ...sidecar, pin: isPinned ? honest.pin : null };
}

/** The last checkpoint's line, in the log or in its sidecar. */
export function lastCheckpoint({ log, sidecar }: Honest): string {
  return linesOf(sidecar.length > 0 ? sidecar : log).at(-1) ?? "";
}

/** Changes that line. */
export function withLast(
  honest: Honest,
  edit: (line: string) => string,
  isPinned = false,
): Attacked {
  if (honest.sidecar.length === 0) return changed(honest, editLast(honest.log, edit), isPinned);
  const sidecar = editLast(honest.sidecar, edit);
  return { ...changed(honest, honest.log, isPinned), sidecar };
}

/** Everything as at an older checkpoint, counted as in `Array.at`; then with a tail. */
export function cutBackTo(honest: Honest, at: number, isPinned: boolean, tail = ""): Attacked {
  const { log, sidecar } = honest;
  const cut = (end: number | undefined) => Buffer.concat([log.subarray(0, end), Buffer.from(tail)]);
  if (sidecar.length === 0) return changed(honest, cut(checkpointEnds(log).at(at)), isPinned);
  const lines = linesOf(sidecar);
  const older = at < 0 ? lines.slice(0, lines.length + at + 1) : lines.slice(0, at + 1);
  const { payload } = JSON.parse(older.at(-1) ?? "") as { payload: { byte_offset: number } };
  const attacked = changed(honest, cut(payload.byte_offset), isPinned);
  return { ...attacked, sidecar: bytesOf(older) };
}
