/**
 * Chain: every row names the row before it (`parentUuid`), whichever program wrote that row.
 *
 * Rows of other programs may form a tree or have no id. The next row refers to the last row in the
 * log that has one.
 */

import type { Chain, Native } from "../dialect.ts";
import { getString, isObject } from "../fields.ts";

/** Longer ids are ignored; a line may hold 16 MiB. */
const ID_CHARS_MAX = 200;

export const chain: Chain = {
  idOf(value: unknown): string | null {
    const id = isObject(value) ? getString(value, "uuid") : null;
    return id === null || id === "" || id.length > ID_CHARS_MAX ? null : id;
  },

  /** Sets the field that `complete` left null. */
  link(native: Native, previous: string | null): Native {
    return { ...native, parentUuid: previous };
  },
};
