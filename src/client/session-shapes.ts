/** Session shapes: responses of the sessions API. `/v1/openapi.json` is made from the same. */

import { ASIDES, type Entry, type Part } from "../core/model/entry.ts";
import { SESSION_STATUSES, type Summary } from "../core/model/summary.ts";
import { TOOL_KINDS, type ToolView } from "../core/model/tool-view.ts";
import {
  anyObject,
  boolean,
  choice,
  constant,
  count,
  describeSchema,
  isComplete,
  list,
  matching,
  nextPage,
  number,
  object,
  offset,
  orNull,
  partly,
  ref,
  type Schema,
  string,
  type TypeOfSchema,
  time,
} from "./schema.ts";

/** `machine` and `user` as the sender says; `folder` and `tokens` as the server knows. */
export interface SessionSender {
  readonly machine: string;
  readonly user: string;
  readonly folder: string;
  readonly tokens: readonly string[];
}
const SENDER: Schema<SessionSender> = object({
  machine: describeSchema(string, "As the sender says, like `user`"),
  user: string,
  folder: describeSchema(string, "Where it was sent to, as the server knows"),
  tokens: describeSchema(list(string), "The names of the tokens that may send there now"),
});

const SUMMARY = {
  /** The id for all other calls. */
  id: matching("^[0-9a-f]{16}\\.[\\w-]+$", "What URLs call the session"),
  session: describeSchema(string, "The session's own id"),
  dialect: describeSchema(string, "The on-disk layout"),
  root: describeSchema(string, "The store's directory on the server"),
  program: describeSchema(
    orNull(string),
    "The program that keeps it: Claude Code; null for our own",
  ),
  sender: describeSchema(
    orNull<SessionSender>(SENDER),
    "Who sent it to this server; null: it was not sent",
  ),
  title: describeSchema(orNull(string), "The user's, else its own, else the first thing said"),
  recordedTitle: describeSchema(orNull(string), "The same without the user's title"),
  starred: describeSchema(boolean, "The user's star"),
  project: describeSchema(orNull(string), "`repository`, or else `directory`"),
  repository: describeSchema(orNull(string), "owner/name of the git remote, where known"),
  directory: describeSchema(orNull(string), "The directory that the agent worked in"),
  branch: describeSchema(orNull(string), "The branch that it worked on"),
  agent: orNull(string),
  agentLabel: describeSchema(string, "The agent as people call it: Claude Code"),
  model: orNull(string),
  status: choice([...SESSION_STATUSES, null]),
  turns: count,
  inputTokens: orNull(number),
  outputTokens: orNull(number),
  totalTokens: orNull(number),
  spend: describeSchema(orNull(number), "US dollars, as recorded"),
  cost: describeSchema(
    orNull(number),
    "US dollars: what agents recorded, else by the prices of its models; with its subagents",
  ),
  linesAdded: describeSchema(
    orNull(number),
    "By edits that were recognised; null if there was none",
  ),
  linesRemoved: orNull(number),
  createdAt: orNull(string),
  updatedAt: orNull(string),
  durationMs: describeSchema(orNull(number), "From the first time in it to the last"),
  parent: describeSchema(
    orNull(string),
    "The session that began this one: its own id, in the same store",
  ),
  erased: describeSchema(
    orNull(object({ at: orNull(string), reason: string })),
    "The last erasure that the session states: text that was in it is gone; null if none",
  ),
  tags: describeSchema(
    list(string),
    "The user's, then its own: what its creator said about it, as are user and metadata",
  ),
  user: orNull(string),
  metadata: orNull(anyObject),
  lines: count,
  badLines: count,
  bytes: count,
  modifiedAt: time,
  isLive: describeSchema(boolean, "A writer is at work: it holds the lock, or the file is growing"),
  verdict: describeSchema(
    orNull(string),
    "What verifying it said; null: not verified as it is now",
  ),
  isCurrent: describeSchema(
    boolean,
    "False while a long session grows: the summary is of an earlier moment",
  ),
  isMissing: describeSchema(
    boolean,
    "Its head is pinned and its log is gone: its verdict is rollback",
  ),
  isKept: describeSchema(boolean, "Its program has deleted it; this is the guard's copy"),
  deletedAt: describeSchema(orNull(string), "When the guard noticed that; null if it did not yet"),
  fullerGeneration: describeSchema(
    orNull(count),
    "An older generation, kept by the guard, that holds more than the newest",
  ),
};

const ENDS = {
  end: offset,
  /** Bytes after the end: left by a crash, or being written. */
  tornBytes: count,
  unfinishedBytes: count,
};

export const SESSION = object(SUMMARY);
export const SESSION_HEAD = object({
  ...SUMMARY,
  ...ENDS,
  resumeCommand: describeSchema(
    orNull(string),
    "What continues it in its program, in its directory, for a shell; null if nothing does",
  ),
  hooks: describeSchema(
    orNull(string),
    "What URLs call the record of its hooks, which the list leaves out; null if there is none",
  ),
});

