/** OpenAPI: the search over all sessions, and the tools that they called. */

import * as over from "../../client/search-shapes.ts";
import { ENTRY_KINDS } from "../../sessions/search/query.ts";
import {
  flag,
  get,
  json,
  limit,
  parameter,
  type SessionsOperation,
  text,
} from "../openapi/describe.ts";
import type { MountDescription } from "../router/mount.ts";
import { SEARCH_PATH, TOOLS_PATH } from "../router/paths.ts";
import { OF_SESSIONS } from "./openapi.ts";
import { SERVED_DIALECTS } from "./roots.ts";
import { SESSION_LIMITS } from "./session-limits.ts";

const HITS = { type: "integer", minimum: 1, maximum: SESSION_LIMITS.hitsMax };

const SEARCH_OPERATION: SessionsOperation = {
  summary: "Entries that contain all of the words, the latest first",
  parameters: [
    {
      ...parameter("q", "Words, phrases and filters: docs/api.md, Search", text),
      required: true,
    },
    parameter("session", "Only in this session", text),
    ...OF_SESSIONS,
    parameter("kind", "Only entries of this kind", { enum: [...ENTRY_KINDS] }),
    parameter("since", "Only entries at this time or later", text),
    parameter("until", "Only entries before this time", text),
    parameter("perSession", "Maximum per session on a page; default: all", HITS),
    parameter("typing", "The last word may be the beginning of one", flag(false)),
    limit("Maximum number", SESSION_LIMITS.hitsMax, SESSION_LIMITS.hitsDefault),
    parameter("cursor", "`next` of the page before, with the same query", text),
  ],
  ok: json("SearchPage", "A page; it may have fewer than `limit` and still a next one"),
  refused: [],
};

const TOOLS_OPERATION: SessionsOperation = {
  summary: "How often tools were called, failed, and how long they took, in all sessions",
  parameters: [
    parameter("since", "From this day on, in UTC", text),
    parameter("until", "Before this day", text),
    parameter("dialect", "Only of this dialect", { enum: [...SERVED_DIALECTS] }),
  ],
  ok: json("ToolReport", "The most called first"),
  refused: [],
};

export const SEARCH: MountDescription = {
  paths: {
    [SEARCH_PATH]: get("searchSessions", SEARCH_OPERATION),
    [TOOLS_PATH]: get("sumTools", TOOLS_OPERATION),
  },
  schemas: {
    SnippetPiece: over.SNIPPET_PIECE,
    LeftOut: over.LEFT_OUT,
    SearchHit: over.SEARCH_HIT,
    SearchPage: over.SEARCH_PAGE,
    ToolUsage: over.TOOL_USAGE,
    ToolReport: over.TOOL_REPORT,
  },
};
