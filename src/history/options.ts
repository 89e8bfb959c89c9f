/** Options: what the methods of a history take, checked when they are called. */

import type { NoteOptions } from "../client/note-shapes.ts";
import {
  badOption,
  checkChoice,
  checkOptions,
  momentOf,
  type OptionKind,
} from "../core/base/choice.ts";
import { SESSION_STATUSES, type SessionStatus } from "../core/model/summary.ts";
import { SESSION_SORTS, type SessionSort } from "../dialects/session-row.ts";
import { type CheckpointProfile, LEGACY_PROFILE } from "../trust/proof/envelopes.ts";
import type { HistoryOptions } from "./places.ts";

/** What every method takes that may run for long. */
export interface Cancellable {
  /** Ends the work with the signal's reason; what was indexed until then is kept. */
  readonly signal?: AbortSignal;
}

/** Which sessions are meant. */
export interface SessionChoice extends Cancellable {
  /** As its users call the program, a dialect, or the name that the session gives its agent. */
  readonly agent?: string;
  /** Part of the name of one, a directory and all below it, or `=` and a session's `project`. */
  readonly project?: string;
  /** Part of the name of the last model. */
  readonly model?: string;
  /** Last changed then or later: `2026-11-15`, or a time in ISO 8601. */
  readonly since?: string;
  /** Last changed on that day or before it, or before that time. */
  readonly until?: string;
  /** Sent by this machine or this user to the server whose data directory is a root. */
  readonly machine?: string;
  readonly user?: string;
  /** With this tag: yours, or the session's own. */
  readonly tag?: string;
  /** True: only those that you starred. */
  readonly starred?: boolean;
}

export interface HistoryFilter extends SessionChoice {
  readonly status?: SessionStatus;
  /** Part of the title. */
  readonly title?: string;
  /** False: without sessions that another listed session started. Default: true. */
  readonly subagents?: boolean;
  /** Newest or largest first. Default: `updated`. */
  readonly sort?: SessionSort;
  readonly limit?: number;
  /** Sessions that are new or have changed are read first. */
  readonly onProgress?: (done: number, total: number) => void;
}

/** Here `since` and `until` are about entries. */
export interface HistorySearchOptions extends SessionChoice {
  readonly limit?: number;
  readonly onProgress?: (done: number, total: number) => void;
}

export const USAGE_GROUPINGS = [
  ...(["day", "week", "month", "session", "project", "model", "agent"] as const),
  ...(["machine", "user", "directive"] as const),
] as const;
export type UsageGrouping = (typeof USAGE_GROUPINGS)[number];

/** Here `model` is a response's, and `since` and `until` are its days, both included. */
export interface HistoryUsageOptions extends SessionChoice {
  /** Default: `day`. */
  readonly by?: UsageGrouping;
  /** Of the days, such as Europe/Berlin. Default: this process's. */
  readonly zone?: string;
  readonly onProgress?: (done: number, total: number) => void;
}

export interface HistoryScanOptions extends SessionChoice {
  /** Ids, beginnings of ids, or paths. Default: all. */
  readonly sessions?: readonly string[];
  /** Only finds of these rules. */
  readonly rules?: readonly string[];
  /** Patterns of your own: `NAME=REGEX`, or `NAME=/REGEX/i`. */
  readonly patterns?: readonly string[];
  /** Ignores what earlier scans found. */
  readonly rescan?: boolean;
  readonly onProgress?: (done: number, total: number) => void;
}

export interface HistoryVerifyOptions extends Cancellable {
  /** Ids, beginnings of ids, paths or directories of sessions. Default: all. */
  readonly sessions?: readonly string[];
  /** Checks every signature and line, also in files over 64 MiB. */
  readonly deep?: boolean;
  /** A session without a pinned head is `unpinned`. */
  readonly requirePin?: boolean;
  /** Pins the heads of verified sessions at the end. */
  readonly pin?: boolean;
  /** Also reads checkpoints of the Python original. */
  readonly profile?: CheckpointProfile;
  readonly onProgress?: (path: string, bytes: number, of: number) => void;
}

/** What to withhold; at least one of the first three. */
export interface Withheld {
  /** Every string or line with one of these texts, in any spelling. */
  readonly texts?: readonly string[];
  /** Entries, by the numbers of their lines in the log, from 1. */
  readonly entries?: readonly number[];
  /** What these rules of `scan` find; `all` for every rule. */
  readonly rules?: readonly string[];
  /** Why; readers see it. */
  readonly reason?: string;
}

