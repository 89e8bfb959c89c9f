/**
 * Proof records: the lines of a proof that lines are part of a signed log, in their one spelling.
 * Format: docs/formats/proof.md.
 */

import { LOG_LIMITS } from "../../../core/base/limits.ts";
import { asAscii, concat, fromBase64url, toBase64url, utf8 } from "../bytes.ts";
import { asciiJson } from "../checkpoint.ts";
import { isCount, isHash, isObject, isText, TIME } from "../claims.ts";
import { type Gap, gapOf, readSpelled, saltsOf } from "../disclosure/records.ts";
import { readStated, type StatedGenesis, statedFields } from "../disclosure/stated-genesis.ts";
import { BLOCK } from "../leaf.ts";

export const PROOF_VERSION = 1;
/** A longer file is not read as a proof, and none is written. */
export const PROOF_BYTES_MAX = 4 * LOG_LIMITS.lineBytesMax;
export const PROOF_EXTENSION = ".vbp";
const MAGIC = '{"verbatim":"proof",';
const HASH_BYTES = 32;

export function beginsAsProof(bytes: Uint8Array): boolean {
  return asAscii(bytes.subarray(0, MAGIC.length)) === MAGIC;
}

export interface ProofHeader {
  readonly dialect: string;
  readonly content: "lines" | "bytes";
  readonly parts: number;
}

/** The prover's signature over what they say of genesis. */
export interface Stating {
  readonly ts: string;
  readonly kid: string;
  readonly sig: Uint8Array;
}

/** A leaf, and its path to the root of the first checkpoint that covers it. */
interface Placed {
  readonly index: number;
  /** The number by which the prover names it; null for context. */
  readonly entry: number | null;
  readonly path: readonly Uint8Array[];
}

export type ProofRecord =
  | { readonly is: "header"; readonly header: ProofHeader }
  /** Genesis follows, without its secrets; the path is to the root of checkpoint 1. */
  | {
      readonly is: "genesis";
      readonly salts: Uint8Array;
      readonly gaps: readonly Gap[];
      readonly path: readonly Uint8Array[];
    }
  | { readonly is: "stated"; readonly genesis: StatedGenesis; readonly stating: Stating }
  /** A checkpoint's line follows. */
  | { readonly is: "checkpoint"; readonly seq: number }
  /** A line follows, without the contents of its gaps. */
  | ({ readonly is: "line"; readonly salts: Uint8Array; readonly gaps: readonly Gap[] } & Placed)
  /** A stretch of a raw stream. */
  | ({ readonly is: "bytes"; readonly salt: Uint8Array; readonly data: Uint8Array } & Placed)
  | {
      readonly is: "consistency";
      readonly from: number;
      readonly to: number;
      readonly path: readonly Uint8Array[];
    }
  | { readonly is: "end"; readonly bytes: number; readonly sha256: string }
  | { readonly is: "newer"; readonly version: number };

/** Whether a line of the log follows the record. */
export function announcesLine({ is }: ProofRecord): boolean {
  return is === "genesis" || is === "checkpoint" || is === "line";
}

/** A line's record, passed without its LF; null when it is not one, or spelled otherwise. */
export function readProofRecord(line: Uint8Array): ProofRecord | null {
  return readSpelled(asAscii(line), recordOf, spellProofRecord);
}

/** The one spelling of a record, without LF. */
export function spellProofRecord(record: ProofRecord): string {
  switch (record.is) {
    case "header": {
      const { dialect, content, parts } = record.header;
      return asciiJson({ verbatim: "proof", v: PROOF_VERSION, dialect, content, parts });
    }
    case "genesis":
      return asciiJson({
        genesis: toBase64url(record.salts),
        ...gapped(record.gaps),
        ...way(record),
      });
    case "stated":
      return `${statedOpening(record)},"sig":"${toBase64url(record.stating.sig)}"}`;
    case "checkpoint":
      return asciiJson({ checkpoint: record.seq });
    case "line": {
      const { index, entry, salts, gaps } = record;
      return asciiJson({ line: toBase64url(salts), ...gapped(gaps), index, entry, ...way(record) });
    }
    case "bytes": {
      const { index, entry, salt, data } = record;
      const raw = { bytes: toBase64url(data), salt: toBase64url(salt) };
      return asciiJson({ ...raw, index, entry, ...way(record) });
    }
    case "consistency":
      return asciiJson({ consistency: [record.from, record.to], ...way(record) });
    case "end":
      return asciiJson({ end: { bytes: record.bytes, sha256: record.sha256 } });
    case "newer":
      return "";
  }
}

