/** Proof crypto: the real crypto for the tests of `proof`, which itself imports no Node. */

import { nodeCrypto } from "../../src/trust/keys/node-crypto.ts";
import type { ProofCrypto } from "../../src/trust/proof/crypto.ts";

export const proofCrypto: ProofCrypto = nodeCrypto;
