/**
 * Writing: the facet of a dialect that stores can append to. Pure, but for the session that
 * `recording` looks for.
 */

import type { Host } from "../../core/base/host.ts";
import type { Native, NewEntry, SessionLabels } from "../../core/model/entry.ts";

export interface Writing {
  readonly newIds: NewIds;
  /** Maps a neutral entry to one or more lines of the dialect, before `complete`. */
  express(entry: NewEntry, facts: WriterFacts): readonly Native[];
  /** Validates a caller's line and adds the writer's fields; throws INVALID_ENTRY. */
  complete(native: Native, facts: WriterFacts): Native;
  /** The id of a fork, if it must be near its parent. Absent: any new id. */
  forkId?(parent: string, uuid: string): string | undefined;
  /** The first line of a fork, which names its parent, and the lines after it. */
  forkStart?(
    parent: string,
    natives: readonly Native[],
  ): { readonly start: Native; readonly rest: readonly Native[] };
  /** The first line of a session of which something is known. Absent if lines say nothing of it. */
  readonly start?: {
    readonly says: readonly (keyof SessionStart)[];
    line(start: SessionStart): Native;
  };
  /** Entries may have metadata. */
  readonly hasMetadata?: true;
  /** A message may become several lines with the same message id. */
  readonly splitsMessages?: true;
  /** The agent is one path segment, so it has no slash. */
  readonly agentIsSegment?: true;
  /** A session begins with an entry of kind `start`. */
  readonly hasStart?: true;
  /** Absent if `verbatim record` needs nothing special. */
  readonly recording?: Recording;
  /** Absent if lines do not refer to each other. */
  readonly chain?: LineChain;
  /** Absent if duplicates are written again. */
  readonly once?: Once;
  /** Absent if a line may be as long as the log allows. */
  readonly spilling?: Spilling;
}

/** What is known of a session when it is created. */
export interface SessionStart extends SessionLabels {
  /** The id of the session that started it. */
  readonly parent?: string;
}

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

/** How new sessions get their ids. */
export interface NewIds {
  /** The id of a new session. `agent` is null if unknown. */
  make(agent: string | null, nowMs: number, uuid: string): string;
  /** Ids have a resolution of one second: if an id is taken, the next second is tried. */
  readonly isOfSecond?: true;
  /** A session is claimed by creating its directory, not its log. */
  readonly claimsDirectory?: true;
}

/** How each line refers to the line before it. */
export interface LineChain {
  /** The id by which the next line refers to this one; null if a line has none. */
  idOf(value: unknown): string | null;
  /** The field with the id of the previous line. */
  readonly parentField: string;
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

/** Functions that the store lends to a dialect, which has no I/O of its own. */
export interface SpillTools {
  /** The bytes of a value as a line of the log, without LF. */
  readonly encode: (value: unknown) => Uint8Array;
  /** In lowercase hex. */
  readonly sha256: (bytes: Uint8Array) => string;
  /** A fresh random id of letters, digits and dashes. */
  readonly newId: () => string;
}

/** A file next to the log with content too long for a line. */
export interface SpillFile {
  readonly name: string;
  readonly bytes: Uint8Array;
}

/** A line's reference to a spill file. */
export interface SpillReference {
  /** As the line states it. */
  readonly path: string;
  /** File name, in the log's directory. */
  readonly name: string;
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
  split(
    native: Native,
    logName: string,
    tools: SpillTools,
  ): { native: Native; files: readonly SpillFile[] };
  /** Files that a line of that log refers to; empty for nearly every line. */
  referencesOf(value: unknown, logName: string): readonly SpillReference[];
  /** Name of a file next to that log, from the path in a line. */
  fileName(path: string, logName: string): string;
  /** The log to which a file of this name belongs, if logs share a directory; else null. */
  logNameIn(name: string): string | null;
  /** The original line, rebuilt from its files; null if the contents do not match. */
  restore(native: Native, contents: readonly Uint8Array[]): Native | null;
}

/** Options of a store that only its dialect has. */
export type StoreChoices = Readonly<Record<string, unknown>>;

export interface RecordOption {
  /** As commander names its value: `agentVersion` for `--agent-version <version>`. */
  readonly name: string;
  readonly flags: string;
  readonly summary: string;
  readonly choices?: readonly string[];
}

/** Values by name, and `session`; `no` for a `--no-…` switch. */
export type RecordValues = Readonly<Record<string, string | undefined>>;

export type RecordedSession =
  | { readonly id: string; readonly agent?: string }
  | { readonly isNew: true; readonly agent?: string }
  /** What the user has to add, as one line. */
  | { readonly missing: string };

/** What a dialect adds to `verbatim record`: its own options, and which session to append to. */
export interface Recording {
  readonly options?: readonly RecordOption[];
  /** Maps the options to store options. */
  storeOptions?(given: RecordValues): StoreChoices;
  /** Absent: the session of that id, or a new one. */
  session?(
    given: RecordValues,
    store: { readonly host: Host; readonly root: string },
  ): Promise<RecordedSession>;
  /** The first line of a new session if the input does not begin with one. */
  readonly start?: Native;
}

/** For sessions of other programs: the user must give the id. */
export function requireSessionId(dialect: string, id: string): Recording {
  return {
    session: async ({ session }) =>
      session === undefined ? { missing: `${dialect} needs --session: ${id}` } : { id: session },
  };
}
