/** Line near: the start of a line at or after any byte of a log, for a position on the rail. */

import type { VerbatimClient } from "../../../src/client/client.ts";

const LF = 0x0a;
const STEP_BYTES = 64 * 1024;
/** The longest line, plus a step. */
const LOOKED_AT_MAX = 17 * 1024 * 1024;

/** The offset after the next LF; null when none comes before the end. */
export async function lineNear(
  client: VerbatimClient,
  id: string,
  offset: number,
  end: number,
): Promise<number | null> {
  let step = STEP_BYTES;
  for (let from = offset; from < end && from - offset < LOOKED_AT_MAX; ) {
    const { bytes } = await client.sessions.bytes(id, { from, to: Math.min(end, from + step) });
    const at = bytes.indexOf(LF);
    if (at >= 0) return from + at + 1 < end ? from + at + 1 : null;
    if (bytes.length === 0) return null;
    from += bytes.length;
    step *= 2;
  }
  return null;
}
