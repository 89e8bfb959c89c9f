/** Session paths: the sessions API, operation by operation, as OpenAPI has it. */

import { PAGE_SORTS } from "../../catalog/page-rows.ts";
import { ENTRY_KINDS } from "../../catalog/search/query.ts";
import { ref, type Schema } from "../../client/schema.ts";
import { SERIES_GROUPS } from "../../client/usage-shapes.ts";
import { SESSION_LIMITS } from "../../listing/session-limits.ts";
import { SESSION_STATUSES } from "../../model/summary.ts";
import { VERDICTS } from "../../proof/verdict.ts";
import { SERVED_DIALECTS } from "../sessions/roots.ts";
import { SESSIONS_ROOT } from "../sessions/route.ts";
import { SEARCH_PATH, TOOLS_PATH } from "../sessions/search.ts";
import { USAGE_PATH } from "../sessions/usage.ts";

const offset: Schema = { type: "integer", minimum: 0 };
const flag = (otherwise: boolean): Schema => ({ type: "boolean", default: otherwise });

export function parameter(name: string, description: string, schema: Schema, place = "query") {
  return { name, in: place, description, schema, ...(place === "path" ? { required: true } : {}) };
}

/** An answer that went well, of one type. */
export function content(type: string, schema: Schema, description: string): Schema {
  return { description, content: { [type]: { schema } } };
}

/** What anything can be answered with: a foreign page or name, a fault of ours, too much to do. */
const ALWAYS = [403, 500, 503];

export function refusals(...statuses: readonly number[]): Record<string, Schema> {
  const refused = content("application/json", ref("Error"), "Refused; the code says why");
  return Object.fromEntries([...statuses, ...ALWAYS].map((status) => [String(status), refused]));
}

const text: Schema = { type: "string" };
const HITS = { type: "integer", minimum: 1, maximum: SESSION_LIMITS.hitsMax };

const SESSION = parameter("id", "The session, by its `id` in the list", { type: "string" }, "path");

const FORM = [
  parameter("native", "Include each entry's parsed line", flag(true)),
  parameter(
    "exact",
    "Integers that a double cannot represent as numbers, not strings",
    flag(false),
  ),
];

function limit(description: string, maximum: number, otherwise: number) {
  const schema = { type: "integer", minimum: 1, maximum, default: otherwise };
  return parameter("limit", description, schema);
}

const STRETCH = [
  parameter("from", "The first byte; default 0", offset),
  parameter("to", "The byte after the last; default: as many as fit into an answer", offset),
];

interface Operation {
  readonly summary: string;
  readonly parameters: readonly Schema[];
  readonly ok: Schema;
  readonly refused: readonly number[];
}

function get(operationId: string, { summary, parameters, ok, refused }: Operation): Schema {
  const responses = { 200: ok, ...refusals(400, 401, 404, 429, ...refused) };
  return { get: { operationId, summary, tags: ["sessions"], parameters, responses } };
}

const json = (name: string, description: string) =>
  content("application/json", ref(name), description);

/** Filters by session, as the list and the search have them. */
const OF_SESSIONS = [
  parameter("status", "Only sessions with this status", { enum: [...SESSION_STATUSES] }),
  parameter("agent", "Only with this `agentLabel`", text),
  parameter("project", "Only with this `repository`, or else `project`", text),
  parameter("model", "Only with this model", text),
  parameter("verdict", "Only with this verdict", { enum: [...VERDICTS] }),
  parameter("subagents", "Include sessions that another one started", flag(true)),
];

const LIST_OPERATION: Operation = {
  summary: "List sessions, the last changed first",
  parameters: [
    parameter("dialect", "Only of this dialect", { enum: [...SERVED_DIALECTS] }),
    ...OF_SESSIONS,
    parameter("since", "Last changed at this time or later", text),
    parameter("until", "Last changed before this time", text),
    parameter("title", "Only titles that contain this text, in any case", text),
    parameter("parent", "Only those that the session with this id started", text),
    parameter("sort", "What to sort by, the largest first", {
      enum: [...PAGE_SORTS],
      default: "updated",
    }),
    parameter("facets", "Also count by agent, project, model and verdict", flag(false)),
    limit("Maximum number", SESSION_LIMITS.sessionsMax, SESSION_LIMITS.sessionsDefault),
    parameter("cursor", "`next` of the page before, with the same filters", text),
  ],
  ok: json("SessionPage", "A page; it may have fewer than `limit` and still a next one"),
  refused: [],
};

