/** Changed lines: how many lines of files the tool calls of a session added and removed. */

import type { Part } from "../../core/model/entry.ts";
import { fileEditsOf } from "./file-edits.ts";

export interface ChangedLines {
  readonly added: number;
  readonly removed: number;
}

/** Calls whose results are awaited: a failed one changed nothing. */
const CALLS_REMEMBERED = 128;

/** A fold as JSON, to continue later. */
export interface ChangedLinesState {
  readonly sum: ChangedLines | null;
  readonly calls: readonly (readonly [callId: string, changed: ChangedLines])[];
}

/** Sums up the calls of a session. */
export class ChangedLinesFold {
  #sum: { added: number; removed: number } | null;
  readonly #calls: Map<string, ChangedLines>;

  constructor(state?: ChangedLinesState) {
    this.#sum = state?.sum ? { ...state.sum } : null;
    this.#calls = new Map(state?.calls);
  }

  state(): ChangedLinesState {
    return { sum: this.#sum && { ...this.#sum }, calls: [...this.#calls] };
  }

  add(parts: readonly Part[]): void {
    for (const part of parts) {
      if (part.type === "tool_call") this.#call(part.callId, changedBy(part));
      else if (part.type === "tool_result" && part.error !== null) this.#takeBack(part.callId);
    }
  }

  /** Null if no call was recognised as an edit. */
  get sum(): ChangedLines | null {
    return this.#sum;
  }

  #call(callId: string | null, changed: ChangedLines | null): void {
    if (changed === null || (callId !== null && this.#calls.has(callId))) return;
    this.#count(changed, 1);
    if (callId === null) return;
    this.#calls.set(callId, changed);
    const oldest = this.#calls.keys().next();
    if (this.#calls.size > CALLS_REMEMBERED && !oldest.done) this.#calls.delete(oldest.value);
  }

  #takeBack(callId: string | null): void {
    const changed = callId === null ? undefined : this.#calls.get(callId);
    if (callId === null || changed === undefined) return;
    this.#calls.delete(callId);
    this.#count(changed, -1);
  }

  #count({ added, removed }: ChangedLines, sign: 1 | -1): void {
    this.#sum ??= { added: 0, removed: 0 };
    this.#sum.added += sign * added;
    this.#sum.removed += sign * removed;
  }
}

/** Null if the call is no edit, as far as its name and input show. */
function changedBy({ tool, input }: Extract<Part, { type: "tool_call" }>): ChangedLines | null {
  const edits = fileEditsOf(tool, input);
  if (edits.length === 0) return null;
  const sum = { added: 0, removed: 0 };
  for (const { added, removed } of edits) {
    sum.added += added;
    sum.removed += removed;
  }
  return sum;
}
