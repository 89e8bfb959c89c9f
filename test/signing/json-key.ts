/** Json key: an Ed25519 key for tests, the same in every run, and judges that know it. */

import { createHash, createPrivateKey, createPublicKey, sign } from "node:crypto";
import { nodeCrypto } from "../../src/trust/keys/node-crypto.ts";
import type { KeyAnswer, KeyRefusal } from "../../src/trust/proof/ed25519-keys.ts";
import type { ThreadJudge, ThreadSigner } from "../../src/trust/proof/thread-signature.ts";

export const NOW = "2026-02-18T10:30:00Z";

export interface TestKey {
  readonly privatePem: string;
  readonly publicPem: string;
  readonly signer: ThreadSigner;
  /** A judge that trusts only this key, or refuses it for the given reason. */
  readonly judge: (threadId?: string, refusal?: KeyRefusal) => ThreadJudge;
}

/** A key of one repeated byte: not a secret. */
export function testKey(byte: number): TestKey {
  // PKCS#8 around the 32 bytes of an Ed25519 key.
  const der = Buffer.from(
    `302e020100300506032b657004220420${byte.toString(16).padStart(2, "0").repeat(32)}`,
    "hex",
  );
  const privateKey = createPrivateKey({ key: der, format: "der", type: "pkcs8" });
  const publicKey = createPublicKey(privateKey);
  const publicPem = publicKey.export({ format: "pem", type: "spki" }) as string;
  // The last 32 bytes of SPKI are the key itself.
  const raw = new Uint8Array(publicKey.export({ format: "der", type: "spki" }).subarray(-32));
  const fp = sha256(publicPem).slice(0, 16);
  const kid = sha256(raw);
  const known: KeyAnswer = { publicKey: raw, kid, fp, owner: "a test", refusal: null };
  const unknown: KeyAnswer = { ...known, publicKey: null, owner: null, refusal: "KEY_UNKNOWN" };
  return {
    privatePem: privateKey.export({ format: "pem", type: "pkcs8" }) as string,
    publicPem,
    signer: {
      fp,
      kid,
      crypto: nodeCrypto,
      nowMs: () => Date.parse(NOW) + 999,
      sign: async (message) => sign(null, message, privateKey),
    },
    judge: (threadId = "", refusal?: KeyRefusal) => ({
      crypto: nodeCrypto,
      threadId,
      keys: {
        byFp: (name) => (name === fp ? known : unknown),
        byKid: (name) => (name === kid ? { ...known, refusal: refusal ?? null } : unknown),
      },
    }),
  };
}

function sha256(data: string | Uint8Array): string {
  return createHash("sha256").update(data).digest("hex");
}
