/**
 * Complete: validates what a caller wants to write, and adds nothing.
 *
 * The entry is serialised once, so the JSON that is checked is the JSON that is written. An entry
 * is any JSON object with a string `type`: entries are Claude's own, and change with its versions.
 * Only the store may write a deletion.
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

/** Names the field and the fault, never the field's value. */
export function invalidEntry(field: string, reason: string): VerbatimError<"INVALID_ENTRY"> {
  return new VerbatimError(
    "INVALID_ENTRY",
    `the entry is refused: ${field} is ${reason}; nothing was written. See docs/formats/claude.md`,
    { field, reason },
  );
}