/** What precedes the signature of a stated genesis. */
export function statedOpening(record: {
  readonly genesis: StatedGenesis;
  readonly stating: Omit<Stating, "sig">;
}): string {
  const { ts, kid } = record.stating;
  return asciiJson({ genesis: statedFields(record.genesis), ts, kid }).slice(0, -1);
}

function gapped(gaps: readonly Gap[]): object {
  if (gaps.length === 0) return {};
  return { without: gaps.map(({ at, length, part }) => ({ at, len: length, part })) };
}

function way({ path }: { readonly path: readonly Uint8Array[] }): object {
  return { path: path.map(toBase64url).join(" ") };
}

type Fields = Readonly<Record<string, unknown>>;

function recordOf(value: Fields): ProofRecord | null {
  if (value.verbatim === "proof") return headerOf(value);
  if (isObject(value.genesis)) return statedOf(value, value.genesis);
  if (isCount(value.checkpoint)) return { is: "checkpoint", seq: value.checkpoint };
  if (isObject(value.end)) {
    const { bytes, sha256 } = value.end;
    return isCount(bytes) && isHash(sha256) ? { is: "end", bytes, sha256 } : null;
  }
  const path = pathOf(value.path);
  if (!path) return null;
  if (Array.isArray(value.consistency)) {
    const [from, to] = value.consistency;
    return isCount(from) && isCount(to) ? { is: "consistency", from, to, path } : null;
  }
  const { index, entry } = value;
  if (value.genesis !== undefined) {
    const shownParts = shownOf(value.genesis, value.without);
    return shownParts && { is: "genesis", ...shownParts, path };
  }
  if (!isCount(index) || (entry !== null && !isCount(entry))) return null;
  if (value.line !== undefined) {
    const shownParts = shownOf(value.line, value.without);
    return shownParts && { is: "line", ...shownParts, index, entry, path };
  }
  const salt = saltsOf(value.salt);
  const data = typeof value.bytes === "string" ? fromBase64url(value.bytes) : null;
  if (!data || salt?.length !== BLOCK) return null;
  return { is: "bytes", salt, data, index, entry, path };
}

function headerOf({ v, dialect, content, parts }: Fields): ProofRecord | null {
  if (isCount(v) && v > PROOF_VERSION) return { is: "newer", version: v };
  const isGood =
    typeof dialect === "string" &&
    /^[a-z][a-z0-9-]{0,31}$/.test(dialect) &&
    (content === "lines" || content === "bytes") &&
    isCount(parts);
  return isGood ? { is: "header", header: { dialect, content, parts } } : null;
}

function statedOf({ ts, kid, sig: text }: Fields, facts: Fields): ProofRecord | null {
  const genesis = readStated(facts);
  const sig = typeof text === "string" && text.length === 86 ? fromBase64url(text) : null;
  if (!genesis || !sig || !isText(ts, 40) || !TIME.test(ts) || !isHash(kid)) return null;
  return { is: "stated", genesis, stating: { ts, kid, sig } };
}

function shownOf(
  text: unknown,
  without: unknown,
): { readonly salts: Uint8Array; readonly gaps: readonly Gap[] } | null {
  const salts = saltsOf(text);
  if (!salts) return null;
  if (without === undefined) return { salts, gaps: [] };
  if (!Array.isArray(without) || without.length === 0) return null;
  const gaps: Gap[] = [];
  for (const value of without) {
    const gap = isObject(value) ? gapOf(value, false) : null;
    if (!gap) return null;
    gaps.push(gap);
  }
  return { salts, gaps };
}

/** Hashes in base64url, with a space between two. */
function pathOf(text: unknown): readonly Uint8Array[] | null {
  if (typeof text !== "string") return null;
  if (text === "") return [];
  const hashes: Uint8Array[] = [];
  for (const each of text.split(" ")) {
    const hash = fromBase64url(each);
    if (hash?.length !== HASH_BYTES) return null;
    hashes.push(hash);
  }
  return hashes;
}

const DOMAIN = utf8("verbatim/proof-genesis/v1\n");
/** `,"sig":"`, 86 characters, `"}`: how the record ends. */
const SIG_BYTES = 96;

/** The message that the prover signs. */
export function statedMessage(genesis: StatedGenesis, stating: Omit<Stating, "sig">): Uint8Array {
  return concat(DOMAIN, utf8(statedOpening({ genesis, stating })));
}

/** The message that the signature of this record must sign. */
export function statedMessageIn(line: Uint8Array): Uint8Array {
  return concat(DOMAIN, line.subarray(0, line.length - SIG_BYTES));
}
