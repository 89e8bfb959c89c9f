/** Search shapes: results of searching, and of usage over all sessions. */

import type { Role } from "../model/entry.ts";
import type { ToolUse, UsageRow } from "../model/usage-sums.ts";
import type { SessionItem } from "./session-shapes.ts";

/** A piece of an entry's text; data, never HTML. */
export interface SnippetPiece {
  readonly text: string;
  /** Whether it is a hit. */
  readonly isHit: boolean;
}

/** An entry that was found. */
export interface SearchHit {
  /** Its session, as in the list. */
  readonly session: SessionItem;
  /** Offset of its line in the session's log. */
  readonly start: number;
  readonly end: number;
  readonly role: Role | null;
  readonly at: string | null;
  /** The tools that it calls, or has results of. */
  readonly tools: readonly string[];
  /**
   * The text around the first hits, in order. Without words to search for, the entry's beginning.
   */
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
  /** `next` of the previous page, of the same query. */
  readonly cursor?: string;
  /** Only in this session: an id from the list. */
  readonly session?: string;
  /** The last word is still being typed: it is a prefix. */
  readonly typing?: boolean;
  readonly signal?: AbortSignal;
}

export interface ToolUsageRow extends ToolUse {
  /** The slowest: how long, and which result; null where no duration is known. */
  readonly slowest: {
    readonly ms: number;
    /** The session's id, and the offset of the result's line in it. */
    readonly session: string;
    readonly start: number;
  } | null;
}

export interface UsageReport {
  /** The latest day first. */
  readonly rows: readonly UsageRow[];
  /** The most called first. */
  readonly tools: readonly ToolUsageRow[];
  /** Sessions that contributed. */
  readonly sessions: number;
  /**
   * True when there were more rows or tools than one response has: the earliest, or the least used,
   * are left out.
   */
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
