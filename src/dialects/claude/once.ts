/**
 * Once: an entry with a `uuid` stands in a log once, however often it is given: the SDK retries and
 * replays. Of an entry without one nobody can tell, and it is written each time.
 */

import type { Once } from "../dialect.ts";
import { getString, isObject } from "../fields.ts";
import { isDeletion } from "./deletion.ts";

export const once: Once = {
  idOf(value: unknown): string | null {
    return (isObject(value) && getString(value, "uuid")) || null;
  },

  /** A session that was deleted can be written anew. */
  forgets: isDeletion,
};
