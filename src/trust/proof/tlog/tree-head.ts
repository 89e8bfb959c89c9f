/**
 * Tree head: the body of a checkpoint note (C2SP tlog-checkpoint), how a witness is asked
 * (tlog-witness), and a proof of one line (tlog-proof). Pure; reading never throws.
 *
 * - The origin of one of our logs is `<user's name>/<log>`. It never begins with `verbatim/`, as
 *   everything else does that a transcript key signs: a note cannot be taken for a checkpoint.
 * - A root does not cover the checkpoint that states it. One extension line adds it: its `seq`, and
 *   the hash of its line.
 */

import { fromBase64, toBase64 } from "./note.ts";

const HASH_BYTES = 32;
export const PROOF_LINES_MAX = 63;
const SIZE = /^(?:0|[1-9][0-9]{0,15})$/;
const USER_NAME = /^[A-Za-z0-9][A-Za-z0-9._~-]*(?:\/[A-Za-z0-9._~-]+)*$/;
const USER_NAME_CHARS_MAX = 128;
const LOG = /^[0-9a-f]{32}$/;
const HEAD_LINE = /^verbatim seq=(0|[1-9][0-9]{0,15}) line=([0-9a-f]{64})$/;
const TLOG_PROOF = "c2sp.org/tlog-proof@v1";

export interface TreeHead {
  readonly origin: string;
  readonly size: number;
  readonly root: Uint8Array;
  readonly extensions: readonly string[];
}

/** Which checkpoint of ours a tree head belongs to. */
export interface HeadLine {
  readonly seq: number;
  /** SHA-256 of the checkpoint's line, in hex. */
  readonly line: string;
}

/** Why a user's name cannot begin an origin; null if it can. */
export function userNameFault(name: string): string | null {
  if (name.length > USER_NAME_CHARS_MAX)
    return `it has more than ${USER_NAME_CHARS_MAX} characters`;
  if (!USER_NAME.test(name)) return "it is not like ada.example/laptop: letters, digits, . _ ~ - /";
  if (isReserved(name)) return "it begins with verbatim/, which other signatures of your key do";
  return null;
}

/** Whether a text beginning like this could be taken for something else that a key of ours signs. */
export function isReserved(name: string): boolean {
  return `${name}/`.startsWith("verbatim/");
}

export function originOf(userName: string, log: string): string {
  return `${userName}/${log}`;
}

/** The user's name and the log; null if the origin is not of a log of ours. */
export function partsOfOrigin(
  origin: string,
): { readonly name: string; readonly log: string } | null {
  const slash = origin.lastIndexOf("/");
  const [name, log] = [origin.slice(0, Math.max(slash, 0)), origin.slice(slash + 1)];
  return name !== "" && LOG.test(log) ? { name, log } : null;
}

export function spellTreeHead({ origin, size, root, extensions }: TreeHead): string {
  return [origin, size, toBase64(root), ...extensions, ""].join("\n");
}

export function readTreeHead(body: string): TreeHead | null {
  if (!body.endsWith("\n")) return null;
  const [origin = "", size = "", hash = "", ...extensions] = body.slice(0, -1).split("\n");
  const [count, root] = [sizeOf(size), fromBase64(hash)];
  if (origin === "" || count === null || root?.length !== HASH_BYTES) return null;
  if (extensions.includes("")) return null;
  return { origin, size: count, root, extensions };
}

export function spellHeadLine({ seq, line }: HeadLine): string {
  return `verbatim seq=${seq} line=${line}`;
}

/** The checkpoint that a tree head names; null unless it is the only extension. */
export function readHeadLine({ extensions }: TreeHead): HeadLine | null {
  const [, seq, line] = (extensions.length === 1 && HEAD_LINE.exec(extensions[0] ?? "")) || [];
  const count = seq === undefined ? null : sizeOf(seq);
  return count === null || line === undefined ? null : { seq: count, line };
}

/** The body of a request `add-checkpoint`. */
export interface Submission {
  /** The size that the witness saw last, as its client believes. */
  readonly old: number;
  /** Of consistency, from that size. */
  readonly proof: readonly Uint8Array[];
  /** The signed note. */
  readonly note: string;
}

export function spellSubmission({ old, proof, note }: Submission): string {
  return [`old ${old}`, ...proof.map(toBase64), "", note].join("\n");
}

export function readSubmission(text: string): Submission | null {
  const end = text.indexOf("\n\n");
  if (end === -1) return null;
  const [first = "", ...lines] = text.slice(0, end).split("\n");
  const old = first.startsWith("old ") ? sizeOf(first.slice(4)) : null;
  if (old === null || lines.length > PROOF_LINES_MAX) return null;
  const proof = hashesOf(lines);
  return proof && { old, proof, note: text.slice(end + 2) };
}

/** The size in an answer 409; null if it has none. */
export function readSizeAnswer(text: string): number | null {
  return text.endsWith("\n") ? sizeOf(text.slice(0, -1)) : null;
}

/** A proof that one line is in the tree of a checkpoint note. */
export interface TlogProof {
  /** Opaque and not authenticated; null for none. */
  readonly extra: Uint8Array | null;
  readonly index: number;
  readonly proof: readonly Uint8Array[];
  readonly note: string;
}

export function spellTlogProof({ extra, index, proof, note }: TlogProof): string {
  const lines = extra === null ? [] : [`extra ${toBase64(extra)}`];
  return [TLOG_PROOF, ...lines, `index ${index}`, ...proof.map(toBase64), "", note].join("\n");
}

export function readTlogProof(text: string): TlogProof | null {
  const end = text.indexOf("\n\n");
  const [magic, ...rest] = text.slice(0, Math.max(end, 0)).split("\n");
  if (magic !== TLOG_PROOF) return null;
  const hasExtra = rest[0]?.startsWith("extra ") === true;
  const extra = hasExtra ? fromBase64((rest.shift() ?? "").slice(6)) : null;
  const place = rest.shift() ?? "";
  const index = place.startsWith("index ") ? sizeOf(place.slice(6)) : null;
  const proof = rest.length > PROOF_LINES_MAX ? null : hashesOf(rest);
  if ((hasExtra && extra === null) || index === null || proof === null) return null;
  return { extra, index, proof, note: text.slice(end + 2) };
}

function hashesOf(lines: readonly string[]): Uint8Array[] | null {
  const hashes = lines.map(fromBase64);
  return hashes.every((hash) => hash?.length === HASH_BYTES) ? (hashes as Uint8Array[]) : null;
}

function sizeOf(text: string): number | null {
  const size = SIZE.test(text) ? Number(text) : Number.NaN;
  return Number.isSafeInteger(size) ? size : null;
}
