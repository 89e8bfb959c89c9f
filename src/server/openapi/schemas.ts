/** Schemas: the shapes of what the server answers, in JSON Schema as OpenAPI 3.1 takes it. */

import { DIALECT_NAMES } from "../../dialects/names.ts";
import { SESSION_STATUSES } from "../../model/summary.ts";
import { VERDICTS } from "../../proof/verdict.ts";
import { OVER_SESSIONS } from "./over-sessions.ts";
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
  time,
} from "./schema.ts";

const SUMMARY = {
  id: { ...string, description: "What URLs call the session", pattern: "^[0-9a-f]{16}\\.[\\w-]+$" },
  session: { ...string, description: "The session's own id" },
  dialect: { enum: [...DIALECT_NAMES] },
  root: { ...string, description: "The store's directory on the server" },
  title: { ...orNull(string), description: "The first thing a user said" },
  agent: orNull(string),
  model: orNull(string),
  status: { enum: [...SESSION_STATUSES, null] },
  turns: count,
  inputTokens: orNull(number),
  outputTokens: orNull(number),
  totalTokens: orNull(number),
  spend: { ...orNull(number), description: "US dollars, as recorded" },
  createdAt: orNull(string),
  updatedAt: orNull(string),
  durationMs: { ...orNull(number), description: "From the first time in it to the last" },
  parent: {
    ...orNull(string),
    description: "The session that began this one: its own id, in the same store",
  },
  lines: count,
  badLines: count,
  bytes: count,
  modifiedAt: time,
  isLive: { ...boolean, description: "Appended to within the last minute" },
  isCurrent: {
    ...boolean,
    description: "False while a long session grows: the summary is of an earlier moment",
  },
  isMissing: {
    ...boolean,
    description: "Its head is pinned and its log is gone: its verdict is rollback",
  },
};

const ENDS = { end: offset, tornBytes: count, unfinishedBytes: count };

const PART = {
  type: "object",
  properties: {
    type: { enum: ["text", "reasoning", "tool_call", "tool_result", "child", "other"] },
  },
  required: ["type"],
  description: "text, reasoning, tool_call, tool_result, child or other, each with its own fields",
};

const USAGE = {
  type: "object",
  properties: {
    inputTokens: orNull(number),
    outputTokens: orNull(number),
    totalTokens: orNull(number),
    spend: orNull(number),
    cacheWriteTokens: number,
    cacheReadTokens: number,
  },
  required: ["inputTokens", "outputTokens", "totalTokens", "spend"],
  additionalProperties: false,
};

const NEUTRAL = {
  type: "object",
  properties: {
    kind: ref("EntryKind"),
    at: orNull(string),
    role: ref("Role"),
    parts: list(ref("Part")),
    model: orNull(string),
    messageId: string,
    stopReason: string,
    isPartial: { const: true },
    usage: orNull(ref("Usage")),
    outcome: { enum: ["completed", "error", null] },
    error: orNull(object({ code: string, detail: string })),
    native: { type: "object", description: "The line as it was parsed; left out by native=false" },
  },
  required: ["kind", "at", "role", "parts", "model", "usage", "outcome", "error"],
  additionalProperties: false,
};

const CHECKPOINT = object({
  line: { ...string, description: "The checkpoint's line as it stands, without its LF" },
  start: offset,
  end: offset,
  seq: count,
  kind: { enum: ["genesis", "recovery", "rotate", "link", "turn", "batch", "final"] },
  keyId: string,
  covers: object({ from: { const: 0 }, to: offset }),
});

const VERDICT = { enum: [...VERDICTS] };
const HEAD = { seq: count, byte_offset: count };

