/**
 * Stated: what a prover says of a genesis that cannot be opened, signed by the prover. The checkpoints
 * do not prove it, so that without a signature anyone could change it.
 */

import { concat, utf8 } from "../bytes.ts";
import type { StatedGenesis } from "../disclosure/stated-genesis.ts";
import { type Stating, statedOpening } from "./records.ts";

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
