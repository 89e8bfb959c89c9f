/**
 * Genesis facts: what a genesis states, except its secrets, in one spelling. A disclosed copy and a
 * proof state them for a genesis in a sidecar file, which no tree covers; checkpoint 1 of that file
 * has their hash. Format: docs/formats/disclosure.md, "Genesis".
 */

import { toHex, utf8 } from "./bytes.ts";
import { asciiJson, type DisclosedGenesis } from "./checkpoint.ts";
import type { ProofCrypto } from "./crypto.ts";

/** The facts, in their one order. */
export function genesisFields(facts: DisclosedGenesis): object {
  const { turn, byteOffset, fp, ts, log, tree, rev, kid, parts, from, found, vouched } = facts;
  const head = from && { log: from.log, seq: from.seq, line: from.line, at: from.at };
  return {
    turn,
    byte_offset: byteOffset,
    fp,
    ts,
    log,
    size: tree.size,
    rev,
    kid,
    parts,
    from: head,
    found,
    vouched,
  };
}

/** What checkpoint 1 of a sidecar file says of its genesis, in hex. */
export function genesisHash(crypto: Pick<ProofCrypto, "sha256">, facts: DisclosedGenesis): string {
  return toHex(crypto.sha256(utf8(asciiJson(genesisFields(facts)))));
}