export interface RedactOptions extends Withheld, Cancellable {
  readonly reason: string;
  /** The file to write, which must not exist: NAME.vbd. Absent: nothing is written. */
  readonly output?: string;
  /** Adds the text around what was withheld. */
  readonly masks?: boolean;
  /** Without any proof, of unsigned sessions too. */
  readonly plain?: boolean;
  /** One of the texts may be missing; otherwise CANNOT_DISCLOSE. */
  readonly allowMissing?: boolean;
}

export interface ProveOptions extends Cancellable {
  /** The lines to prove, by their numbers in the log, from 1. */
  readonly entries?: readonly number[];
  /** Lines to show before and after each. Default: 0. */
  readonly context?: number;
  /** Proves that the second checkpoint continues the first. */
  readonly consistency?: readonly [from: number, to: number];
}

export interface ShareOptions extends Withheld, Cancellable {
  /** The server's data directory. */
  readonly data: string;
  /** Within 366 days. */
  readonly expires: Date;
}

export interface GuardOptions extends Cancellable {
  /** Only the sessions of this agent. */
  readonly agent?: string;
  /** Signs the copies. */
  readonly sign?: boolean;
  /** Copies changes until the signal, which is then required. Default: looks once. */
  readonly follow?: boolean;
  /** What the guard's journal records: deleted, rewritten … */
  readonly onEvent?: (event: Readonly<Record<string, unknown>>) => void;
}

export interface DoctorOptions extends Cancellable {
  /** A session, by its id or path. Default: all, and the files of their stores. */
  readonly session?: string;
  /** Mends what can be mended, after a copy. */
  readonly fix?: boolean;
}

export interface RestoreOptions extends Cancellable {
  /** Writes it below this directory, as below the agent's own. Default: the agent's own. */
  readonly to?: string;
  /** Default: the newest. */
  readonly generation?: number;
  /** Of a file that its agent writes as a whole. */
  readonly version?: number;
  /** Renames a longer or different file that is there. */
  readonly force?: boolean;
}

export interface RemoveOptions extends Cancellable {
  /** For good, instead of to the trash. */
  readonly purge?: boolean;
  /** Why; the trash and the tombstone of a signed session have it. */
  readonly reason?: string;
  /** Revokes its shares; otherwise a shared session is refused. */
  readonly revokeShares?: boolean;
  /** Leaves sessions that began from it; otherwise it is refused if there are some. */
  readonly leaveForks?: boolean;
  /** Only refuses what it would refuse. */
  readonly dryRun?: boolean;
}

export interface HoldOptions extends Cancellable {
  /** Why; a refused removal says it. */
  readonly reason: string;
}

/** The type of an option's value, or all its values. */
type Kind = OptionKind | "texts" | "numbers" | "number" | "time" | "day" | readonly unknown[];

type Kinds<Options> = Readonly<Record<keyof Options, Kind>>;

const CANCELLABLE: Kinds<Cancellable> = { signal: "object" };
const CHOICE: Kinds<SessionChoice> = {
  ...CANCELLABLE,
  agent: "text",
  project: "text",
  model: "text",
  machine: "text",
  user: "text",
  since: "time",
  until: "time",
  tag: "text",
  starred: "boolean",
};
const WITHHELD: Kinds<Withheld> = {
  texts: "texts",
  entries: "numbers",
  rules: "texts",
  reason: "text",
};

export const SESSION_FILTER: Kinds<HistoryFilter> = {
  ...CHOICE,
  status: SESSION_STATUSES,
  title: "text",
  subagents: "boolean",
  sort: SESSION_SORTS,
  limit: "number",
  onProgress: "function",
};

export const SEARCH_OPTIONS: Kinds<HistorySearchOptions> = {
  ...CHOICE,
  limit: "number",
  onProgress: "function",
};

export const USAGE_OPTIONS: Kinds<HistoryUsageOptions> = {
  ...CHOICE,
  by: USAGE_GROUPINGS,
  since: "day",
  until: "day",
  zone: "text",
  onProgress: "function",
};

export const SCAN_OPTIONS: Kinds<HistoryScanOptions> = {
  ...CHOICE,
  sessions: "texts",
  rules: "texts",
  patterns: "texts",
  rescan: "boolean",
  onProgress: "function",
};

export const VERIFY_OPTIONS: Kinds<HistoryVerifyOptions> = {
  ...CANCELLABLE,
  sessions: "texts",
  deep: "boolean",
  requirePin: "boolean",
  pin: "boolean",
  profile: [LEGACY_PROFILE],
  onProgress: "function",
};

