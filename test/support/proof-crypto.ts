/** Proof crypto: what `proof`, which imports no Node, is given by its tests: the real one. */

import type { ProofCrypto } from "../../src/proof/crypto.ts";
import { nodeCrypto } from "../../src/signing/keys/node-crypto.ts";

export const proofCrypto: ProofCrypto = nodeCrypto;
