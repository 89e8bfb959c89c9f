/**
 * Compaction: Claude Code summarises a conversation that grew too long. A `compact_boundary` row
 * comes first, then the summary as a user's row. From there on the model sees nothing from before,
 * except rows that the boundary names.
 */

import type { Native } from "../../core/model/entry.ts";
import type { Compaction } from "../facets/turns.ts";
import { get, getObject, getString, isObject } from "../shared/fields.ts";
import { isSummary } from "./aside.ts";

export const compaction: Compaction = {
  isSummary,

  isBoundary(native: Native): boolean {
    return get(native, "type") === "system" && get(native, "subtype") === "compact_boundary";
  },

  keptBy(boundary: Native, before: readonly Native[]): ReadonlySet<Native> {
    const metadata = get(boundary, "compactMetadata");
    if (!isObject(metadata)) return new Set();
    const uuids = get(getObject(metadata, "preservedMessages"), "uuids");
    if (Array.isArray(uuids)) {
      const named = new Set<unknown>(uuids);
      return new Set(before.filter((native) => named.has(get(native, "uuid"))));
    }
    const segment = getObject(metadata, "preservedSegment");
    const [head, tail] = [getString(segment, "headUuid"), getString(segment, "tailUuid")];
    const at = (uuid: string | null) => before.findIndex((row) => get(row, "uuid") === uuid);
    if (head === null || tail === null || at(head) < 0) return new Set();
    return new Set(before.slice(at(head), at(tail) + 1));
  },
};
