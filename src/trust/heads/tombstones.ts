/**
 * Tombstones: signed statements that sessions were deleted with the heads that are pinned: who did
 * it, when and why. They are lines of `heads.jsonl`. Format: docs/formats/heads.md, "Tombstones".
 *
 * Only a tombstone that one of the user's own keys signed counts. With another, or with a head that
 * is not the pinned one, a missing session is a rollback, as without any.
 */

import type { Signer } from "../keys/keys.ts";
import { nodeCrypto } from "../keys/node-crypto.ts";
import { fromHex, toHex } from "../proof/bytes.ts";
import { type Pin, TOMBSTONE_TEXT_CHARS_MAX, tombstoneMessage } from "../proof/pin.ts";
import type { Trust } from "../trusted-keys/trust.ts";

export interface Burial {
  readonly at: string;
  readonly by: string;
  readonly reason: string;
}

/** The lines that say that the sessions of these pins were deleted. */
export async function signTombstones(
  pins: readonly Pin[],
  burial: Burial,
  signer: Signer,
): Promise<Pin[]> {
  const tombstones: Pin[] = [];
  for (const { why: _, tombstone: __, ...head } of pins) {
    const { at } = burial;
    const [by, reason] = [burial.by, burial.reason].map((text) => {
      return text.slice(0, TOMBSTONE_TEXT_CHARS_MAX);
    }) as [string, string];
    const stated = { at, by, reason, signer: signer.kid };
    const sig = toHex(await signer.sign(tombstoneMessage(head, stated)));
    tombstones.push({ ...head, why: "deleted", tombstone: { ...stated, sig } });
  }
  return tombstones;
}

/** Whether one of the user's own keys signed it, and was not revoked. */
export function isOwnTombstone({ tombstone, why: _, ...head }: Pin, trust: Trust): boolean {
  if (!tombstone) return false;
  const { sig, ...stated } = tombstone;
  const key = trust.key(stated.signer);
  if (!key?.isOwn || key.entry?.revokedAt !== undefined) return false;
  const message = tombstoneMessage(head, stated);
  return nodeCrypto.verifyEd25519(key.publicKey, message, fromHex(sig));
}
