/**
 * Chain: every row names the row before it (`parentUuid`), whoever wrote that.
 *
 * Rows of other programs may form a tree, or have no name: what counts for the next row is the last
 * row in the log that has one.
 */

import type { Chain, Native } from "../dialect.ts";
import { getString, isObject } from "../fields.ts";

/** Longer ones are nobody's; a line may hold 16 MiB. */
const ID_CHARS_MAX = 200;

export const chain: Chain = {
  idOf(value: unknown): string | null {
    const id = isObject(value) ? getString(value, "uuid") : null;
    return id === null || id === "" || id.length > ID_CHARS_MAX ? null : id;
  },

  /** In the place that `complete` left for it. */
  link(native: Native, previous: string | null): Native {
    return { ...native, parentUuid: previous };
  },
};
