/** Usage sums: usage of several sessions together. */

/** Usage on one day, by one model, in the sessions of one agent. */
export interface UsageRow {
  /** In UTC, such as 2026-11-15; null for entries without a time. */
  readonly day: string | null;
  readonly model: string | null;
  /** The agent, or the directive. */
  readonly agent: string | null;
  /** Sessions that contributed. */
  readonly sessions: number;
  readonly turns: number;
  readonly inputTokens: number;
  readonly outputTokens: number;
  readonly totalTokens: number;
  /** US dollars, as recorded; null when none was recorded. */
  readonly spend: number | null;
}

/** Usage of one tool. */
export interface ToolUse {
  readonly tool: string;
  readonly calls: number;
  /** Results that were errors. */
  readonly errors: number;
  /** Calls with a known duration, and their total. */
  readonly timed: number;
  readonly totalMs: number;
}
