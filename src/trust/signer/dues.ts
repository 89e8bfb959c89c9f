/**
 * Dues: which checkpoints a log needs, and when.
 *
 *   genesis   the first one: in a sidecar before the log's first line, else at the end of the first
 *             append, whichever kind was requested
 *   recovery  first of all, if unsigned bytes were found on opening (log-signer.ts, S3)
 *   rotate    then, if the user's key was changed (log-signer.ts, S4)
 *   turn      before an entry that opens a turn after a finished one
 *   final     after an entry that ends the session
 *   batch     after every append, if requested or if others may append too; after an append
 *             in the middle of which a turn opens; before a write if much is unsigned; on closing
 *   link      when another session continues from this one (resume/fork/fork.ts)
 */

import type { TurnMark, Turns } from "../../core/model/turns.ts";
import type { FoundRange } from "../proof/checkpoint.ts";
import type { LogSigner } from "./log-signer.ts";
import type { When } from "./signer-state.ts";

/** Limit of unsigned bytes in a session whose turns do not end. */
export const UNSIGNED_BYTES_MAX = 16 * 1024 * 1024;

export type Due = "recovery" | "rotate" | "turn" | "batch" | "final" | Vouch | LinkTo;

/** A checkpoint that names a session which continues from here. */
export interface LinkTo {
  readonly linkTo: { readonly id: string; readonly log: string };
}

/** A checkpoint with which a user vouches for lines that were found unsigned. */
export interface Vouch {
  /** A range stated as found earlier; null: what was found now. */
  readonly vouches: FoundRange | null;
  /** The turn that has ended, set by the caller; default: as counted here. */
  readonly turn?: number;
}

/** Found bytes are stated first, still by the retired key: a rotation must not sign over them. */
export function duesOnOpening({ mustRecover, mustRotate }: LogSigner): Due[] {
  return [
    ...(mustRecover ? ["recovery" as const] : []),
    ...(mustRotate ? ["rotate" as const] : []),
  ];
}

/** Due before a write that begins with an entry of this mark, in order. */
export function duesBefore(signer: LogSigner, turns: Turns, mark: TurnMark): readonly Due[] {
  const opening = duesOnOpening(signer);
  if (opening.length > 0) return opening;
  if (signer.isBeginning || signer.unsignedBytes === 0) return [];
  if (turns.beginsWith(mark)) return ["turn"];
  return signer.unsignedBytes >= UNSIGNED_BYTES_MAX ? ["batch"] : [];
}

/** Due at the end of a write of such entries. */
export function dueAfter(
  { isBeginning }: LogSigner,
  turns: Turns,
  marks: readonly TurnMark[],
  isEveryAppend: boolean,
): Due | null {
  if (isBeginning || isEveryAppend) return "batch";
  if (marks.length < 2) return null;
  const ahead = turns.ahead();
  const opened = marks.map((mark) => ahead.note(mark));
  return opened.includes(true, 1) ? "batch" : null;
}

/** Due when the session ends, or is closed. */
export function duesAtEnd(signer: LogSigner, kind: "final" | "batch"): readonly Due[] {
  const opening = duesOnOpening(signer);
  if (opening.length > 0) return opening;
  return kind === "final" || signer.unsignedBytes > 0 ? [kind] : [];
}

/** Due instead of these, of which the first is void: what was found since is stated first. */
export function duesAgain(signer: LogSigner, dues: readonly Due[]): readonly Due[] {
  const [first, ...later] = dues;
  if (!signer.mustRecover || first === "recovery") return dues;
  const isCovered = first === "turn" || first === "batch" || first === "final";
  return ["recovery", ...(isCovered ? later : dues)];
}

export function isVouch(due: Due): boolean {
  return typeof due === "object" && "vouches" in due;
}

/** The turn that a checkpoint names, after entries of these marks. */
export function turnAt(due: Due, turns: Turns, marks: readonly TurnMark[]): number {
  const ahead = turns.ahead();
  for (const mark of marks) ahead.note(mark);
  return due === "turn" || due === "final" ? ahead.count : ahead.ended;
}

/** Adds the due checkpoint to a draft; returns its line. */
export function addDue(
  draft: LogSigner,
  due: Due,
  opening: string,
  when: When,
): Promise<Uint8Array> {
  if (due === "rotate") return draft.rotate(opening, when);
  if (due === "recovery") return draft.recovery(opening, when);
  if (typeof due === "string") return draft.checkpoint(due, opening, when);
  if ("linkTo" in due) return draft.special({ kind: "link", to: due.linkTo }, opening, when);
  if (!due.vouches) return draft.recovery(opening, when, true);
  const vouchedRange = { cut: 0, found: due.vouches, vouched: true, lost: null } as const;
  return draft.special({ kind: "recovery", ...vouchedRange }, opening, when);
}
