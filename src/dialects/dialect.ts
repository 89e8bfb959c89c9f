/**
 * Dialect: everything the product asks of an on-disk layout, as one object.
 *
 *   id <-> path     where a session's log lies below the store's root
 *   line -> entry   what a line means
 *   entry -> lines  how an entry is written, and what the writer adds to each line
 *   files           derived files next to the log, loaded when they are needed
 *
 * All but `files`, `inbox` and `hostFor` is pure: no files, no clock, no randomness. `all.ts` lists the
 * dialects. A dialect that is only read implements `name`, `isReadOnly`, `layout`, `signing`,
 * `logPath`, `idAt`, `decode`, `express` and `complete`.
 */

import type { OwnOptions } from "../base/choice.ts";
import type { Host } from "../base/host.ts";
import type { Layout } from "../catalog/find.ts";
import type { Durability } from "../log/log-options.ts";
import type { Aside, Entry, NewEntry } from "../model/entry.ts";
import type { TurnMark } from "../model/turns.ts";
import type { DialectFiles } from "./dialect-files.ts";
import type { Native, StoreChoices } from "./native.ts";
import type { Recording } from "./recording.ts";

export type { Native };

/** What the writer knows when a line is made. */
export interface WriterFacts {
  /** The session's id. */
  readonly id: string;
  /** Milliseconds since 1970. */
  readonly nowMs: number;
  /** Who is at work when the entry does not say: rye's directive. Null when nobody said. */
  readonly agent: string | null;
  /** A fresh random id, for dialects whose lines carry one. */
  readonly newId: () => string;
  /** Where the agent works: the store's root. */
  readonly cwd: string;
  /** Of the program that records. */
  readonly version: string;
  /** Who answers when the entry does not say. Null when nobody said. */
  readonly model: string | null;
}

export type Understood =
  | { readonly entry: Entry; readonly fault: null }
  /** The line is JSON, but no line of this dialect; the reason in a few words. */
  | { readonly entry: null; readonly fault: string };

/** How each line names the one before it. */
export interface Chain {
  /** By what the next line would name this one; null when a line has no name. */
  idOf(value: unknown): string | null;
  /** A completed line, after the one of that name; null for the first. */
  link(native: Native, previous: string | null): Native;
}

/** Which lines stand in a log once, however often they are given. */
export interface Once {
  /** By what a line is known again; null: it is written each time. */
  idOf(value: unknown): string | null;
  /** Whether after this line those before it count no more. */
  forgets(value: unknown): boolean;
}

/** How a line takes back what was said before it. */
export interface TakingBack {
  /** Whether a line says something that a later one can take back. */
  says(native: Native): boolean;
  /** How many of those before it that still count it takes back; null: it is no such line. */
  takesBack(native: Native): number | null;
}

/** What lines mean after those before them, where one line alone does not say it. */
export interface LineMemory {
  /** The entry of the next line, as it counts. */
  read<Read extends Entry>(entry: Read): Read;
  /** What is remembered, as JSON: `remembers` takes it to continue. */
  state(): unknown;
}

/** How a program sums up what was said, and goes on from there. */
export interface Compaction {
  /** Whether a line is the summary that takes the place of what stands before it. */
  isSummary(native: Native): boolean;
  /** Whether a line says that what stands before it is summed up next. */
  isBoundary(native: Native): boolean;
  /** Which of the lines before a boundary still count next to the summary. */
  keptBy(boundary: Native, before: readonly Native[]): ReadonlySet<Native>;
}

/** What the store lends a dialect, which touches nothing itself. */
export interface SpillTools {
  /** The bytes of a value as a line of the log, without LF. */
  readonly encode: (value: unknown) => Uint8Array;
  /** In lowercase hex. */
  readonly sha256: (bytes: Uint8Array) => string;
}

/** A file beside the log that holds what a line is too short for. */
export interface SpillFile {
  readonly name: string;
  readonly bytes: Uint8Array;
}

/** A line's word on such a file. */
export interface SpillReference {
  /** Its name, in the log's directory. */
  readonly path: string;
  readonly bytes: number;
  readonly sha256: string;
}

/** How lines over a length are kept: what is longest in them goes into files of its own. */
export interface Spilling {
  /** The longest line that is written whole. */
  readonly lineBytesMax: number;
  /** Splits a completed line that is longer; refuses with INVALID_ENTRY when it cannot. */
  split(native: Native, tools: SpillTools): { native: Native; files: readonly SpillFile[] };
  /** Which files a line refers to; none for nearly every line. */
  referencesOf(value: unknown): readonly SpillReference[];
  /** The line as it was given, when the files hold these bytes; null when they do not fit it. */
  restore(native: Native, contents: readonly Uint8Array[]): Native | null;
}

/** The beginning of a checkpoint's line, up to its body, and what the next line may call it. */
export interface CheckpointOpening {
  readonly text: string;
  readonly id: string | null;
}

/** How a signed log shows its checkpoints, and where its turns end. */
export interface Signing {
  /** Checkpoints lie beside the log, because its readers would take them for entries. */
  readonly isSidecar?: true;
  /** What a line of that session is to its turns (model/turns.ts). */
  turnMark(native: Native, id: string | null): TurnMark;
  /** `previous` names the line before (see Chain), `native` is the entry before. */
  opening(
    facts: WriterFacts,
    after: { readonly previous: string | null; readonly native: Native | null },
  ): CheckpointOpening;
}

/** How new sessions get their ids. */
export interface NewIds {
  /** The id of a session that begins now. `agent` is null where nobody said who is at work. */
  make(agent: string | null, nowMs: number, uuid: string): string;
  /** Ids name a second: a taken one is tried again with the next second. */
  readonly isOfSecond?: true;
  /** A session is claimed by making its directory, not its log. */
  readonly claimsDirectory?: true;
}

