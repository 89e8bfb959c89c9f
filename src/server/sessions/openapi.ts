/**
 * Session paths: the sessions API and the search, operation by operation, as OpenAPI has them; and
 * the shapes of answers, by their names there.
 */

import * as outlined from "../../client/outline-shapes.ts";
import {
  boolean,
  choice,
  constant,
  count,
  describeSchema,
  list,
  object,
  offset,
  orNull,
  type Schema,
  string,
} from "../../client/schema.ts";
import * as over from "../../client/search-shapes.ts";
import * as of from "../../client/session-shapes.ts";
import * as used from "../../client/usage-shapes.ts";
import { SESSION_STATUSES } from "../../core/model/summary.ts";
import { PAGE_SORTS } from "../../sessions/catalog/page-rows.ts";
import { ENTRY_KINDS } from "../../sessions/search/query.ts";
import { LEGACY_PROFILE } from "../../trust/proof/envelopes.ts";
import { VERDICTS } from "../../trust/proof/verdict.ts";
import {
  content,
  flag,
  get,
  json,
  limit,
  PROJECT_PARAMETER,
  parameter,
  SENDER_PARAMETERS,
  SESSION,
  type SessionsOperation,
  text,
} from "../openapi/describe.ts";
import { APPEND_OPERATION, CREATE_OPERATION, POSTED_SCHEMAS } from "../posted/openapi.ts";
import type { MountDescription } from "../router/mount.ts";
import { SEARCH_PATH, SESSIONS_ROOT, TOOLS_PATH } from "../router/paths.ts";
import { FIND_SCHEMAS, findPaths } from "./finds.ts";
import { NOTE_FILTERS, NOTE_SCHEMAS, notesPath } from "./notes.ts";
import { SERVED_DIALECTS } from "./roots.ts";
import { SESSION_LIMITS } from "./session-limits.ts";

const VERDICT = choice(VERDICTS);
const HEAD = { seq: count, byte_offset: count };

const REPORT = object({
  schema: constant("verbatim.verify/1"),
  verdict: VERDICT,
  session: orNull(string),
  dialect: string,
  path: string,
  profile: choice(["v2", LEGACY_PROFILE]),
  deep: boolean,
  file: object({ bytes: count }),
  signed_through: orNull(
    object({
      ...HEAD,
      turn: count,
      turns: count,
      end: count,
      line: string,
      rev: count,
      ts: string,
      kid: string,
    }),
  ),
  checkpoints: object({ total: count, valid: count }),
  tail: object({ bytes: count, lines: count, types: { type: "object" } }),
  found: list(list(count)),
  bad_range: orNull(object({ from: count, to: count, turns: list(count) })),
  freshness: choice(["match", "ahead", "none"]),
  log: orNull(string),
  from: orNull(object({ log: string, seq: count, line: string, at: count })),
  erasures: list(object({ at: orNull(string), reason: string, lines: count, log: orNull(string) })),
  keys: list(
    object({
      kid: orNull(string),
      fp: orNull(string),
      owner: orNull(string),
      trusted: boolean,
      rotated_from: orNull(string),
    }),
  ),
  rotations: list(object({ seq: count, from: string, to: string, named: boolean })),
  links: list(object({ seq: count, id: string, log: string })),
  missing: orNull(object({ ...HEAD, ts: string })),
  findings: list(
    object({
      code: string,
      verdict: orNull(VERDICT),
      byte_offset: orNull(count),
      turn: orNull(count),
      message: string,
    }),
  ),
});

const SESSION_SCHEMAS: Readonly<Record<string, Schema>> = {
  Session: withDialects(of.SESSION),
  SessionPage: of.SESSION_PAGE,
  SessionHead: withDialects(of.SESSION_HEAD),
  EntryKind: of.ENTRY_KIND,
  Role: of.ROLE,
  Part: of.PART,
  Usage: of.USAGE,
  ToolView: of.TOOL_VIEW,
  ResultView: of.RESULT_VIEW,
  NeutralEntry: of.NEUTRAL_ENTRY,
  Entry: of.ENTRY,
  EntryPage: of.ENTRY_PAGE,
  Exchange: outlined.EXCHANGE,
  OutlineMark: outlined.OUTLINE_MARK,
  OutlinePage: outlined.OUTLINE_PAGE,
  ExchangesPage: outlined.EXCHANGES_PAGE,
  Whereabouts: of.WHEREABOUTS,
  ...NOTE_SCHEMAS,
  ...FIND_SCHEMAS,
  ...POSTED_SCHEMAS,
  ...outlined.THREAD_SCHEMAS,
  Checkpoint: of.CHECKPOINT,
  CheckpointKey: of.CHECKPOINT_KEY,
  CheckpointPage: of.CHECKPOINT_PAGE,
  VerifyReport: describeSchema(
    REPORT,
    "As `verbatim verify --json` prints it: docs/formats/checkpoint.md, Reports",
  ),
  SessionUsage: of.SESSION_USAGE,
  Rewound: object({ to: offset }),
  CountedSums: used.COUNTED_SUMS,
  SessionCosts: used.SESSION_COSTS,
};

