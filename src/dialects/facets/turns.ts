/**
 * Turns: the facet that says where the turns of a session begin, which of its lines still count, and
 * how checkpoints are stored between them.
 */

import type { Aside, Native } from "../../core/model/entry.ts";
import type { TurnMark } from "../../core/model/turns.ts";
import type { CheckpointOpening } from "../../trust/signer/counted-turns.ts";
import type { WriterFacts } from "./writing.ts";

export interface TurnRules {
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
