/** Search shapes: results of searching, and the use of tools in all sessions, and their options. */

import type { ToolUse } from "../model/usage-once.ts";
import {
  boolean,
  count,
  described,
  isComplete,
  list,
  nextPage,
  number,
  type Of,
  object,
  offset,
  orNull,
  ref,
  string,
} from "./schema.ts";
import { ROLE, type SessionItem } from "./session-shapes.ts";

export const SNIPPET_PIECE = object({
  text: described(string, "Text as it was stored: escape it where it is shown"),
  isHit: described(boolean, "Whether it is what was looked for"),
});
/** A piece of an entry's text; data, never HTML. */
export interface SnippetPiece extends Of<typeof SNIPPET_PIECE> {}

export const SEARCH_HIT = object({
  session: ref<SessionItem>("Session"),
  /** Offset of its line in the session's log. */
  start: offset,
  end: offset,
  role: ref("Role", ROLE),
  at: orNull(string),
  tools: described(list(string), "Tools that it calls, or whose results it holds"),
  /** The text around the first hits, in order. Without words to search for, the beginning. */
  snippet: list(ref<SnippetPiece>("SnippetPiece")),
});
/** An entry that was found. */
export interface SearchHit extends Of<typeof SEARCH_HIT> {}

export const LEFT_OUT = object({
  session: described(string, "Its id"),
  hits: described(count, "How many more this page would have of it"),
});
/** A session with more hits than a page has of it. */
export interface LeftOut extends Of<typeof LEFT_OUT> {}

export const SEARCH_PAGE = object({
  /** The latest first. */
  hits: list(ref<SearchHit>("SearchHit")),
  leftOut: described(list(ref<LeftOut>("LeftOut")), "Sessions with more than `perSession` hits"),
  /** The cursor of the next page; null after the last. A page may be empty and have a next one. */
  next: nextPage,
  isComplete: isComplete("cannot be found"),
});
export interface SearchPage extends Of<typeof SEARCH_PAGE> {}

export interface SearchOptions {
  /** Of sessions with this `agentLabel`. */
  readonly agent?: string;
  /** Of sessions with this `repository`, or else this `project`. */
  readonly project?: string;
  readonly model?: string;
  readonly verdict?: string;
  readonly status?: NonNullable<SessionItem["status"]>;
  /** False leaves out sessions that another one began. Default: true. */
  readonly subagents?: boolean;
  /** Entries at `since` or later, and before `until`. */
  readonly since?: string;
  readonly until?: string;
  /** Prompts, answers without tool calls, or calls of tools and their results. */
  readonly kind?: "prompts" | "answers" | "tools";
  /** At most so many hits of a session on a page. Default: all. */
  readonly perSession?: number;
  readonly limit?: number;
  /** `next` of the previous page, of the same query. */
  readonly cursor?: string;
  /** Only in this session: an id from the list. */
  readonly session?: string;
  /** The last word is still being typed: it is a prefix. */
  readonly typing?: boolean;
  readonly signal?: AbortSignal;
}

const SLOWEST_CALL = object({ ms: number, session: string, start: offset });
/** The slowest call of a tool, and where its result is. */
export interface SlowestCall extends Of<typeof SLOWEST_CALL> {}

export const TOOL_USAGE = object({
  tool: string,
  calls: count,
  errors: count,
  timed: described(count, "Calls whose duration is known"),
  totalMs: number,
  /** Null where no duration is known. */
  slowest: orNull<SlowestCall>(SLOWEST_CALL),
});
export interface ToolUsageRow extends ToolUse, Of<typeof TOOL_USAGE> {}

export const TOOL_REPORT = object({
  tools: described(list(ref<ToolUsageRow>("ToolUsage")), "The most called first"),
  isCut: described(boolean, "There were more than one answer holds: the least used are left out"),
  isComplete: isComplete("are not counted"),
});
export interface ToolReport extends Of<typeof TOOL_REPORT> {}

export interface ToolOptions {
  /** Whole days in UTC: from this one on, and before that one. `2026-11-15`, or any time in it. */
  readonly since?: string;
  readonly until?: string;
  readonly dialect?: SessionItem["dialect"];
  readonly signal?: AbortSignal;
}
