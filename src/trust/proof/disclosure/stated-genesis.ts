/**
 * Stated genesis: the facts of a genesis in a sidecar file, as a redactor or prover states them. They
 * count only if checkpoint 1, or a key that it leads to, confirms them.
 */

import {
  type DisclosedGenesis,
  type FoundRange,
  genesisFields,
  type SignedHead,
} from "../checkpoint.ts";
import { isCount, isHash, isObject, isText, TIME } from "../claims.ts";

/** Genesis as it is stated, with the hash of its line. */
export interface StatedGenesis {
  readonly facts: DisclosedGenesis;
  readonly line: string;
}

/** The fields of a stated genesis, in their one order. */
export function statedFields({ facts, line }: StatedGenesis): object {
  // `leaf` is that of a genesis in a log, which is never stated.
  return { ...genesisFields(facts), line, leaf: null };
}

const ZEROS = "0".repeat(64);

export function readStated(value: Readonly<Record<string, unknown>>): StatedGenesis | null {
  const { turn, byte_offset: byteOffset, fp, ts, log, size, rev, kid, parts } = value;
  const { from, found, vouched, line, leaf } = value;
  const areCounts = [turn, byteOffset, size, rev, parts].every(isCount);
  const isGood =
    typeof fp === "string" &&
    /^[0-9a-f]{16}$/.test(fp) &&
    isText(ts, 40) &&
    TIME.test(ts) &&
    isLog(log) &&
    isHash(kid) &&
    isHash(line) &&
    leaf === null &&
    typeof vouched === "boolean" &&
    (found === null || (Array.isArray(found) && found.length === 2 && found.every(isCount))) &&
    (from === null || isFrom(from));
  if (!areCounts || !isGood) return null;
  const facts = {
    kind: "genesis" as const,
    turn,
    byteOffset,
    fp,
    ts,
    log,
    rev,
    kid,
    parts,
    from,
    found,
    vouched,
    seq: 0,
    hash: "",
    prev: ZEROS,
    seg: "",
    salt: "",
    tree: { size, root: "" },
  };
  return { facts: facts as DisclosedGenesis & { found: FoundRange | null }, line };
}

function isFrom(from: unknown): from is SignedHead {
  return (
    isObject(from) && isLog(from.log) && isCount(from.seq) && isHash(from.line) && isCount(from.at)
  );
}

function isLog(value: unknown): value is string {
  return typeof value === "string" && /^[0-9a-f]{32}$/.test(value);
}
