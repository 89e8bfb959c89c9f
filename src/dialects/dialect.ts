/**
 * Dialect: the interface of an on-disk layout.
 *
 *   id <-> path     path of a session's log below the store's root
 *   line -> entry   meaning of a line
 *   entry -> lines  how an entry is written, and what the writer adds to each line
 *   files           derived files next to the log, loaded when they are needed
 *
 * All but `files`, `inbox` and `hostFor` is pure: no files, no clock, no randomness. `registry.ts` lists
 * the dialects. `reader.ts` makes a read-only one from its layout and its decoder.
 */

import type { Host } from "../core/base/host.ts";
import type { Durability } from "../core/log/log-options.ts";
import type { Aside, Entry, Native, NewEntry, Usage } from "../core/model/entry.ts";
import type { TurnMark } from "../core/model/turns.ts";
import type { CheckpointOpening } from "../trust/signer/counted-turns.ts";
import type { AgentProgram, SessionDetails } from "./agent-program.ts";
import type { DialectFiles } from "./dialect-files.ts";
import type { Layout } from "./find.ts";
import type { Recording } from "./recording.ts";
import type { ResultView } from "./result-view.ts";
import type { StoreChoices } from "./store-choices.ts";
import type { Subagents } from "./subagents.ts";
import type { ToolTable } from "./tool-table.ts";

export type { Native };

/** What the writer knows when it makes a line. */
export interface WriterFacts {
  /** The session's id. */
  readonly id: string;
  /** Milliseconds since 1970. */
  readonly nowMs: number;
  /** The agent, if the entry names none: rye's directive. Null if unknown. */
  readonly agent: string | null;
  /** A fresh random id, for dialects whose lines carry one. */
  readonly newId: () => string;
  /** Working directory of the agent: the store's root. */
  readonly cwd: string;
  /** Version of the recording program. */
  readonly version: string;
  /** The model, if the entry names none. Null if unknown. */
  readonly model: string | null;
}

export type Understood =
  | { readonly entry: Entry; readonly fault: null }
  /** The line is JSON, but not a line of this dialect; `fault` is a short reason. */
  | { readonly entry: null; readonly fault: string };

/** How each line refers to the line before it. */
export interface LineChain {
  /** The id by which the next line refers to this one; null if a line has none. */
  idOf(value: unknown): string | null;
  /** Adds to a completed line the id of the previous one; null for the first line. */
  link(native: Native, previous: string | null): Native;
}

/** Which lines are written to a log only once, even if they are appended again. */
export interface Once {
  /** The id that detects a duplicate; null: the line is written each time. */
  idOf(value: unknown): string | null;
  /** Whether this line resets the known ids. */
  forgets(value: unknown): boolean;
}

/** How a line takes back earlier ones. */
export interface TakingBack {
  /** Whether a later line can take this one back. */
  says(native: Native): boolean;
  /** How many earlier lines that still count it takes back; null: it is not such a line. */
  takesBack(native: Native): number | null;
  /** The id that later lines name; null: none. Absent if lines are taken back by number alone. */
  idOf?(native: Native): string | null;
  /** The id of the first line that it takes back, if that still counts: all from there. */
  backTo?(native: Native): string | null;
  /**
   * The prompt, if a line begins a turn; null: none. Lines next to each other with the same prompt
   * begin one turn. `takesBack` then counts turns.
   */
  turnOf?(native: Native): string | null;
}

/** Which line each line continues. The last line and those it leads back to are the conversation. */
export interface Branching {
  /** The line's id; null: it is on no branch, and is never taken back. */
  idOf(native: Native): string | null;
  /** The id of the line that it continues; null: none. Undefined or unknown: the line before. */
  parentOf(native: Native): string | null | undefined;
}

/** Meaning that depends on earlier lines. */
export interface LineMemory {
  /** The entry of the next line, adjusted by the lines before it. */
  read<Read extends Entry>(entry: Read): Read;
  /** What each model used, of an end that was read; null if that is unknown. */
  modelsOf?(entry: Entry): ReadonlyMap<string, Usage> | null;
  /** The memory as JSON; pass it to `remembers` to continue. */
  state(): unknown;
}

/** How a program summarises a conversation and continues from the summary. */
export interface Compaction {
  /** Whether a line is the summary that replaces the lines before it. */
  isSummary(native: Native): boolean;
  /** Whether a line announces that a summary follows, or is the summary that says what it keeps. */
  isBoundary(native: Native): boolean;
  /** Lines before a boundary that still count next to the summary. */
  keptBy(boundary: Native, before: readonly Native[]): ReadonlySet<Native>;
}

/** Functions that the store lends to a dialect, which has no I/O of its own. */
export interface SpillTools {
  /** The bytes of a value as a line of the log, without LF. */
  readonly encode: (value: unknown) => Uint8Array;
  /** In lowercase hex. */
  readonly sha256: (bytes: Uint8Array) => string;
}

