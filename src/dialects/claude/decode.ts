/**
 * Decode: what a line means as an entry. Lines are Claude's transcript rows, as the entire dialect
 * reads them too, and what hooks were told.
 *
 * Nothing is refused but what is no entry at all; the line stays in `native` as it was parsed.
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
