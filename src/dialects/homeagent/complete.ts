/**
 * Complete: validates what a caller wants to write. As in the document, the writer adds nothing.
 *
 * - The JSON that is checked is the JSON that is written. An object can return different values
 *   each time (getters, `toJSON`, inherited fields), so it is serialised once; that JSON is checked
 *   and returned.
 * - The returned JSON is the caller's, byte for byte, or the entry is refused.
 * - Entries with `checkpoint` in `type` or `event_type`, or with both fields, are reserved for the
 *   signer: in an unsigned tail they would look like a forgery. They are refused in every store.
 */

import type { Native } from "../dialect.ts";
import { entryFault } from "./entry-check.ts";
import { invalidEntry } from "./invalid-entry.ts";

const TYPE_KEYS = ["type", "event_type"] as const;
const CHECKPOINT_TYPE = "checkpoint";

export function complete(given: Native): Native {
  const json = jsonOf(given);
  const native: unknown = JSON.parse(json);
  const fault = entryFault(native);
  if (fault !== null) throw invalidEntry(fault.field, fault.reason);
  refuseCheckpoint(native as Native); // Has no fault, so it is an object.
  // Node 22's JSON.rawJSON can produce digits that no number serialises to.
  if (JSON.stringify(native) !== json)
    throw invalidEntry("entry", "its JSON does not read back alike");
  return native as Native;
}

/** Refuses entries that are reserved for the signer. */
function refuseCheckpoint(native: Native): void {
  for (const field of TYPE_KEYS) {
    if (native[field] !== CHECKPOINT_TYPE) continue;
    throw invalidEntry(field, "reserved for signed checkpoints");
  }
  if (!TYPE_KEYS.every((field) => Object.hasOwn(native, field))) return;
  throw invalidEntry("event_type", "only signed checkpoints carry both type and event_type");
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

/** The top-level field that cannot be serialised; "entry" if it is not a single field. */
function fieldWithoutJson(given: Native): string {
  try {
    for (const key of Object.keys(given)) {
      try {
        JSON.stringify(given[key]);
      } catch {
        return key; // The failure is already being reported.
      }
    }
  } catch {
    // A proxy whose keys cannot be listed: there is no field to name.
  }
  return "entry";
}
