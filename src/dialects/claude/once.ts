/**
 * Once: an entry with a `uuid` is written to a log once, because the SDK retries and replays. An
 * entry without one cannot be recognised, and is written each time.
 */

import type { Once } from "../dialect.ts";
import { getString, isObject } from "../fields.ts";
import { isDeletion } from "./deletion.ts";

export const once: Once = {
  idOf(value: unknown): string | null {
    return (isObject(value) && getString(value, "uuid")) || null;
  },

  /** A deleted session can be written again. */
  forgets: isDeletion,
};
