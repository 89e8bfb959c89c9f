/**
 * Signed thread: whether a rye thread is signed, by a quick check without verification.
 *
 * Looks for the traces of a signer: a checkpoint near either end of the log, fields in thread.json,
 * a pinned head. Removing all three strips the thread of its signatures, which only a pin can
 * detect.
 */

import type { Host } from "../../core/base/host.ts";
import { readStretch } from "../../core/log/bytes.ts";
import { openLogPath, openToRead } from "../../core/log/log-path.ts";
import { provideDialect } from "../../dialects/all.ts";
import { rye } from "../../dialects/rye/dialect.ts";
import type { UserJudging } from "../../evidence/verify/user-judging.ts";

const LOOK_BYTES = 64 * 1024;
/** Part of every checkpoint of this format, and of no JSON string: quotes are escaped there. */
const MARK = Buffer.from('"sig2":"');
const META_FIELDS = ["_signature2", "rev", "head"];

export async function isSignedThread(
  host: Host,
  judging: UserJudging,
  root: string,
  thread: { readonly id: string; readonly meta: unknown },
): Promise<boolean> {
  const { id, meta } = thread;
  if (typeof meta === "object" && meta !== null) {
    if (META_FIELDS.some((name) => Object.hasOwn(meta, name))) return true;
  }
  const logId = rye.naming.logPath(id).join("/");
  const whose = await judging.whose({ dialect: provideDialect(rye), root, logId, id });
  return judging.remembered(whose).here !== null || (await bearsCheckpoint(host, root, logId));
}

async function bearsCheckpoint(host: Host, root: string, logId: string): Promise<boolean> {
  try {
    const place = await openLogPath(host, logId, { create: false, root });
    try {
      const log = openToRead(place);
      try {
        const size = log.size();
        const first = await readStretch(log, 0, Math.min(size, LOOK_BYTES));
        if (Buffer.from(first).includes(MARK)) return true;
        const last = await readStretch(log, Math.max(0, size - LOOK_BYTES), size);
        return Buffer.from(last).includes(MARK);
      } finally {
        log.close();
      }
    } finally {
      place.directory.close();
    }
  } catch {
    return false; // The log is not readable, so nothing in it is signed.
  }
}