const offsetParameter: Schema = { type: "integer", minimum: 0 };

const FORM = [
  parameter("native", "Include each entry's parsed line", flag(true)),
  parameter(
    "exact",
    "Integers that a double cannot represent as numbers, not strings",
    flag(false),
  ),
];

const STRETCH = [
  parameter("from", "The first byte; default 0", offsetParameter),
  parameter(
    "to",
    "The byte after the last; default: as many as fit into an answer",
    offsetParameter,
  ),
];

/** Filters by session, as the list and the search have them. */
export const OF_SESSIONS = [
  parameter("status", "Only sessions with this status", { enum: [...SESSION_STATUSES] }),
  parameter("agent", "Only with this `agentLabel`", text),
  PROJECT_PARAMETER,
  parameter("model", "Only with this model", text),
  parameter("verdict", "Only with this verdict", { enum: [...VERDICTS] }),
  ...SENDER_PARAMETERS,
  ...NOTE_FILTERS,
  parameter("subagents", "Include sessions that another one started", flag(true)),
];

const LIST_OPERATION: SessionsOperation = {
  summary: "List sessions, the last changed first",
  parameters: [
    parameter("dialect", "Only of this dialect", { enum: [...SERVED_DIALECTS] }),
    ...OF_SESSIONS,
    parameter("since", "Last changed at this time or later", text),
    parameter("until", "Last changed before this time", text),
    parameter("title", "Only titles that contain this text, in any case", text),
    parameter("parent", "Only those that the session with this id started", text),
    parameter("live", "Only those that are being written", flag(false)),
    parameter("sort", "What to sort by, the largest first", {
      enum: [...PAGE_SORTS],
      default: "updated",
    }),
    parameter("facets", "Also count by agent, project, model, verdict and sender", flag(false)),
    limit("Maximum number", SESSION_LIMITS.sessionsMax, SESSION_LIMITS.sessionsDefault),
    parameter("cursor", "`next` of the page before, with the same filters", text),
  ],
  ok: json("SessionPage", "A page; it may have fewer than `limit` and still a next one"),
  refused: [],
};

const ENTRIES_OPERATION: SessionsOperation = {
  summary: "Entries by range: the last ones, or from, before or around an offset",
  parameters: [
    SESSION,
    parameter("from", "The entries from this offset on", offsetParameter),
    parameter("before", "The entries before this offset", offsetParameter),
    parameter(
      "around",
      "The entry that starts here, with those before and after it",
      offsetParameter,
    ),
    limit("Maximum number", SESSION_LIMITS.entriesMax, SESSION_LIMITS.entriesDefault),
    parameter("call", "Only what the subagent of this call wrote into the log", text),
    ...FORM,
  ],
  ok: json("EntryPage", "Entries in the order of the log"),
  refused: [410, 416],
};

const { outlineMax, outlineDefault } = SESSION_LIMITS;
const AT_LEAST_ONE: Schema = { type: "integer", minimum: 1 };
const FROM = parameter("from", "Those from this offset on", offsetParameter);

const OUTLINE_OPERATION: SessionsOperation = {
  summary: "Prompts with their cost, failures and edits: where to jump to",
  parameters: [
    SESSION,
    FROM,
    limit("Maximum number of prompts and marks together", outlineMax, outlineDefault),
    parameter("reads", "Also the files that were read", { type: "boolean", default: false }),
  ],
  ok: json("OutlinePage", "What is known so far, in the order of the log"),
  refused: [],
};

const EVENTS_OPERATION: SessionsOperation = {
  summary: "Existing entries, then new ones, as Server-Sent Events",
  parameters: [
    SESSION,
    parameter("offset", "Where to begin: an offset, or `end`; default 0", {
      anyOf: [offsetParameter, { const: "end" }],
    }),
    ...FORM,
    parameter(
      "Last-Event-ID",
      "The last event's id; it overrides `offset`",
      { type: "string" },
      "header",
    ),
  ],
  ok: content(
    "text/event-stream",
    { type: "string" },
    "`entry` events, whose data is an Entry and whose id is the offset after it; `rewound` events, " +
      "whose data is a Rewound, when lines that were sent were taken back by their writer",
  ),
  refused: [416],
};

