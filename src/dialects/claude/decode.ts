/**
 * Decode: maps a line to an entry. Lines are Claude's transcript rows, which the entire dialect
 * reads too, and hook payloads.
 *
 * Refuses only what is not an entry at all. The parsed line is kept in `native`.
 */

import type { Understood } from "../dialect.ts";
import { rowEntry, timeOf } from "../entire/decode.ts";
import { get, isObject } from "../fields.ts";
import { HOOK_TYPE, hookEntry } from "./hooks.ts";

export function decode(value: unknown): Understood {
  if (!isObject(value)) return { entry: null, fault: "not an object" };
  const type = get(value, "type");
  if (typeof type !== "string") return { entry: null, fault: "type is not a string" };
  const isHook = type === HOOK_TYPE && isObject(get(value, "hook"));
  const entry = isHook ? hookEntry(value, timeOf(get(value, "timestamp"))) : rowEntry(value, type);
  return { entry, fault: null };
}
