/**
 * Judging: what a note about a log says, and whether the log contradicts it.
 *
 * A note counts only if the log's own key signs it: a witness may admit other logs, and other users
 * may name an origin alike. A witness's word counts only under the key that the user knows.
 */

import type { Host } from "../base/host.ts";
import { toHex } from "../proof/bytes.ts";
import { hasTurns } from "../proof/envelopes.ts";
import { type Note, readNote, signedBy } from "../proof/tlog/note.ts";
import {
  type HeadLine,
  partsOfOrigin,
  readHeadLine,
  readTreeHead,
  type TreeHead,
} from "../proof/tlog/tree-head.ts";
import type { VerifyReport } from "../signing/judging/report.ts";
import { nodeCrypto } from "../signing/keys/node-crypto.ts";
import type { KnownWitness } from "./known-witnesses.ts";
import { checkpointAt } from "./signed-log.ts";

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
  known: readonly KnownWitness[],
): { readonly witness: KnownWitness; readonly time: number }[] {
  return known.flatMap((witness) => {
    const signed = signedBy(nodeCrypto, note, witness.key);
    return signed.is === "valid" ? [{ witness, time: signed.time ?? 0 }] : [];
  });
}

/** How a verified log relates to a note about it. */
export type Compared =
  /** The log has that checkpoint; `to` says how far, for people. */
  | { readonly is: "same"; readonly to: string; readonly isNewest: boolean }
  /** The log ends before it. */
  | { readonly is: "BEHIND" }
  /** Another line has its place; both are signed. `evidence` is that line. */
  | { readonly is: "FORK"; readonly evidence: Uint8Array | null };

export async function compareWith(
  host: Host,
  report: VerifyReport,
  { at, head }: SignedNote,
): Promise<Compared> {
  if (at.seq > (report.signed_through?.seq ?? -1)) return { is: "BEHIND" };
  const found = await checkpointAt(host, report, at.seq);
  if (found === null) return { is: "FORK", evidence: null };
  const { turn, tree } = found.checkpoint;
  const isSameTree = tree.size === head.size && tree.root === toHex(head.root);
  if (found.line !== at.line || !isSameTree) return { is: "FORK", evidence: found.bytes };
  const to = hasTurns(report.dialect) ? `turn ${turn}` : `checkpoint ${at.seq}`;
  return { is: "same", to, isNewest: at.seq === report.signed_through?.seq };
}
