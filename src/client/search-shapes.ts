/** Search shapes: what searching and adding up over all sessions answer. */

import type { Role } from "../model/entry.ts";
import type { ToolUse, UsageRow } from "../model/usage-sums.ts";
import type { SessionItem } from "./session-shapes.ts";

/** A piece of text that was cut from an entry; data, never HTML. */
export interface SnippetPiece {
  readonly text: string;
  /** Whether it is what was looked for. */
  readonly isHit: boolean;
}

/** An entry that was found. */
export interface SearchHit {
  /** The session it stands in, as the list tells it. */
  readonly session: SessionItem;
  /** Where its line stands in the session's log. */
  readonly start: number;
  readonly end: number;
  readonly role: Role | null;
  readonly at: string | null;
  /** The tools that it calls, or whose results it holds. */
  readonly tools: readonly string[];
  /** The text around the first hits, in order. Without words to look for, how the entry begins. */
  readonly snippet: readonly SnippetPiece[];
}

export interface SearchPage {
  /** The latest first. */
  readonly hits: readonly SearchHit[];
  /** The cursor of the next page; null after the last. A page may be empty and have a next one. */
  readonly next: string | null;
  /** False while sessions are read for the first time: some cannot be found yet. */
  readonly isComplete: boolean;
}

export interface SearchOptions {
  readonly limit?: number;
  /** `next` of the page before, of the same query. */
  readonly cursor?: string;
  /** Only in this session: an id as the list gives it. */
  readonly session?: string;
  /** The last word is still being typed: it is taken for the beginning of one. */
  readonly typing?: boolean;
  readonly signal?: AbortSignal;
}

export interface ToolUsageRow extends ToolUse {
  /** The slowest: how long, and which result; null where no duration is known. */
  readonly slowest: {
    readonly ms: number;
    /** The session's id, and where the result's line stands in it. */
    readonly session: string;
    readonly start: number;
  } | null;
}

export interface UsageReport {
  /** The latest day first. */
  readonly rows: readonly UsageRow[];
  /** The most called first. */
  readonly tools: readonly ToolUsageRow[];
  /** Sessions that had any part in it. */
  readonly sessions: number;
  /** True when there were more rows or tools than one answer holds: the earliest, or the least used, are left out. */
  readonly isCut: boolean;
  /** False while sessions are read for the first time: some are not counted yet. */
  readonly isComplete: boolean;
}

export interface UsageOptions {
  /** Whole days in UTC: from this one on, and before that one. `2026-11-15`, or any time in it. */
  readonly since?: string;
  readonly until?: string;
  readonly dialect?: SessionItem["dialect"];
  readonly signal?: AbortSignal;
}
