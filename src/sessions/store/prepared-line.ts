/** Prepared line: an entry's line, as far as it can be built without the log's lock. */

import { encodeLine } from "../../core/log/json.ts";
import type { TurnMark } from "../../core/model/turns.ts";
import type { Dialect, LineChain, Native, SpillFile } from "../../dialects/dialect.ts";
import { SPILL_TOOLS } from "../../dialects/files/spill-files.ts";

export interface PreparedLine {
  /** The caller's entry, completed. */
  readonly whole: Native;
  /** The entry to write, except for its link to the previous line. */
  readonly native: Native;
  /** Written before the line. */
  readonly spills: readonly SpillFile[];
  /** The line, linked to `previous`. Correct unless another writer appends in between. */
  readonly line: Uint8Array;
  readonly previous: string | null;
  readonly id: string | null;
  /** Signed sessions: the entry's role in its turn. */
  readonly mark: TurnMark;
}

/** `previous` is the name of the line it will likely follow. */
export function prepareLine(
  { spilling }: Dialect,
  chain: LineChain,
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
