/** Case: one attack on a signed session, the files it leaves, and what must be said of them. */

import type { Pin } from "../../../src/proof/pin.ts";
import type { Freshness } from "../../../src/proof/pins.ts";
import type { FindingCode, Verdict } from "../../../src/proof/verdict.ts";
import { bytesOf, checkpointEnds, editLast, type Honest, type Kit, linesOf } from "./kit.ts";

/** As a user gives them to `verbatim verify`. */
export interface Flags {
  readonly profile?: "rye";
  readonly requirePin?: true;
  readonly lenient?: true;
  readonly allowUnsigned?: true;
}

/** What the attacker leaves. */
export interface Attacked {
  /** Of whom the store says that it is: where the log lies. */
  readonly honest: Honest;
  /** Null: gone. */
  readonly log: Uint8Array | null;
  readonly sidecar?: Uint8Array | null;
  /** Other files, by their path below the store's root. */
  readonly beside?: Readonly<Record<string, Uint8Array>>;
  readonly pin: Pin | null;
}

export interface AttackCase {
  readonly name: string;
  /** The hole or the threat that it stands for. */
  readonly row: string;
  readonly attacks: string;
  readonly flags?: Flags;
  readonly verdict: Verdict;
  /** When it is not the verdict's own. */
  readonly exit?: number;
  /** Findings that must be among those told. */
  readonly codes: readonly FindingCode[];
  readonly freshness?: Freshness;
  readonly make: (kit: Kit) => Promise<Attacked>;
}

/** Scripts rely on these; written out here, so that a change of the product's own shows. */
export const EXITS: Readonly<Record<Verdict, number>> = {
  verified: 0,
  tampered: 1,
  unsigned: 3,
  untrusted: 4,
  incomplete: 5,
  rollback: 6,
  unpinned: 6,
  unreadable: 7,
};

/** A log that was changed, everything else as it was. */
export function changed(honest: Honest, log: Uint8Array | null, isPinned = true): Attacked {
  const sidecar = honest.sidecar.length > 0 ? { sidecar: honest.sidecar } : {};
  return { honest, log, ...sidecar, pin: isPinned ? honest.pin : null };
}

/** The last checkpoint's line, in the log or beside it. */
export function lastCheckpoint({ log, sidecar }: Honest): string {
  return linesOf(sidecar.length > 0 ? sidecar : log).at(-1) ?? "";
}

/** That line changed. */
export function withLast(
  honest: Honest,
  edit: (line: string) => string,
  isPinned = false,
): Attacked {
  if (honest.sidecar.length === 0) return changed(honest, editLast(honest.log, edit), isPinned);
  const sidecar = editLast(honest.sidecar, edit);
  return { ...changed(honest, honest.log, isPinned), sidecar };
}

/** As it all was at an older checkpoint, counted as `at` does; and then with a tail. */
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