/** A session in the list. */
export interface SessionItem extends Summary, TypeOfSchema<typeof SESSION> {}
export interface SessionHead extends Summary, TypeOfSchema<typeof SESSION_HEAD> {}

/** Sessions with one value, among those that the other filters leave. */
export interface Facet {
  readonly value: string;
  readonly sessions: number;
  readonly cost: number | null;
}
const FACET: Schema<Facet> = object({
  value: describeSchema(string, "What the filter takes"),
  sessions: count,
  cost: describeSchema(orNull(number), "US dollars, where known"),
});
export interface SessionFacets {
  readonly agents: readonly Facet[];
  readonly projects: readonly Facet[];
  readonly models: readonly Facet[];
  readonly verdicts: readonly Facet[];
  /** Of sessions that other machines sent. */
  readonly machines: readonly Facet[];
  readonly users: readonly Facet[];
  readonly tags: readonly Facet[];
  /** At most one, `true`. */
  readonly starred: readonly Facet[];
}
const FACETS: Schema<SessionFacets> = object({
  agents: list(FACET),
  projects: list(FACET),
  models: list(FACET),
  verdicts: list(FACET),
  machines: list(FACET),
  users: list(FACET),
  tags: list(FACET),
  starred: list(FACET),
});

/** Where an agent would keep its sessions. */
export interface LookedIn {
  readonly label: string;
  readonly roots: readonly string[];
}
const LOOKED_IN: Schema<LookedIn> = object({ label: string, roots: list(string) });
export const SESSION_PAGE = object({
  sessions: list(ref<SessionItem>("Session")),
  facets: describeSchema(orNull(FACETS), "Only if asked for, on the first page"),
  lookedIn: describeSchema(
    list(LOOKED_IN),
    "Only if asked for facets: where agents would keep sessions",
  ),
  next: nextPage,
  isComplete: isComplete("are not listed"),
  unreadable: describeSchema(count, "Sessions that are there, cannot be read, and are not listed"),
});
export interface SessionPage extends TypeOfSchema<typeof SESSION_PAGE> {}

export const ENTRY_KIND = choice(["start", "message", "turn_start", "turn_end", "end", "other"]);
export const ROLE = choice(["system", "user", "assistant", "tool", null]);

const MESSAGE_PARTS = ["text", "reasoning", "image", "file"] as const;
const PART_TYPES = [...MESSAGE_PARTS, "tool_call", "tool_result", "child", "other"] as const;

export const PART: Schema<Part> = {
  type: "object",
  properties: {
    type: choice(PART_TYPES),
  },
  required: ["type"],
  description: `${PART_TYPES.join(", ")}: each with its own fields`,
};

export const USAGE = partly(
  {
    inputTokens: orNull(number),
    outputTokens: orNull(number),
    totalTokens: orNull(number),
    spend: orNull(number),
    cacheWriteTokens: number,
    cacheReadTokens: number,
  },
  ["inputTokens", "outputTokens", "totalTokens", "spend"],
);

export const NEUTRAL_ENTRY = partly(
  {
    kind: ref("EntryKind", ENTRY_KIND),
    at: orNull(string),
    role: ref("Role", ROLE),
    saidBy: choice(["program", "agent", "summary"]),
    parts: list(ref("Part", PART)),
    model: orNull(string),
    messageId: string,
    stopReason: string,
    isPartial: constant(true),
    usage: orNull(ref("Usage", USAGE)),
    outcome: choice(["completed", "error", null]),
    error: orNull(object({ code: string, detail: string })),
    metadata: describeSchema(anyObject, "What the recording program adds to the entry"),
    native: {
      type: "object",
      description: "The line as it was parsed; left out by native=false",
    },
  } satisfies Record<keyof Entry, Schema>,
  ["kind", "at", "role", "parts", "model", "usage", "outcome", "error"],
);

export const TOOL_VIEW: Schema<ToolView> = object({
  kind: describeSchema(choice(TOOL_KINDS), "What the tool does, whatever its agent calls it"),
  verb: describeSchema(string, "`$`, `Read`; the tool's own name if it is not known"),
  subject: describeSchema(orNull(string), "The command, pattern, address or task, on one line"),
  path: describeSchema(orNull(string), "The file or directory, as the call names it"),
  lines: describeSchema(orNull(list(orNull(count))), "The first and the last line that it reads"),
}) as Schema<ToolView>;

export const RESULT_VIEW = object({
  callId: string,
  diff: describeSchema(orNull(string), "What the call changed, as the agent recorded it: hunks"),
  textAt: describeSchema(count, "Where the text of a file begins in the output"),
});
/** What an agent recorded about a tool's result, besides what its model got. */
export interface ResultView extends TypeOfSchema<typeof RESULT_VIEW> {}

