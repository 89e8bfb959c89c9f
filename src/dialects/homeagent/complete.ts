/**
 * Complete: judges what a caller wants to write. The document's writer adds nothing to a record.
 *
 * C1  What is judged is what is written. An object can answer two questions differently (getters,
 *     `toJSON`, inherited fields), so it is asked once, for its JSON; that is judged and returned.
 * C2  The JSON returned is the caller's, byte for byte, or the entry is refused.
 */

import type { Native } from "../dialect.ts";
import { entryFault } from "./entry-check.ts";
import { invalidEntry } from "./invalid-entry.ts";

export function complete(given: Native): Native {
  const json = jsonOf(given);
  const native: unknown = JSON.parse(json);
  const fault = entryFault(native);
  if (fault !== null) throw invalidEntry(fault.field, fault.reason);
  // Node 22's JSON.rawJSON can put digits into a text that no number gives back.
  if (JSON.stringify(native) !== json)
    throw invalidEntry("entry", "its JSON does not read back alike");
  return native as Native;
}

function jsonOf(given: Native): string {
  let json: string | undefined;
  try {
    json = JSON.stringify(given);
  } catch (cause) {
    throw invalidEntry(
      fieldWithoutJson(given),
      "it has no JSON (a BigInt, a cycle, too deep)",
      cause,
    );
  }
  if (json === undefined) throw invalidEntry("entry", "expected object");
  return json;
}

/** Which top-level field cannot be serialised; "entry" when it is not one field's fault. */
function fieldWithoutJson(given: Native): string {
  try {
    for (const key of Object.keys(given)) {
      try {
        JSON.stringify(given[key]);
      } catch {
        return key; // The failure itself is already being reported.
      }
    }
  } catch {
    // Not even the keys can be listed: a proxy. There is no field to name.
  }
  return "entry";
}
