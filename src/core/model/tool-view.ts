/** Tool view: what a tool call does, for people. Dialects make it (dialects/tool-table.ts). */

const LOCAL = ["command", "read", "write", "edit", "search", "list", "plan", "agent"] as const;
export const TOOL_KINDS = [...LOCAL, "fetch", "web_search", "mcp", "other"] as const;
/** `verb`: `$`, `Read`, or the tool's own name. `lines`: the first and the last that it reads. */
export interface ToolView {
  readonly kind: (typeof TOOL_KINDS)[number];
  readonly verb: string;
  /** The command, pattern, address or task, on one line; null if the input has none. */
  readonly subject: string | null;
  readonly path: string | null;
  readonly lines: readonly [number, number | null] | null;
}
