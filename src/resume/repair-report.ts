/**
 * Repair report: what happened to every entry of a resumed session.
 *
 * A public format: fields and reasons are added, never renamed. Page: docs/resume.md.
 *
 * Every entry that was read is among the lines of a message or of the system prompt, or an
 * action says that it was left out.
 *
 * - No text of the conversation is repeated here: only lines, offsets, ids and counts.
 */

import type { Policy } from "../trust/judge/policy.ts";
import type { SignedHead } from "../trust/proof/checkpoint.ts";

export type TargetName = "anthropic" | "openai-chat" | "openai-responses" | "ai-sdk";

/** Why the messages differ from the log. Codes are stable. */
export const REPAIR_REASONS = [
  // left out
  "silent",
  "not_understood",
  "bad_line",
  "sidechain",
  "synthetic",
  "taken_back",
  "compacted",
  "attachment",
  "child",
  "resume_report",
  "blank",
  "echo",
  "repeated_call",
  "duplicate_result",
  "thinking_unsigned",
  "thinking_empty",
  "thinking_unsendable",
  "thinking_foreign",
  "thinking_last",
  "thinking_not_first",
  "thinking_with_it",
  "thinking_not_taken",
  "compaction_foreign",
  "compaction_not_taken",
  "compaction_empty",
  "compaction_unsendable",
  "block_not_taken",
  "image_not_taken",
  // changed
  "escaped",
  "number_rounded",
  "call_renamed",
  "tool_renamed",
  "input_wrapped",
  "call_broken_off",
  "stray_result_as_text",
  "stray_output_as_text",
  "refusal_as_text",
  "system_as_user",
  // moved
  "result_regrouped",
  "calls_split",
  // added
  "uncertain_result",
  "not_started_result",
  "first_user_message",
  "last_user_message",
] as const;

export type RepairReason = (typeof REPAIR_REASONS)[number];

export interface RepairAction {
  readonly action: "left_out" | "changed" | "moved" | "added";
  readonly why: RepairReason;
  /** The entry's line, from 1; null for an addition without an entry. */
  readonly line: number | null;
  readonly offset: number | null;
  /** The number of lines, when there are several in a row. */
  readonly lines?: number;
  /** As in the log, its first 200 characters. */
  readonly callId?: string;
}

/** The lines that something was made from. */
export interface SourceLines {
  readonly lines: readonly number[];
  /** Some of it is neither signed nor vouched for. */
  readonly unverified?: true;
}

export interface RepairReport {
  readonly schema: "verbatim.resume/1";
  readonly session: string | null;
  readonly dialect: string;
  readonly for: TargetName;
  readonly verdict: string;
  readonly policy: Policy;
  /** The last turn used; null for the whole session. */
  readonly upTo: number | null;
  /** Null where nothing is signed. */
  readonly head: SignedHead | null;
  /** Entries and bad lines that were read. */
  readonly entries: number;
  /** Entries that are neither signed nor vouched for. */
  readonly unverified: number;
  readonly system: SourceLines | null;
  /** For each message, in order. */
  readonly messages: readonly SourceLines[];
  readonly actions: readonly RepairAction[];
}

/** An entry's position. */
export interface EntryLine {
  readonly line: number;
  readonly offset: number;
  readonly verified: boolean;
}

/** Reasons for which several lines in a row share one action. */
export const IN_ROWS: readonly RepairReason[] = ["silent", "not_understood"];

const CALL_ID_CHARS_MAX = 200;

/** The actions, in order. */
export class Repairs {
  readonly #actions: RepairAction[] = [];
  readonly #leftOut = new Set<number>();

  get actions(): readonly RepairAction[] {
    return this.#actions;
  }

  /** Whether the report already says that something of this line was left out. */
  hasLeftOut({ line }: EntryLine): boolean {
    return this.#leftOut.has(line);
  }

  /** Removes all actions but the first `count`. */
  cutTo(count: number): void {
    this.#actions.length = count;
  }

  leaveOut(place: EntryLine, why: RepairReason, callId?: string | null): void {
    this.#leftOut.add(place.line);
    const last = this.#actions.at(-1);
    // Thousands of such lines in a row (token deltas) are one action.
    if (IN_ROWS.includes(why) && last?.why === why && last.line !== null) {
      const past = last.line + (last.lines ?? 1);
      if (past === place.line) {
        // Not in place: a report that was made of the actions so far keeps its own.
        const lines = (last.lines ?? 1) + 1;
        this.#actions[this.#actions.length - 1] = Object.freeze({ ...last, lines });
        return;
      }
    }
    this.#note("left_out", why, place, callId);
  }

  change(place: EntryLine, why: RepairReason, callId?: string | null): void {
    this.#note("changed", why, place, callId);
  }

  move(place: EntryLine, why: RepairReason, callId?: string | null): void {
    this.#note("moved", why, place, callId);
  }

  add(place: EntryLine | null, why: RepairReason, callId?: string | null): void {
    this.#note("added", why, place, callId);
  }

  #note(
    action: RepairAction["action"],
    why: RepairReason,
    place: EntryLine | null,
    callId: string | null | undefined,
  ): void {
    const named = callId ? { callId: callId.slice(0, CALL_ID_CHARS_MAX) } : {};
    const { line = null, offset = null } = place ?? {};
    // Reports of later calls have the same objects.
    this.#actions.push(Object.freeze({ action, why, line, offset, ...named }));
  }
}
