/** Search shapes: results of searching, and the use of tools in all sessions, and their options. */

import type { ToolUse } from "../core/model/usage-once.ts";
import {
  boolean,
  count,
  describeSchema,
  isComplete,
  list,
  nextPage,
  number,
  object,
  offset,
  orNull,
  ref,
  string,
  type TypeOfSchema,
} from "./schema.ts";
import { ROLE, type SessionItem } from "./session-shapes.ts";

export const SNIPPET_PIECE = object({
  text: describeSchema(string, "Text as it was stored: escape it where it is shown"),
  isHit: describeSchema(boolean, "Whether it is what was looked for"),
});
/** A piece of an entry's text; data, never HTML. */
export interface SnippetPiece extends TypeOfSchema<typeof SNIPPET_PIECE> {}

export const SEARCH_HIT = object({
  session: ref<SessionItem>("Session"),
  /** Offset of its line in the session's log. */
  start: offset,
  end: offset,
  role: ref("Role", ROLE),
  at: orNull(string),
  tools: describeSchema(list(string), "Tools that it calls, or whose results it holds"),
  isNote: describeSchema(boolean, "A note of the user has the words: on `start`, or the session"),
  /** The text around the first hits, in order. Without words to search for, the beginning. */
  snippet: list(ref<SnippetPiece>("SnippetPiece")),
});
/** An entry that was found. */
export interface SearchHit extends TypeOfSchema<typeof SEARCH_HIT> {}

export const LEFT_OUT = object({
  session: describeSchema(string, "Its id"),
  hits: describeSchema(count, "How many more this page would have of it"),
});
/** A session with more hits than a page has of it. */
export interface LeftOut extends TypeOfSchema<typeof LEFT_OUT> {}

export const SEARCH_PAGE = object({
  /** The latest first. */
  hits: list(ref<SearchHit>("SearchHit")),
  leftOut: describeSchema(
    list(ref<LeftOut>("LeftOut")),
    "Sessions with more than `perSession` hits",
  ),
  /** The cursor of the next page; null after the last. A page may be empty and have a next one. */
  next: nextPage,
  isComplete: isComplete("cannot be found"),
});
export interface SearchPage extends TypeOfSchema<typeof SEARCH_PAGE> {}

export interface SearchOptions {
  /** Of sessions with this `agentLabel`. */
  readonly agent?: string;
  /** `=` and a project, part of the name of one, or a directory and all below it. */
  readonly project?: string;
  readonly model?: string;
  readonly verdict?: string;
  /** Sent by this machine, or this user, as the sender says. */
  readonly machine?: string;
  readonly user?: string;
  readonly status?: NonNullable<SessionItem["status"]>;
  /** Of the user's notes, or the session's own. */
  readonly tag?: string;
  /** True: only sessions that the user starred. */
  readonly starred?: boolean;
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
export interface SlowestCall extends TypeOfSchema<typeof SLOWEST_CALL> {}

export const TOOL_USAGE = object({
  tool: string,
  calls: count,
  errors: count,
  timed: describeSchema(count, "Calls whose duration is known"),
  totalMs: number,
  /** Null where no duration is known. */
  slowest: orNull<SlowestCall>(SLOWEST_CALL),
});
export interface ToolUsageRow extends ToolUse, TypeOfSchema<typeof TOOL_USAGE> {}

export const TOOL_REPORT = object({
  tools: describeSchema(list(ref<ToolUsageRow>("ToolUsage")), "The most called first"),
  isCut: describeSchema(
    boolean,
    "There were more than one answer holds: the least used are left out",
  ),
  isComplete: isComplete("are not counted"),
});
export interface ToolReport extends TypeOfSchema<typeof TOOL_REPORT> {}

export interface ToolOptions {
  /** Whole days in UTC: from this one on, and before that one. `2026-11-15`, or any time in it. */
  readonly since?: string;
  readonly until?: string;
  readonly dialect?: SessionItem["dialect"];
  readonly signal?: AbortSignal;
}
