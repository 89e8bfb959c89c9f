/**
 * Tlog proof: a proof that one line is in the tree of a signed note (C2SP tlog-proof), for verifiers
 * of other logs. The path is checked against the note's root before it is returned.
 */

import { VerbatimError } from "../base/errors.ts";
import type { Host } from "../base/host.ts";
import { toHex } from "../proof/bytes.ts";
import { inclusionRanges } from "../proof/merkle.ts";
import { readNote } from "../proof/tlog/note.ts";
import { readTreeHead, spellTlogProof } from "../proof/tlog/tree-head.ts";
import { rootsOf, type SignedLog } from "./signed-log.ts";

/** `index` counts from 0. Refuses with CANNOT_PROVE a line that the note does not cover. */
export async function tlogProofOf(
  host: Host,
  log: SignedLog,
  index: number,
  note: string,
): Promise<string> {
  const head = readTreeHead(readNote(note)?.body ?? "");
  if (head === null || index >= head.size) {
    throw cannotProve(log.path, `the note covers ${head?.size ?? 0} lines, not line ${index + 1}`);
  }
  const ranges = inclusionRanges(index, head.size);
  const own = [index, index + 1] as const;
  const [whole, leaf, ...proof] = await rootsOf(host, log, [[0, head.size], own, ...ranges]);
  if (!whole || !leaf || toHex(whole) !== toHex(head.root)) {
    throw cannotProve(log.path, "the note is of another history of this log");
  }
  return spellTlogProof({ extra: leaf, index, proof, note });
}

function cannotProve(path: string, reason: string): VerbatimError<"CANNOT_PROVE"> {
  return new VerbatimError("CANNOT_PROVE", `nothing of ${path} is proven: ${reason}`, {
    ...{ path, reason },
  });
}
