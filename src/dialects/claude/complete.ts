/**
 * Complete: judges what a caller wants to write. Nothing is added to it.
 *
 * C1  What is judged is what is written: the entry's JSON, asked for once.
 * C2  An entry is any JSON object with a text as its `type`: entries are Claude's own, and change
 *     with its versions. Only the store says that a session was deleted.
 */

import { VerbatimError } from "../../base/errors.ts";
import type { Native } from "../dialect.ts";
import { get, isObject } from "../fields.ts";
import { toJsonValue } from "../json-value.ts";

export function complete(given: Native): Native {
  if (!isObject(given)) throw invalidEntry("entry", "not an object");
  const entry = toJsonValue(given);
  if (!isObject(entry)) throw invalidEntry("entry", "not JSON");
  if (typeof get(entry, "type") !== "string") throw invalidEntry("type", "not a text");
  return entry;
}

/** Names the field and what is wrong with it, never what it holds. */
export function invalidEntry(field: string, reason: string): VerbatimError<"INVALID_ENTRY"> {
  return new VerbatimError(
    "INVALID_ENTRY",
    `the entry is refused: ${field} is ${reason}; nothing was written. See docs/formats/claude.md`,
    { field, reason },
  );
}