const SEARCH_OPERATION: Operation = {
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

const USAGE_OPERATION: Operation = {
  summary: "What all sessions used and what it cost, every response once",
  parameters: [
    parameter("since", "From this day on: 2026-11-15", text),
    parameter("until", "Up to and including this day", text),
    parameter("tz", "The time zone of days, such as Europe/Berlin; default: the server's", text),
    parameter("agent", "Only of this program or dialect", text),
    parameter(
      "project",
      "Only of this directory and below, or of directories with this name",
      text,
    ),
    parameter("by", "What `series` are grouped by", { enum: [...SERIES_GROUPS], default: "agent" }),
    limit(
      "Maximum number of sessions, and of prompts",
      SESSION_LIMITS.usageListedMax,
      SESSION_LIMITS.usageListedDefault,
    ),
  ],
  ok: json("UsageReport", "Sums; while `isComplete` is false, ask again"),
  refused: [],
};

const TOOLS_OPERATION: Operation = {
  summary: "How often tools were called, failed, and how long they took, in all sessions",
  parameters: [
    parameter("since", "From this day on, in UTC", text),
    parameter("until", "Before this day", text),
    parameter("dialect", "Only of this dialect", { enum: [...SERVED_DIALECTS] }),
  ],
  ok: json("ToolReport", "The most called first"),
  refused: [],
};

const ENTRIES_OPERATION: Operation = {
  summary: "Entries by range: the last ones, or from, before or around an offset",
  parameters: [
    SESSION,
    parameter("from", "The entries from this offset on", offset),
    parameter("before", "The entries before this offset", offset),
    parameter("around", "The entry that starts here, with those before and after it", offset),
    limit("Maximum number", SESSION_LIMITS.entriesMax, SESSION_LIMITS.entriesDefault),
    parameter("call", "Only what the subagent of this call wrote into the log", text),
    ...FORM,
  ],
  ok: json("EntryPage", "Entries in the order of the log"),
  refused: [410, 416],
};

const { outlineMax, outlineDefault } = SESSION_LIMITS;
const AT_LEAST_ONE: Schema = { type: "integer", minimum: 1 };
const FROM = parameter("from", "Those from this offset on", offset);

const OUTLINE_OPERATION: Operation = {
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

const EVENTS_OPERATION: Operation = {
  summary: "Existing entries, then new ones, as Server-Sent Events",
  parameters: [
    SESSION,
    parameter("offset", "Where to begin: an offset, or `end`; default 0", {
      anyOf: [offset, { const: "end" }],
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

const MARKDOWN_OPERATION: Operation = {
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
    "Session-From": { description: "The first byte's place", schema: offset },
    "Session-To": { description: "The place after the last byte", schema: offset },
    "Session-End": { description: "Where the log ended", schema: offset },
  },
};

const ONE = `${SESSIONS_ROOT}/{id}`;
const alone = [SESSION];

export const SESSION_PATHS: Readonly<Record<string, Schema>> = {
  [SESSIONS_ROOT]: get("listSessions", LIST_OPERATION),
  [SEARCH_PATH]: get("searchSessions", SEARCH_OPERATION),
  [USAGE_PATH]: get("sumUsage", USAGE_OPERATION),
  [TOOLS_PATH]: get("sumTools", TOOLS_OPERATION),
  [ONE]: get("getSession", {
    summary: "What is known of one session, and where its log ends",
    parameters: alone,
    ok: json("SessionHead", "The session"),
    refused: [],
  }),
  [`${ONE}/entries`]: get("getEntries", ENTRIES_OPERATION),
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
  [`${ONE}/usage`]: get("getUsage", {
    summary: "Tokens and cost, as recorded",
    parameters: alone,
    ok: json("SessionUsage", "What the session used"),
    refused: [],
  }),
};