export const ENTRY = object({
  start: offset,
  end: describeSchema(offset, "The offset after the line: where to go on"),
  bytes: describeSchema(count, "The line's length, its LF included"),
  kind: ref("EntryKind", ENTRY_KIND),
  role: ref("Role", ROLE),
  at: orNull(string),
  fault: describeSchema(orNull(string), "Why the line is no entry; then `entry` is null"),
  aside: describeSchema(
    choice([...ASIDES, null]),
    "Why it is not part of the conversation: `other_agent` for rows of a subagent",
  ),
  tools: describeSchema(list(ref<ToolView>("ToolView")), "Its tool calls, in order, for people"),
  results: describeSchema(
    list(ref<ResultView>("ResultView")),
    "What its line says about results of calls, in this entry or another",
  ),
  /** Without `native` if requested so. */
  entry: orNull(
    ref<Omit<Entry, "native"> & Partial<Pick<Entry, "native">>>("NeutralEntry", NEUTRAL_ENTRY),
  ),
});
/** A line of a session: its entry, or why it is not one. */
export interface EntryItem extends TypeOfSchema<typeof ENTRY> {}

export const ENTRY_PAGE = object({
  entries: list(ref<EntryItem>("Entry")),
  /** Where the page begins, and where the next one does. */
  from: offset,
  next: offset,
  isAtStart: boolean,
  isAtEnd: boolean,
  ...ENDS,
});
export interface EntryPage extends TypeOfSchema<typeof ENTRY_PAGE> {}

export const WHEREABOUTS = object({
  state: describeSchema(
    choice(["here", "kept", "moved", "gone"]),
    "In its place; only in the guard's copies; in another store of its program; nowhere",
  ),
  id: describeSchema(orNull(string), "What URLs call it now; null if it is gone"),
  program: orNull(string),
  deletedAt: describeSchema(orNull(string), "When the guard noticed that its program deleted it"),
  isPinned: describeSchema(
    boolean,
    "Its log is gone, and its head is pinned: its verdict is rollback",
  ),
});
/** Where a session is that was deleted or moved. */
export interface Whereabouts extends TypeOfSchema<typeof WHEREABOUTS> {}

export interface SessionBytes {
  readonly bytes: Uint8Array;
  readonly from: number;
  readonly to: number;
  readonly end: number;
}

export const CHECKPOINT = object({
  line: describeSchema(string, "The checkpoint's line without its LF"),
  start: offset,
  end: offset,
  seq: count,
  kind: choice(["genesis", "recovery", "rotate", "link", "turn", "batch", "final"]),
  keyId: string,
  /** The bytes of the log that its `hash` is over. */
  covers: object({ from: constant(0), to: offset }),
});
export interface CheckpointItem extends TypeOfSchema<typeof CHECKPOINT> {}

export const CHECKPOINT_KEY = object({
  keyId: describeSchema(string, "SHA-256 of the key: anybody can hold one against the other"),
  publicKey: describeSchema(
    orNull(string),
    "32 bytes of Ed25519 in base64url; null when this server does not hold it",
  ),
  owner: orNull(string),
  refusal: describeSchema(
    orNull(string),
    "Why the user who runs the server does not trust it; null when they do",
  ),
});
/** A key that signed, as known to the server's user. */
export interface CheckpointKey extends TypeOfSchema<typeof CHECKPOINT_KEY> {}

export const CHECKPOINT_PAGE = object({
  from: count,
  to: count,
  ...ENDS,
  place: choice(["log", "sidecar"]),
  genesis: orNull(ref<CheckpointItem>("Checkpoint")),
  checkpoints: list(ref<CheckpointItem>("Checkpoint")),
  foreignLines: describeSchema(count, "Lines of the sidecar that are no checkpoints"),
  newerLines: describeSchema(count, "Lines of the sidecar that are of a newer version"),
  keys: list(ref<CheckpointKey>("CheckpointKey")),
  isCovered: describeSchema(boolean, "The last checkpoint covers the whole stretch"),
  isComplete: describeSchema(boolean, "Everything that could cover it was looked at"),
});
export interface CheckpointPage extends TypeOfSchema<typeof CHECKPOINT_PAGE> {}

/** The common part of a report; docs/formats/checkpoint.md has the rest. */
export interface SessionVerdict {
  readonly schema: "verbatim.verify/1";
  readonly verdict: string;
  readonly session: string | null;
  readonly deep: boolean;
  /** Erasures that signed lines state: text that was in the session is gone. */
  readonly erasures?: readonly { readonly at: string | null; readonly reason: string }[];
  readonly findings: readonly {
    readonly code: string;
    /** The verdict that this finding alone leads to; null for none. */
    readonly verdict: string | null;
    readonly message: string;
  }[];
  readonly [more: string]: unknown;
}

export const SESSION_USAGE = object({
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
});
export interface SessionUsage extends TypeOfSchema<typeof SESSION_USAGE> {}