const MARKDOWN_OPERATION: SessionsOperation = {
  summary: "The session as a Markdown document",
  parameters: [
    SESSION,
    parameter("thinking", "Include the model's thinking", flag(false)),
    parameter("tools", "Include the input and output of tools", flag(true)),
    parameter("metadata", "rye: a heading above what the assistant says", flag(true)),
  ],
  ok: content("text/markdown", { type: "string" }, "Markdown source"),
  refused: [],
};

const BYTES: Schema = {
  ...content("application/octet-stream", {}, "The log's bytes, exactly"),
  headers: {
    "Session-From": { description: "The first byte's place", schema: offsetParameter },
    "Session-To": { description: "The place after the last byte", schema: offsetParameter },
    "Session-End": { description: "Where the log ended", schema: offsetParameter },
  },
};

const ONE = `${SESSIONS_ROOT}/{id}`;
const alone = [SESSION];

const PATHS: Readonly<Record<string, Schema>> = {
  [SESSIONS_ROOT]: { ...get("listSessions", LIST_OPERATION), post: CREATE_OPERATION },
  [ONE]: get("getSession", {
    summary: "What is known of one session, and where its log ends",
    parameters: alone,
    ok: json("SessionHead", "The session"),
    refused: [],
  }),
  [`${ONE}/entries`]: { ...get("getEntries", ENTRIES_OPERATION), post: APPEND_OPERATION },
  [`${ONE}/outline`]: get("getOutline", OUTLINE_OPERATION),
  [`${ONE}/exchanges`]: get("getExchanges", {
    summary: "The exchanges of the outline as columns of numbers",
    parameters: [SESSION, FROM, limit("Maximum number", outlineMax, outlineDefault)],
    ok: json("ExchangesPage", "What is known so far, in the order of the log"),
    refused: [],
  }),
  [`${ONE}/events`]: get("followEntries", EVENTS_OPERATION),
  [`${ONE}/bytes`]: get("getBytes", {
    summary: "Bytes of the log, up to its last whole line",
    parameters: [SESSION, ...STRETCH],
    ok: BYTES,
    refused: [410],
  }),
  [`${ONE}/checkpoints`]: get("getCheckpoints", {
    summary: "The checkpoints that cover a stretch of bytes",
    parameters: [SESSION, ...STRETCH],
    ok: json("CheckpointPage", "Checkpoints as stored; not verified"),
    refused: [410],
  }),
  [`${ONE}/threads`]: get("getThreads", {
    summary: "The subagents that calls of the session started, and the call that started it",
    parameters: alone,
    ok: json("SessionThreads", "While `isComplete` is false, ask again"),
    refused: [],
  }),
  [`${ONE}/whereabouts`]: get("getWhereabouts", {
    summary: "Whether the session is still in its place, and where it is otherwise",
    parameters: alone,
    ok: json("Whereabouts", "Also for a session that was deleted"),
    refused: [],
  }),
  [`${ONE}/markdown`]: get("getMarkdown", MARKDOWN_OPERATION),
  [`${ONE}/verify`]: get("verifySession", {
    summary: "The verdict on the session, by the trust of the user who runs the server",
    parameters: alone,
    ok: json("VerifyReport", "The report, whatever the verdict"),
    refused: [],
  }),
  [`${ONE}/costs`]: get("getCosts", {
    summary: "What the session cost, by prompt and by tool call",
    parameters: [
      SESSION,
      FROM,
      parameter("limit", "Maximum number of prompts and calls; default: all", AT_LEAST_ONE),
      parameter("columns", "Also the cost of every prompt, as columns", flag(false)),
    ],
    ok: json("SessionCosts", "As `verbatim usage session` counts; while it counts, ask again"),
    refused: [],
  }),
  ...findPaths(ONE, alone),
  [`${ONE}/notes`]: notesPath(alone),
  [`${ONE}/usage`]: get("getUsage", {
    summary: "Tokens and cost, as recorded",
    parameters: alone,
    ok: json("SessionUsage", "What the session used"),
    refused: [],
  }),
};

export const SESSIONS: MountDescription = { paths: PATHS, schemas: SESSION_SCHEMAS };
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

/** The shape with the names of this server's dialects; a client may talk to a newer server. */
function withDialects(schema: Schema): Schema {
  const properties = { ...(schema.properties as object), dialect: choice(SERVED_DIALECTS) };
  return { ...schema, properties };
}