/** Appends lines to a session; resolves when they are as durable as was asked. */
export type AppendWaiting = (
  id: string,
  lines: readonly Native[],
  how: { readonly sign: false | "turn" | "append"; readonly durability: Durability },
) => Promise<void>;

/** Lines that were recorded and wait to be put into their sessions, in a directory of a store. */
export interface Inbox {
  /** Whether any may wait. Asked before each read, so it is cheap. */
  mayWait(root: string): boolean;
  /** How many wait for each session. */
  waiting(root: string): ReadonlyMap<string, number>;
  /** Moves them into their sessions, in order; says how many still wait, and why. Never throws. */
  drain(
    root: string,
    append: AppendWaiting,
  ): Promise<{ readonly waiting: number; readonly cause: unknown }>;
  directory(root: string): string;
  /** Says that so many still wait. */
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
  /** Lines may be anything: that none is a message is no sign of another program's file. */
  readonly holdsAnything?: true;
  /** Where logs lie below the root. */
  readonly layout: Layout;
  /** The root when none is given: a directory of the user's. Absent: the current directory. */
  readonly usersRoot?: () => string;
  /** The disk as a store of this dialect sees it. Absent: as it is. */
  readonly hostFor?: (host: Host, root: string) => Host;
  /** Absent where a store only reads. */
  readonly newIds?: NewIds;
  /** Who is at work, by a session's id. Absent where the id does not say. */
  agentOf?(id: string): string | null;
  /** Who is at work, by a line. Absent where lines do not say. */
  agentSaidIn?(native: Native): string | null;
  /** Options of `openStore` that only this dialect has. */
  readonly options?: OwnOptions<object>;
  /** The dialect as a store with these options writes it. Absent: options change no line or path. */
  withOptions?(options: StoreChoices): Dialect;
  /** The same for a session that is there, by its first line. */
  adopt?(first: unknown, options: StoreChoices): Dialect;
  /** The project that pinned heads name; null: none. Absent: the root. */
  projectOf?(root: string, options: StoreChoices): string | null;
  /** The id of a fork of that session, where it must lie near it. Absent: any new id. */
  forkId?(parent: string, uuid: string): string | undefined;
  /** The first line of a fork, which names its parent, and the lines that follow it. */
  forkStart?(
    parent: string,
    natives: readonly Native[],
  ): { readonly start: Native; readonly rest: readonly Native[] };
  /** A message may become several lines, which its id holds together. */
  readonly splitsMessages?: true;
  /** The agent is one segment of a path, so it has no slash. */
  readonly agentIsSegment?: true;
  /** A session begins with an entry of kind `start`. */
  readonly hasStart?: true;
  /** A line in the dialect's own Markdown. Absent: sessions are rendered entry by entry. */
  document?(
    value: unknown,
    options: DocumentOptions,
  ):
    | { readonly text: string; readonly fault: null }
    | { readonly text: null; readonly fault: string };
  /** Absent: `verbatim record` needs nothing of its own. */
  readonly recording?: Recording;
  /** The small signed file that goes into bundles (`signedFile` of its files). */
  readonly signedFileName?: string;
  /** A file of the session says its status while it has not ended (`standingOf` of its files). */
  readonly hasStanding?: true;
  /** Absent where lines go straight into logs. */
  readonly inbox?: Inbox;
  /** What it keeps in files besides logs. Loaded when needed; absent where there is nothing. */
  readonly files?: () => Promise<DialectFiles>;
  readonly signing: Signing;
  /** The log's path below the root, in segments; refuses a bad id with BAD_ID. */
  logPath(id: string): readonly string[];
  /** The id of the session whose log is at this path, or null when none can be. */
  idAt(path: readonly string[]): string | null;
  decode(value: unknown): Understood;
  /**
   * Whether a line is plainly one of this dialect, for telling whose file it is. Absent where that is
   * what `decode` takes.
   */
  isOwn?(value: unknown): boolean;
  /** Of which session a line says it is; null when it does not. Absent where no line does. */
  sessionOf?(value: unknown): string | null;
  /** Says a neutral entry in native words, as one or more lines before `complete`. */
  express(entry: NewEntry, facts: WriterFacts): readonly Native[];
  /** Judges what a caller gave and adds what the writer adds; refuses with INVALID_ENTRY. */
  complete(native: Native, facts: WriterFacts): Native;
  /**
   * Why a line of that session is no part of the conversation; null when it is. Absent where every
   * line is one. `isSubagents`: the log is known to be a subagent's own, whatever its id says.
   */
  asideOf?(native: Native, id: string | null, isSubagents?: boolean): Aside | null;
  /**
   * Whether no model saw what a line says that is no message and no checkpoint. Absent where that
   * holds for all of them.
   */
  isSilent?(native: Native): boolean;
  /**
   * Whether a program says it in the user's name: part of the conversation, and not what the user
   * said. Absent where none does.
   */
  isProgramsPrompt?(native: Native): boolean;
  /** Absent where each line says by itself what it means. */
  remembers?(state?: unknown): LineMemory;
  /** Absent where no program sums up what was said. */
  readonly compaction?: Compaction;
  /** Absent where what was said stays said. */
  readonly takingBack?: TakingBack;
  /**
   * Lines of a log up to `next`, which is left behind, as they count without it. Absent where none
   * counts only with those that were written together with it.
   */
  cutBefore?(natives: readonly Native[], next: Native): Native[];
  /** Absent where lines stand for themselves. */
  readonly chain?: Chain;
  /** Absent where what is given twice is written twice. */
  readonly once?: Once;
  /** Absent where a line may be as long as the log allows. */
  readonly spilling?: Spilling;
}
