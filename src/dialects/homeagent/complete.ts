/**
 * Complete: judges what a caller wants to write. The document's writer adds nothing to a record.
 *
 * C1  What is judged is what is written. An object can answer two questions differently (getters,
 *     `toJSON`, inherited fields), so it is asked once, for its JSON; that is judged and returned.
 * C2  The JSON returned is the caller's, byte for byte, or the entry is refused.
 * C3  What says `checkpoint` in `type` or `event_type`, or carries both, is a signer's to write: in
 *     an unsigned tail it would be taken for a forgery. A caller's is refused, signed store or not.
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
  refuseCheckpoint(native as Native); // It has no fault, so it is an object.
  // Node 22's JSON.rawJSON can put digits into a text that no number gives back.
  if (JSON.stringify(native) !== json)
    throw invalidEntry("entry", "its JSON does not read back alike");
  return native as Native;
}

/** C3 */
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
