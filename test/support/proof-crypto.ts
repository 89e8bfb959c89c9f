/** Proof crypto: the real crypto for the tests of `proof`, which itself imports no Node. */

import type { ProofCrypto } from "../../src/proof/crypto.ts";
import { nodeCrypto } from "../../src/signing/keys/node-crypto.ts";

export const proofCrypto: ProofCrypto = nodeCrypto;
