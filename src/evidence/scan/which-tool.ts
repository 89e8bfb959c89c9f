/**
 * Which tool: the part of an entry that contains a value, and the tool that printed it.
 */

import type { LogWindow } from "../../core/log/window.ts";
import type { Part } from "../../core/model/entry.ts";
import type { Dialect } from "../../dialects/dialect.ts";
import { unescapeOnce } from "./unescape.ts";

export interface PartOrigin {
  /** Null: in no part, such as a field of the line that no dialect reads. */
  readonly in: Part["type"] | null;
  readonly tool: string | null;
  /** The call of a result whose tool an earlier line names. */
  readonly callId: string | null;
}

const UNKNOWN: PartOrigin = { in: null, tool: null, callId: null };

/** Says where in the line's entry a value is: its raw bytes, or text of the entry. */
export function originIn(dialect: Dialect, line: Buffer): (value: Buffer | string) => PartOrigin {
  const parts = partsOf(dialect, line);
  return (value) => {
    const text = typeof value === "string" ? value : unescapeOnce(value.toString(), false).text;
    const part = parts.find((each) => hasText(each, text));
    if (!part) return UNKNOWN;
    if (part.type === "tool_call") return { in: part.type, tool: part.tool, callId: null };
    if (part.type !== "tool_result") return { ...UNKNOWN, in: part.type };
    const tool = toolIn(parts, part.callId);
    return { in: part.type, tool, callId: tool === null ? part.callId : null };
  };
}

/** The tools of these calls, by the first lines that name them. */
export async function toolsOf(
  dialect: Dialect,
  log: LogWindow,
  calls: ReadonlySet<string>,
): Promise<Map<string, string>> {
  const tools = new Map<string, string>();
  await log.each(0, ({ value, fault }) => {
    const parts = fault === null ? (dialect.reading.decode(value).entry?.parts ?? []) : [];
    for (const part of parts) {
      if (part.type !== "tool_call" || part.callId === null || !calls.has(part.callId)) continue;
      if (!tools.has(part.callId)) tools.set(part.callId, part.tool);
    }
    return tools.size < calls.size;
  });
  return tools;
}

function toolIn(parts: readonly Part[], callId: string | null): string | null {
  if (callId === null) return null;
  for (const part of parts) {
    if (part.type === "tool_call" && part.callId === callId) return part.tool;
  }
  return null;
}

function partsOf(dialect: Dialect, line: Buffer): readonly Part[] {
  try {
    return dialect.reading.decode(JSON.parse(line.toString())).entry?.parts ?? [];
  } catch {
    return []; // Not JSON: searched as it is.
  }
}

/** Whether a string of the part contains the text; without recursion, a line may be deep. */
function hasText(part: Part, text: string): boolean {
  const rest: unknown[] = [part];
  while (rest.length > 0) {
    const next = rest.pop();
    if (typeof next === "string" && next.includes(text)) return true;
    if (typeof next !== "object" || next === null) continue;
    for (const [key, inside] of Object.entries(next)) rest.push(key, inside);
  }
  return false;
}
