/** Usage sums: what several sessions used together. */

/** What was used on one day, by one model, in the sessions of one agent. */
export interface UsageRow {
  /** In UTC, such as 2026-11-15; null for what has no time. */
  readonly day: string | null;
  readonly model: string | null;
  /** The agent, or the directive. */
  readonly agent: string | null;
  /** Sessions that had any part in it. */
  readonly sessions: number;
  readonly turns: number;
  readonly inputTokens: number;
  readonly outputTokens: number;
  readonly totalTokens: number;
  /** US dollars, as recorded; null when nobody recorded any. */
  readonly spend: number | null;
}

/** How one tool was used. */
export interface ToolUse {
  readonly tool: string;
  readonly calls: number;
  /** Results that were errors. */
  readonly errors: number;
  /** Calls whose duration is known, and how long these took together. */
  readonly timed: number;
  readonly totalMs: number;
}
