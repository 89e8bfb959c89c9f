/** Tool report: the use of tools in all sessions, added up from the facts in the index. */

import type { ToolUse } from "../../core/model/usage-once.ts";
import type { IndexedPlace } from "./index-table.ts";
import { eachUse, type FactChoice } from "./indexed-facts.ts";
import type { SearchIndex } from "./search-index.ts";

export interface ToolQuery<P extends IndexedPlace = IndexedPlace> extends FactChoice<P> {
  readonly toolsMax: number;
}

export interface ToolRow<P extends IndexedPlace = IndexedPlace> extends ToolUse {
  readonly slowest: {
    readonly ms: number;
    readonly place: P;
    readonly id: string;
    readonly start: number;
  } | null;
}

export interface ToolSums<P extends IndexedPlace = IndexedPlace> {
  /** The most called first. */
  readonly tools: readonly ToolRow<P>[];
  /** There were more than `toolsMax`. */
  readonly isCut: boolean;
}

/** The most groups held. */
const GROUPS_MAX = 50_000;

export async function sumTools<P extends IndexedPlace>(
  index: SearchIndex,
  { toolsMax, ...choice }: ToolQuery<P>,
): Promise<ToolSums<P>> {
  const tools = new Map<string, ToolRow<P>>();
  await eachUse(index, choice, null, (row, { place, id }) => {
    const ms = Number(row.slowest_ms);
    addTool(tools, {
      tool: String(row.tool),
      calls: Number(row.calls),
      errors: Number(row.errors),
      timed: Number(row.timed),
      totalMs: Number(row.total_ms),
      slowest: ms >= 0 ? { ms, place, id, start: Number(row.slowest_start) } : null,
    });
  });
  return {
    tools: [...tools.values()].sort(byCalls).slice(0, toolsMax),
    isCut: tools.size > toolsMax,
  };
}

function addTool<P extends IndexedPlace>(tools: Map<string, ToolRow<P>>, row: ToolRow<P>): void {
  const before = tools.get(row.tool);
  if (before === undefined) {
    if (tools.size < GROUPS_MAX) tools.set(row.tool, row);
    return;
  }
  const isSlower = (row.slowest?.ms ?? -1) > (before.slowest?.ms ?? -1);
  tools.set(row.tool, {
    tool: row.tool,
    calls: before.calls + row.calls,
    errors: before.errors + row.errors,
    timed: before.timed + row.timed,
    totalMs: before.totalMs + row.totalMs,
    slowest: isSlower ? row.slowest : before.slowest,
  });
}

function byCalls(a: ToolRow, b: ToolRow): number {
  return b.calls - a.calls || (a.tool < b.tool ? -1 : 1);
}
