/**
 * Reading: the facet that says what a line means. Pure: no files, no clock, no randomness.
 *
 * Result view: what an agent recorded about the result of a tool call, besides what its model got.
 * A dialect finds it in a row (`resultViews`); it is for people who read, never for a model.
 */

import type { Aside, Entry, Metadata, Native, Usage } from "../../core/model/entry.ts";
import type { ToolTable } from "../tool-table.ts";

export const DIFF_CHARS_MAX = 256 * 1024;

export interface Reading {
  decode(value: unknown): DecodedValue;
  /**
   * Whether a line certainly belongs to this dialect, for format detection. Absent: whatever
   * `decode` accepts.
   */
  isOwn?(value: unknown): boolean;
  /** Whether a line is another program's that this dialect reads, too. Absent if it reads none. */
  readsToo?(value: unknown): boolean;
  /** Lines may be any JSON: a log without messages is not evidence of another program's file. */
  readonly holdsAnything?: true;
  /** The session id that a line contains; null if none. Absent if lines never contain one. */
  sessionOf?(value: unknown): string | null;
  /** What a line says about the whole session. Absent if lines say nothing. */
  about?(native: Native, id: string): SessionDetails | null;
  /** The agent that a line names. Absent if lines name none. */
  agentSaidIn?(native: Native): string | null;
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
  /** The agent's tools, for labels of calls. Absent: any agent's, by their well-known names. */
  readonly tools?: ToolTable;
  /** What a line says about results of tool calls, for readers. Absent if lines say no more. */
  resultViews?(native: Native): readonly ResultView[];
  /** Which calls started which agents. Absent: only `child` parts of entries say that. */
  readonly subagents?: Subagents;
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
}

export type DecodedValue =
  | { readonly entry: Entry; readonly fault: null }
  /** The line is JSON, but not a line of this dialect; `fault` is a short reason. */
  | { readonly entry: null; readonly fault: string };

/** Meaning that depends on earlier lines. */
export interface LineMemory {
  /** The entry of the next line, adjusted by the lines before it. */
  read<Read extends Entry>(entry: Read): Read;
  /** What each model used, of an end that was read; null if that is unknown. */
  modelsOf?(entry: Entry): ReadonlyMap<string, Usage> | null;
  /** The memory as JSON; pass it to `remembers` to continue. */
  state(): unknown;
}

export interface DocumentOptions {
  readonly thinking: boolean;
  readonly toolDetails: boolean;
  readonly assistantMetadata: boolean;
}

/** What a line says about its session as a whole; absent fields are unknown. */
export interface SessionDetails {
  /** The directory that the agent worked in. */
  readonly cwd?: string;
  readonly branch?: string;
  /** The URL of its repository; only `owner/name` of it is kept. */
  readonly remote?: string;
  /** The program's own title of the session. */
  readonly title?: string;
  /** The title that the user chose: it replaces the program's own. */
  readonly chosenTitle?: string;
  /** A summary of what was said before this line: the title if there is no other. */
  readonly summary?: string;
  /** The id of the session that started this one. */
  readonly parent?: string;
  /** What its creator says about it. */
  readonly tags?: readonly string[];
  readonly user?: string;
  readonly metadata?: Metadata;
  /** When it began and last changed, where no line has a time. ISO 8601, UTC. */
  readonly createdAt?: string;
  readonly updatedAt?: string;
}

/** A call and the name of the session that it started, as in its program or in lists. */
export interface StartedSession {
  readonly callId: string;
  readonly name: string;
}

/** Fed the entries of a log in order. */
export interface SubagentRows {
  /** The call whose subagent wrote this row into the same log; null: it is not known to be one's. */
  callOf(entry: Entry): string | null;
}

/**
 * How a program's rows say which tool call started which agent. Programs keep what a subagent does in
 * a session of its own, or in the log of the session that started it.
 */
export interface Subagents {
  /** What a row says about sessions that calls started. Absent if rows do not name them. */
  startedIn?(entry: Entry): readonly StartedSession[];
  /** Absent if subagents have logs of their own. */
  rows?(): SubagentRows;
  /**
   * The ids of the logs of its own that a row's subagent may have: if there is one, the row in the
   * log of session `id` repeats a row of it. Absent if no row is a repeated one.
   */
  ownLogsOf?(native: Native, id: string): readonly string[];
}

/**
 * Whether a line is the user's or the model's own, for listings and counts.
 *
 * Why a line is neither the user's message nor the answer to it; null if it is. Excludes more than
 * `asideOf`: a program's message in the user's name is part of the conversation, but excluded here.
 */
export function listedAside(
  reading: Pick<Reading, "asideOf" | "isProgramsPrompt">,
  native: Native,
  id: string | null,
): Aside | null {
  const aside = reading.asideOf?.(native, id) ?? null;
  return aside === null && reading.isProgramsPrompt?.(native) ? "program" : aside;
}

export interface ResultView {
  readonly callId: string;
  /** What the call changed, as hunks of a unified diff with the numbers of their lines. */
  readonly diff: string | null;
  /** Where the text of a file begins in the output, after lines about the command. */
  readonly textAt: number;
}

/** None if there is no call, or no hunk with numbers, or it is too long to be looked at. */
export function diffViews(callId: unknown, diff: unknown): ResultView[] {
  if (typeof callId !== "string" || typeof diff !== "string" || callId === "") return [];
  const isHunks = diff.length <= DIFF_CHARS_MAX && /^@@ -\d{1,9}/m.test(diff);
  return isHunks ? [{ callId, diff, textAt: 0 }] : [];
}
