/** Prepared line: an entry's line as far as it can be made without the log's lock. */

import type { Chain, Dialect, Native, SpillFile } from "../dialects/dialect.ts";
import { SPILL_TOOLS } from "../dialects/files/spill-files.ts";
import { encodeLine } from "../log/json.ts";
import type { TurnMark } from "../model/turns.ts";

export interface PreparedLine {
  /** As the caller passed it, and completed. */
  readonly whole: Native;
  /** What will be written, except for its link to the line before. */
  readonly native: Native;
  /** Written before the line. */
  readonly spills: readonly SpillFile[];
  /** The line after `previous`, which is the right one unless others append in between. */
  readonly line: Uint8Array;
  readonly previous: string | null;
  readonly id: string | null;
  /** Signed sessions: what it means for their turns. */
  readonly mark: TurnMark;
}

/** `previous` is the name of the line that it will likely follow. */
export function prepareLine(
  { spilling }: Dialect,
  chain: Chain,
  whole: Native,
  previous: string | null,
  mark: TurnMark,
): PreparedLine {
  const id = chain.idOf(whole);
  const line = encodeLine(chain.link(whole, previous));
  if (!spilling || line.length <= spilling.lineBytesMax) {
    return { whole, native: whole, spills: [], line, previous, id, mark };
  }
  const { native, files: spills } = spilling.split(whole, SPILL_TOOLS);
  const shorter = encodeLine(chain.link(native, previous));
  return { whole, native, spills, line: shorter, previous, id, mark };
}
