/** Shares: links to copies of sessions, on a server of this machine. */

import { existsSync } from "node:fs";
import { resolve } from "node:path";
import { badOption } from "../core/base/choice.ts";
import { createShare, DEFAULT_RULES } from "../evidence/share/create-share.ts";
import { DEFAULT_REASON } from "../evidence/share/share.ts";
import { FileShares } from "../evidence/share/share-files.ts";
import type { ShareOptions } from "./options.ts";
import { badName, type Places } from "./places.ts";

export interface SharedLink {
  /** Its name, to list and to revoke it. */
  readonly id: string;
  /** `masked`: the session is not signed, so the copy proves nothing. */
  readonly kind: "disclosed" | "masked";
  /** What a link ends with, after the server's address. It is not stored: keep it now. */
  readonly path: string;
  readonly expiresAt: string;
  /** Lines of the session, and those that the copy shows in full. */
  readonly lines: number;
  readonly full: number;
}

export async function shareSession(
  places: Places,
  name: string,
  options: ShareOptions,
): Promise<SharedLink> {
  const { texts = [], entries = [], rules = [DEFAULT_RULES], signal } = options;
  const { host, onWarning, cwd } = places;
  const data = resolve(cwd, options.data);
  if (!existsSync(data)) throw badOption("data", "names no directory: name that of the server");
  const { log } = await places.findSigned(name);
  signal?.throwIfAborted();
  const { id } = log;
  if (id === null) throw badName(name, "is a file outside any store");
  const shares = new FileShares(host, data, Date.now);
  try {
    const { token, share, redacted } = await createShare(
      host,
      shares,
      {
        session: { ...log, id },
        withholding: { texts, entries, rules, reason: options.reason ?? DEFAULT_REASON },
        expiresAtMs: options.expires.getTime(),
      },
      { onWarning, nowMs: Date.now, signal },
    );
    const { kind, lines, full } = redacted;
    const path = `/#/share/${token}`;
    return { id: share.id, kind, path, expiresAt: share.expiresAt, lines, full };
  } finally {
    await shares.close();
  }
}
