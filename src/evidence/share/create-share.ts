/** Create share: makes the copy of a session, then the share that shows it. */

import { VerbatimError } from "../../core/base/errors.ts";
import { makeCopy } from "./make-copy.ts";
import type { Shares } from "./share.ts";
import { newShareId, newShareToken, SHARE_LIMITS, type Share, shareHash } from "./share.ts";
import type { CreateShare, NewShare } from "./share-request.ts";

/** A share without a copy; `token` is returned once and not stored. */
export async function addShare(
  shares: Shares,
  { session, withholding, expiresAtMs, isLive = false }: NewShare,
  nowMs: number,
): Promise<{ readonly token: string; readonly share: Share }> {
  if (!(expiresAtMs > nowMs && expiresAtMs <= nowMs + SHARE_LIMITS.expiresMsMax)) {
    const reason = "a share expires in the future, within 366 days";
    const details = { setting: "expires", from: "options" as const, reason };
    throw new VerbatimError("BAD_SETTING", `expires: ${reason}`, details);
  }
  const token = newShareToken();
  const { rules, texts = [], entries = [] } = withholding;
  const share: Share = {
    id: newShareId(),
    sha256: shareHash(token),
    session: session.id,
    // Texts and entries are not named: they may be what is withheld.
    rules: [
      ...rules,
      ...(texts.length > 0 ? ["match"] : []),
      ...(entries.length > 0 ? ["entry"] : []),
    ],
    createdAt: new Date(nowMs).toISOString(),
    expiresAt: new Date(expiresAtMs).toISOString(),
    revokedAt: null,
    isLive,
    version: 0,
    bytes: 0,
  };
  await shares.add(share);
  return { token, share };
}

/** A share with its copy. If no copy can be made, there is no share. */
export const createShare: CreateShare = async (host, shares, asked, options) => {
  const { token, share } = await addShare(shares, asked, options.nowMs());
  try {
    const redacted = await shares.publish(share.id, async (out) => {
      const made = await makeCopy(host, asked.session, asked.withholding, out, options);
      await options.check?.(made);
      return made;
    });
    return { token, share, redacted };
  } catch (cause) {
    await shares.drop(share.id);
    throw cause;
  }
};
