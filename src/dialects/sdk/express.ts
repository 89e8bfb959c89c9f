/**
 * Express: maps a neutral entry to a line of kind `entry`, which holds it whole. Such lines come
 * from people and other dialects (a fork's report, an unpacked session), never from a framework;
 * the adapters skip them. Page: docs/formats/sdk.md, "Neutral entries".
 */

import type { NewEntry } from "../../model/entry.ts";
import type { Native } from "../dialect.ts";

export function express({ at, ...entry }: NewEntry): readonly Native[] {
  return [{ type: "entry", ...(at ? { at } : {}), entry }];
}