export const REDACT_OPTIONS: Kinds<RedactOptions> = {
  ...CANCELLABLE,
  ...WITHHELD,
  output: "text",
  masks: "boolean",
  plain: "boolean",
  allowMissing: "boolean",
};

export const PROVE_OPTIONS: Kinds<ProveOptions> = {
  ...CANCELLABLE,
  entries: "numbers",
  context: "number",
  consistency: "numbers",
};

export const SHARE_OPTIONS: Kinds<ShareOptions> = {
  ...CANCELLABLE,
  ...WITHHELD,
  data: "text",
  expires: "object",
};

export const GUARD_OPTIONS: Kinds<GuardOptions> = {
  ...CANCELLABLE,
  agent: "text",
  sign: "boolean",
  follow: "boolean",
  onEvent: "function",
};

export const DOCTOR_OPTIONS: Kinds<DoctorOptions> = {
  ...CANCELLABLE,
  session: "text",
  fix: "boolean",
};

export const RESTORE_OPTIONS: Kinds<RestoreOptions> = {
  ...CANCELLABLE,
  to: "text",
  generation: "number",
  version: "number",
  force: "boolean",
};

export const NOTE_OPTIONS: Kinds<NoteOptions> = { entry: "count" };

export const REMOVE_OPTIONS: Kinds<RemoveOptions> = {
  ...CANCELLABLE,
  purge: "boolean",
  reason: "text",
  revokeShares: "boolean",
  leaveForks: "boolean",
  dryRun: "boolean",
};

export const HOLD_OPTIONS: Kinds<HoldOptions> = { ...CANCELLABLE, reason: "text" };

export const HISTORY_OPTIONS: Kinds<HistoryOptions> = {
  roots: "texts",
  agents: "texts",
  cwd: "text",
  onWarning: "function",
};

/** Refuses with BAD_SETTING what a method does not take. `of` names it. */
export function checkCall<Options>(of: string, options: unknown, kinds: Kinds<Options>): void {
  const own = Object.entries<Kind>(kinds);
  const plain = own.map(([name, kind]): [string, OptionKind] => [name, plainKind(kind)]);
  checkOptions(of, options, Object.fromEntries(plain));
  for (const [name, kind] of own) {
    const value = (options as Readonly<Record<string, unknown>>)[name];
    if (value !== undefined) checkValue(name, value, kind);
  }
}

function plainKind(kind: Kind): OptionKind {
  const isPlain = typeof kind === "string" && !Object.hasOwn(OWN_KINDS, kind);
  return isPlain ? (kind as OptionKind) : "any";
}

const WHOLE = (value: unknown) => Number.isSafeInteger(value) && (value as number) >= 1;

const OWN_KINDS = {
  texts: [
    "a list of texts that are not empty",
    (value: unknown) => Array.isArray(value) && value.every((each) => isText(each)),
  ],
  numbers: [
    "a list of whole numbers from 1 on",
    (value: unknown) => Array.isArray(value) && value.every(WHOLE),
  ],
  number: ["a whole number from 1 on", WHOLE],
  time: [
    "a day such as 2026-11-15, or a time such as 2026-11-15T10:00:00Z",
    (value: unknown) => isText(value) && !Number.isNaN(timeOf(value)),
  ],
  day: [
    "a day such as 2026-11-15",
    (value: unknown) => isText(value) && value.length === 10 && !Number.isNaN(timeOf(value)),
  ],
} as const;

function checkValue(name: string, value: unknown, kind: Kind): void {
  if (typeof kind !== "string") checkChoice(name, value, kind);
  else if (name === "signal") checkSignal(value);
  else if (Object.hasOwn(OWN_KINDS, kind)) {
    const [wanted, isOne] = OWN_KINDS[kind as keyof typeof OWN_KINDS];
    if (!isOne(value)) throw badOption(name, `must be ${wanted}`);
  }
}

function checkSignal(signal: unknown): void {
  if (!(signal instanceof AbortSignal)) throw badOption("signal", "must be an AbortSignal");
}

function isText(value: unknown): value is string {
  return typeof value === "string" && value !== "";
}

/** Milliseconds since 1970 of a day or a time; NaN if it is neither. */
export function timeOf(text: string): number {
  const isTime = /^\d{4}-\d{2}-\d{2}(?:T[\d:.]+(?:Z|[+-]\d{2}:\d{2}))?$/.test(text);
  return isTime ? momentOf(text) : Number.NaN;
}

/** The first millisecond that `until` no longer means: a day is meant whole. */
export function endOf(until: string): number {
  return timeOf(until) + (until.length === 10 ? DAY_MS : 0);
}

const DAY_MS = 86_400_000;
