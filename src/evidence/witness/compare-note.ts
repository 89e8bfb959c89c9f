/**
 * Compare note: what a note about a log says, and whether the log contradicts it.
 *
 * A note counts only if the log's own key signs it: a witness may admit other logs, and other users
 * may name an origin alike. A witness's word counts only under the key that the user knows.
 */

import type { VerifyReport } from "../../trust/judge/report.ts";
import { nodeCrypto } from "../../trust/keys/node-crypto.ts";
import { toHex } from "../../trust/proof/bytes.ts";
import { turnBefore } from "../../trust/proof/checkpoint.ts";
import { hasTurns } from "../../trust/proof/envelopes.ts";
import { type Note, readNote, signedBy } from "../../trust/proof/tlog/note.ts";
import {
  type HeadLine,
  partsOfOrigin,
  readHeadLine,
  readTreeHead,
  type TreeHead,
} from "../../trust/proof/tlog/tree-head.ts";
import type { FoundCheckpoint } from "./signed-log.ts";
import type { Witness } from "./witness-list.ts";

/** A head of this log, signed by its own key. */
export interface SignedNote {
  readonly note: Note;
  readonly head: TreeHead;
  readonly at: HeadLine;
}

/** Null if the text is not a note of this log by one of these keys. */
export function noteOfLog(
  text: string,
  log: string,
  keys: readonly Uint8Array[],
): SignedNote | null {
  const note = readNote(text);
  const head = note && readTreeHead(note.body);
  const at = head && readHeadLine(head);
  if (!note || !head || !at || partsOfOrigin(head.origin)?.log !== log) return null;
  const isOwn = keys.some((publicKey) => {
    return signedBy(nodeCrypto, note, { name: head.origin, role: "log", publicKey }).is === "valid";
  });
  return isOwn ? { note, head, at } : null;
}

/** Which of the known witnesses cosigned a note, and when, in seconds. */
export function witnessesOf(
  { note }: SignedNote,
  known: readonly Witness[],
): { readonly witness: Witness; readonly time: number }[] {
  return known.flatMap((witness) => {
    const signed = signedBy(nodeCrypto, note, witness.key);
    return signed.is === "valid" ? [{ witness, time: signed.time ?? 0 }] : [];
  });
}

/** The report on a log, or on a disclosed copy of one. */
export interface JudgedReport
  extends Pick<VerifyReport, "verdict" | "session" | "path" | "log" | "keys" | "findings"> {
  readonly dialect: string | null;
  readonly signed_through: { readonly seq: number; readonly ts: string } | null;
}

export type FindCheckpoint = (seq: number) => Promise<FoundCheckpoint | null>;

/** How a verified log relates to a note about it. */
export type NoteComparison =
  /** The log has that checkpoint; `to` says how far, for people. */
  | { readonly is: "same"; readonly to: string; readonly isNewest: boolean }
  /** The log ends before it. */
  | { readonly is: "BEHIND" }
  /** Another line has its place; both are signed. `evidence` is that line. */
  | { readonly is: "FORK"; readonly evidence: Uint8Array | null };

export async function compareWith(
  report: JudgedReport,
  { at, head }: SignedNote,
  find: FindCheckpoint,
): Promise<NoteComparison> {
  if (at.seq > (report.signed_through?.seq ?? -1)) return { is: "BEHIND" };
  const found = await find(at.seq);
  if (found === null) return { is: "FORK", evidence: null };
  const { tree } = found.checkpoint;
  const isSameTree = tree.size === head.size && tree.root === toHex(head.root);
  if (found.line !== at.line || !isSameTree) return { is: "FORK", evidence: found.bytes };
  const isInTurns = hasTurns(report.dialect ?? "");
  const to = isInTurns ? `turn ${turnBefore(found.checkpoint)}` : `checkpoint ${at.seq}`;
  return { is: "same", to, isNewest: at.seq === report.signed_through?.seq };
}
