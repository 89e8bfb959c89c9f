/** Over sessions: what is asked of all sessions at once, as OpenAPI has it: searching, adding up. */

import {
  boolean,
  count,
  isComplete,
  list,
  nextPage,
  number,
  object,
  offset,
  orNull,
  ref,
  type Schema,
  string,
} from "./schema.ts";

export const OVER_SESSIONS: Readonly<Record<string, Schema>> = {
  SnippetPiece: object({
    text: { ...string, description: "Text as it was stored: escape it where it is shown" },
    isHit: { ...boolean, description: "Whether it is what was looked for" },
  }),
  SearchHit: object({
    session: ref("Session"),
    start: offset,
    end: offset,
    role: ref("Role"),
    at: orNull(string),
    tools: { ...list(string), description: "Tools that it calls, or whose results it holds" },
    snippet: list(ref("SnippetPiece")),
  }),
  SearchPage: object({
    hits: list(ref("SearchHit")),
    next: nextPage,
    isComplete: isComplete("cannot be found"),
  }),
  UsageRow: object({
    day: { ...orNull(string), description: "In UTC; null for what has no time" },
    model: orNull(string),
    agent: orNull(string),
    sessions: count,
    turns: count,
    inputTokens: number,
    outputTokens: number,
    totalTokens: number,
    spend: { ...orNull(number), description: "US dollars, as recorded" },
  }),
  ToolUsage: object({
    tool: string,
    calls: count,
    errors: count,
    timed: { ...count, description: "Calls whose duration is known" },
    totalMs: number,
    slowest: orNull(object({ ms: number, session: string, start: offset })),
  }),
  UsageReport: object({
    rows: { ...list(ref("UsageRow")), description: "The latest day first" },
    tools: { ...list(ref("ToolUsage")), description: "The most called first" },
    sessions: count,
    isCut: { ...boolean, description: "There was more than one answer holds" },
    isComplete: isComplete("are not counted"),
  }),
};
