/** Log mark: tells whether the beginning of a log is probably the one that was read before. */

import { createHash } from "node:crypto";
import type { LogWindow } from "../../../core/log/window.ts";

/** How much of a log's beginning, and of the end of the part that was read, is compared. */
const MARK_BYTES = 1_024;

/**
 * A mark of a log's bytes up to `end`. The last line may still lack its LF, so the LF is left out.
 */
export async function markOf(log: LogWindow, end: number): Promise<string> {
  const last = Math.max(0, end - 1);
  const hash = createHash("sha256").update(String(end));
  hash.update(await log.bytes(0, Math.min(MARK_BYTES, last)));
  hash.update(await log.bytes(Math.max(0, last - MARK_BYTES), last));
  return hash.digest("base64url").slice(0, 22);
}