/** A file next to the log with content too long for a line. */
export interface SpillFile {
  readonly name: string;
  readonly bytes: Uint8Array;
}

/** A line's reference to a spill file. */
export interface SpillReference {
  /** File name, in the log's directory. */
  readonly path: string;
  readonly bytes: number;
  readonly sha256: string;
}

/** How overlong lines are stored: their longest strings go into separate files. */
export interface Spilling {
  /** The longest line that is written without spilling. */
  readonly lineBytesMax: number;
  /** The raw bytes of every line with a reference contain this text. */
  readonly mark: string;
  /** Splits a longer completed line; throws INVALID_ENTRY if it cannot. */
  split(native: Native, tools: SpillTools): { native: Native; files: readonly SpillFile[] };
  /** Files that a line refers to; empty for nearly every line. */
  referencesOf(value: unknown): readonly SpillReference[];
  /** The original line, rebuilt from its files; null if the contents do not match. */
  restore(native: Native, contents: readonly Uint8Array[]): Native | null;
}

/** How a signed log stores its checkpoints, and where its turns end. */
export interface DialectSigning {
  /** Checkpoints are in a sidecar file, because readers of the log would take them for entries. */
  readonly isSidecar?: true;
  /**
   * The role of a line in the session's turns (model/turns.ts). `aside` is what `listedAside` said
   * of it, if that is known.
   */
  turnMark(native: Native, id: string | null, aside?: Aside | null): TurnMark;
  /** `previous` is the id of the line before (see LineChain), `native` the entry before. */
  opening(
    facts: WriterFacts,
    after: { readonly previous: string | null; readonly native: Native | null },
  ): CheckpointOpening;
}

/** How new sessions get their ids. */
export interface NewIds {
  /** The id of a new session. `agent` is null if unknown. */
  make(agent: string | null, nowMs: number, uuid: string): string;
  /** Ids have a resolution of one second: if an id is taken, the next second is tried. */
  readonly isOfSecond?: true;
  /** A session is claimed by creating its directory, not its log. */
  readonly claimsDirectory?: true;
}

/** Appends lines to a session; resolves when they have the requested durability. */
export type AppendWaiting = (
  id: string,
  lines: readonly Native[],
  how: { readonly sign: false | "turn" | "append"; readonly durability: Durability },
) => Promise<void>;

/** Recorded lines in a directory of a store that wait to be moved into their sessions. */
export interface Inbox {
  /** Whether any may be waiting. Called before each read, so it must be cheap. */
  mayWait(root: string): boolean;
  /** How many wait for each session. */
  waiting(root: string): ReadonlyMap<string, number>;
  /**
   * Moves them into their sessions, in order; returns how many still wait, and why. Never throws.
   */
  drain(
    root: string,
    append: AppendWaiting,
  ): Promise<{ readonly waiting: number; readonly cause: unknown }>;
  directory(root: string): string;
  /** The warning that `count` lines still wait. */
  warning(root: string, count: number, cause: unknown): string;
}

export interface DocumentOptions {
  readonly thinking: boolean;
  readonly toolDetails: boolean;
  readonly assistantMetadata: boolean;
}