const REPORT = object(
  {
    schema: { const: "verbatim.verify/1" },
    verdict: VERDICT,
    session: orNull(string),
    dialect: string,
    path: string,
    profile: { enum: ["v2", "rye"] },
    deep: boolean,
    file: object({ bytes: count }),
    signed_through: orNull(
      object({
        ...HEAD,
        ...{ turn: count, turns: count, end: count, line: string, rev: count, ts: string },
        kid: string,
      }),
    ),
    checkpoints: object({ total: count, valid: count }),
    tail: object({ bytes: count, lines: count, types: { type: "object" } }),
    found: list(list(count)),
    bad_range: orNull(object({ from: count, to: count, turns: list(count) })),
    freshness: { enum: ["match", "ahead", "none"] },
    log: orNull(string),
    from: orNull(object({ log: string, seq: count, line: string, at: count })),
    keys: list(
      object({
        ...{ kid: orNull(string), fp: orNull(string), owner: orNull(string) },
        ...{ trusted: boolean, rotated_from: orNull(string) },
      }),
    ),
    rotations: list(object({ seq: count, from: string, to: string, named: boolean })),
    links: list(object({ seq: count, id: string, log: string })),
    missing: orNull(object({ ...HEAD, ts: string })),
    findings: list(
      object({
        ...{ code: string, verdict: orNull(VERDICT), byte_offset: orNull(count) },
        ...{ turn: orNull(count), message: string },
      }),
    ),
  },
  { description: "As `verbatim verify --json` prints it: docs/formats/checkpoint.md, Reports" },
);

export const SCHEMAS: Readonly<Record<string, Schema>> = {
  Error: object({
    error: {
      type: "object",
      properties: {
        code: string,
        message: string,
        current_holder: { ...string, description: "Subscriptions: who has the claim" },
        generation: { ...count, description: "Subscriptions: which claim it is" },
      },
      required: ["code", "message"],
      additionalProperties: false,
    },
  }),
  Health: {
    type: "object",
    properties: { status: string, reason: string },
    required: ["status"],
  },
  Session: object(SUMMARY),
  SessionPage: object({
    sessions: list(ref("Session")),
    next: nextPage,
    isComplete: isComplete("are not listed"),
    unreadable: {
      ...count,
      description: "Sessions that are there, cannot be read, and are not listed",
    },
  }),
  SessionHead: object({ ...SUMMARY, ...ENDS }),
  EntryKind: { enum: ["start", "message", "turn_start", "turn_end", "end", "other"] },
  Role: { enum: ["system", "user", "assistant", "tool", null] },
  Part: PART,
  Usage: USAGE,
  NeutralEntry: NEUTRAL,
  Entry: object({
    start: offset,
    end: { ...offset, description: "The offset after the line: where to go on" },
    bytes: { ...count, description: "The line's length, its LF included" },
    kind: ref("EntryKind"),
    role: ref("Role"),
    at: orNull(string),
    fault: { ...orNull(string), description: "Why the line is no entry; then `entry` is null" },
    entry: orNull(ref("NeutralEntry")),
  }),
  EntryPage: object({
    entries: list(ref("Entry")),
    from: offset,
    next: offset,
    isAtStart: boolean,
    isAtEnd: boolean,
    ...ENDS,
  }),
  Checkpoint: CHECKPOINT,
  Demo: object({ isShown: boolean }),
  CheckpointKey: object({
    keyId: { ...string, description: "SHA-256 of the key: anybody can hold one against the other" },
    publicKey: {
      ...orNull(string),
      description: "32 bytes of Ed25519 in base64url; null when this server does not hold it",
    },
    owner: orNull(string),
    refusal: {
      ...orNull(string),
      description: "Why the user who runs the server does not trust it; null when they do",
    },
  }),
  CheckpointPage: object({
    from: count,
    to: count,
    ...ENDS,
    place: { enum: ["log", "sidecar"] },
    genesis: orNull(ref("Checkpoint")),
    checkpoints: list(ref("Checkpoint")),
    foreignLines: { ...count, description: "Lines of the sidecar that are no checkpoints" },
    newerLines: { ...count, description: "Lines of the sidecar that are of a newer version" },
    keys: list(ref("CheckpointKey")),
    isCovered: { ...boolean, description: "The last checkpoint covers the whole stretch" },
    isComplete: { ...boolean, description: "Everything that could cover it was looked at" },
  }),
  VerifyReport: REPORT,
  SessionUsage: object({
    id: string,
    session: string,
    model: orNull(string),
    createdAt: orNull(string),
    updatedAt: orNull(string),
    turns: count,
    inputTokens: orNull(number),
    outputTokens: orNull(number),
    totalTokens: orNull(number),
    spend: orNull(number),
    isCurrent: boolean,
  }),
  Rewound: object({ to: offset }),
  ...OVER_SESSIONS,
};