export interface Dialect<Name extends string = string> {
  readonly name: Name;
  /** A store reads these sessions and never writes to them. */
  readonly isReadOnly?: true;
  /** Lines may be any JSON: a log without messages is not evidence of another program's file. */
  readonly holdsAnything?: true;
  /** Where logs are, below the root. */
  readonly layout: Layout;
  /** The host that a store of this dialect uses. Absent: the given one. */
  readonly hostFor?: (host: Host, root: string) => Host;
  /** The agent's tools, for labels of calls. Absent: any agent's, by their well-known names. */
  readonly tools?: ToolTable;
  /** What a line says about results of tool calls, for readers. Absent if lines say no more. */
  resultViews?(native: Native): readonly ResultView[];
  /** Which calls started which agents. Absent: only `child` parts of entries say that. */
  readonly subagents?: Subagents;
  /** The program whose history this is. Absent: sessions are written by users of this package. */
  readonly program?: AgentProgram;
  /** The session's id in its program; `id` is longer, because it names a path. Absent: `id`. */
  nameOf?(id: string): string;
  /** What a line says about the whole session. Absent if lines say nothing. */
  about?(native: Native, id: string): SessionDetails | null;
  /** Absent for read-only dialects. */
  readonly newIds?: NewIds;
  /** The agent in a session's id. Absent if ids do not contain it. */
  agentOf?(id: string): string | null;
  /** The agent that a line names. Absent if lines name none. */
  agentSaidIn?(native: Native): string | null;
  /** The dialect configured with a store's options. Absent: options change no line or path. */
  withOptions?(options: StoreChoices): Dialect;
  /** The same for an existing session, by its first line. */
  adopt?(first: unknown, options: StoreChoices): Dialect;
  /** The project that pinned heads name; null: none. Absent: the root. */
  projectOf?(root: string, options: StoreChoices): string | null;
  /** The id of a fork, if it must be near its parent. Absent: any new id. */
  forkId?(parent: string, uuid: string): string | undefined;
  /** The first line of a fork, which names its parent, and the lines after it. */
  forkStart?(
    parent: string,
    natives: readonly Native[],
  ): { readonly start: Native; readonly rest: readonly Native[] };
  /** The first line of a session that another one started. Absent if lines do not name it. */
  childStart?(parent: string): Native;
  /** A message may become several lines with the same message id. */
  readonly splitsMessages?: true;
  /** The agent is one path segment, so it has no slash. */
  readonly agentIsSegment?: true;
  /** A session begins with an entry of kind `start`. */
  readonly hasStart?: true;
  /**
   * Renders a line, given its value and its bytes, as the dialect's own Markdown. Absent: sessions
   * are rendered entry by entry.
   */
  document?(
    value: unknown,
    options: DocumentOptions,
    line: Uint8Array,
  ):
    | { readonly text: string; readonly fault: null }
    | { readonly text: null; readonly fault: string };
  /** Absent if `verbatim record` needs nothing special. */
  readonly recording?: Recording;
  /** The small signed file that goes into bundles (`signedFile` of its files). */
  readonly signedFileName?: string;
  /** A file of the session has its status until it ends (`standingOf` of its files). */
  readonly hasStanding?: true;
  /** Absent if lines go directly into logs. */
  readonly inbox?: Inbox;
  /**
   * The session of a program whose hooks this session has; its name is the program's. The program's
   * own file says more. Null if it has no hooks. Absent if no session has.
   */
  hooksOf?(id: string): { readonly dialect: string; readonly name: string } | null;
  /** The inverse: the id of the session with the hooks of a program's session; null if none has. */
  hooksIdOf?(dialect: string, name: string): string | null;
  /** Files besides logs, loaded when needed. Absent if there are none. */
  readonly files?: () => Promise<DialectFiles>;
  readonly signing: DialectSigning;
  /** The log's path below the root, in segments; throws BAD_ID. */
  logPath(id: string): readonly string[];
  /** The id of the session whose log is at this path; null if it is not a log's path. */
  idAt(path: readonly string[]): string | null;
  decode(value: unknown): Understood;
  /**
   * Whether a line certainly belongs to this dialect, for format detection. Absent: whatever
   * `decode` accepts.
   */
  isOwn?(value: unknown): boolean;
  /** Whether a line is another program's that this dialect reads, too. Absent if it reads none. */
  readsToo?(value: unknown): boolean;
  /** The session id that a line contains; null if none. Absent if lines never contain one. */
  sessionOf?(value: unknown): string | null;
  /** Maps a neutral entry to one or more lines of the dialect, before `complete`. */
  express(entry: NewEntry, facts: WriterFacts): readonly Native[];
  /** Validates a caller's line and adds the writer's fields; throws INVALID_ENTRY. */
  complete(native: Native, facts: WriterFacts): Native;
  /**
   * Why a line is not part of the conversation; null if it is. Absent if all lines are.
   * `isSubagents`: the log is known to be a subagent's own, whatever its id says.
   */
  asideOf?(native: Native, id: string | null, isSubagents?: boolean): Aside | null;
  /**
   * Whether no model saw a line that is neither a message nor a checkpoint. Absent if that is so
   * for all of them.
   */
  isSilent?(native: Native): boolean;
  /**
   * Whether a program wrote a message in the user's name: part of the conversation, but not the
   * user's words. Absent if no program does.
   */
  isProgramsPrompt?(native: Native): boolean;
  /** Absent if each line is self-contained. */
  remembers?(state?: unknown): LineMemory;
  /** Absent if no program summarises conversations. */
  readonly compaction?: Compaction;
  /** Absent if lines are never taken back. */
  readonly takingBack?: TakingBack;
  /** Absent if each line continues the one before it. */
  readonly branching?: Branching;
  /**
   * The lines before `next` as they count when `next` is cut off. Absent if no line depends on
   * lines that were written together with it.
   */
  cutBefore?(natives: readonly Native[], next: Native): Native[];
  /** Absent if lines do not refer to each other. */
  readonly chain?: LineChain;
  /** Absent if duplicates are written again. */
  readonly once?: Once;
  /** Absent if a line may be as long as the log allows. */
  readonly spilling?: Spilling;
}

/**
 * Whether a line is the user's or the model's own, for listings and counts.
 *
 * Why a line is neither the user's message nor the answer to it; null if it is. Excludes more than
 * `asideOf`: a program's message in the user's name is part of the conversation, but excluded here.
 */
export function listedAside(
  dialect: Pick<Dialect, "asideOf" | "isProgramsPrompt">,
  native: Native,
  id: string | null,
): Aside | null {
  const aside = dialect.asideOf?.(native, id) ?? null;
  return aside === null && dialect.isProgramsPrompt?.(native) ? "program" : aside;
}
