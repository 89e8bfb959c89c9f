/**
 * Call results: which result is shown in the row of which call, and where the call of a result is.
 *
 * Dialects write a call and its result in separate entries, the result with only the call's id. They
 * are one row, at the place of the call. Fed entries in the order of the log.
 *
 * - A result answers the earliest open call with its id. Without ids they are paired in order, and
 *   only within a turn. A call in a later entry takes over the id of an open one.
 * - What is forgotten is no longer paired: a result is then shown in its own place, with a link to
 *   its call if that is among the last CALLS_HELD_MAX, so that memory is bounded.
 */

import type { Part } from "../../../core/model/entry.ts";
import { opensTurn } from "../../../core/model/pairing.ts";
import type { ToolView } from "../../../core/model/tool-view.ts";
import type { PlacedEntry, ResultView } from "./placed-entry.ts";

export type ResultPart = Extract<Part, { type: "tool_result" }>;

/** The result of a call, and the entry that has it. */
export interface PlacedResult {
  readonly part: ResultPart;
  readonly at: string | null;
  readonly start: number;
  readonly line: number | null;
  /** The part's number in its entry. */
  readonly index: number;
}

/** A part of an entry: the entry's offset and the part's number. */
type Place = `${number}/${number}`;

type Paired = "kind" | "role" | "parts" | "at" | "start" | "line" | "results";
type PairedEntry = Pick<PlacedEntry, Paired>;

export class CallResults {
  /** By id, and under null those without one. */
  readonly #open = new Map<string | null, { readonly start: number; readonly place: Place }[]>();
  readonly #results = new Map<Place, PlacedResult>();
  readonly #calls = new Map<Place, number>();
  readonly #views = new Map<string, ResultView>();

  /** Returns the offsets of the entries whose calls it answers. */
  add(entry: PairedEntry): number[] {
    const { start, line, at, parts } = entry;
    const answered: number[] = [];
    for (const view of entry.results ?? []) this.#views.set(view.callId, view);
    for (const [index, part] of parts.entries()) {
      const place: Place = `${start}/${index}`;
      if (part.type === "tool_call") this.#addCall(part.callId, start, place);
      if (part.type !== "tool_result") continue;
      const call = this.#open.get(part.callId)?.shift();
      if (call === undefined) continue;
      this.#results.set(call.place, { part, at, start, line, index });
      this.#calls.set(place, call.start);
      answered.push(call.start);
    }
    if (opensTurn(entry)) this.#open.delete(null);
    return answered;
  }

  /** The result of the call that is this part of the entry; null if there is none yet. */
  resultOf(start: number, index: number): PlacedResult | null {
    return this.#results.get(`${start}/${index}`) ?? null;
  }

  /** What the agent recorded about the result of a call; null: no more than the result. */
  viewOf(callId: string | null): ResultView | null {
    return callId === null ? null : (this.#views.get(callId) ?? null);
  }

  /** The entry whose row shows the result that is this part; null if none does. */
  callOf(start: number, index: number): number | null {
    return this.#calls.get(`${start}/${index}`) ?? null;
  }

  /** Whether a call of this entry has no result yet. */
  isOpen({ start, parts }: Pick<PlacedEntry, "start" | "parts">): boolean {
    return parts.some((part, index) => {
      return part.type === "tool_call" && this.resultOf(start, index) === null;
    });
  }

  /** Results that come later are not paired with this entry's calls, whose row is written. */
  forget({ start, parts }: Pick<PlacedEntry, "start" | "parts">): void {
    for (const [index, part] of parts.entries()) {
      this.#results.delete(`${start}/${index}`);
      this.#calls.delete(`${start}/${index}`);
      if (part.type !== "tool_call" && part.type !== "tool_result") continue;
      if (part.callId !== null) this.#views.delete(part.callId);
      if (part.type === "tool_result") continue;
      const open = this.#open.get(part.callId)?.filter((call) => call.start !== start) ?? [];
      if (open.length > 0) this.#open.set(part.callId, open);
      else this.#open.delete(part.callId);
    }
  }

  #addCall(callId: string | null, start: number, place: Place): void {
    const open = this.#open.get(callId);
    if (open && (callId === null || open.at(-1)?.start === start)) open.push({ start, place });
    else this.#open.set(callId, [{ start, place }]);
  }
}

/** Calls that a result in a later place can be linked to. */
export const CALLS_HELD_MAX = 1000;

export interface CallPlace {
  readonly view: ToolView;
  /** Link to the entry of the call; made by us. */
  readonly href: string;
}

/** Lookup of a session's calls. */
export interface Calls {
  add(callId: string, place: CallPlace): void;
  get(callId: string | null): CallPlace | null;
}

export class CallPlaces implements Calls {
  readonly #places = new Map<string, CallPlace>();

  add(callId: string, place: CallPlace): void {
    this.#places.delete(callId); // Re-inserted as the latest.
    this.#places.set(callId, place);
    if (this.#places.size <= CALLS_HELD_MAX) return;
    const [oldest] = this.#places.keys();
    if (oldest !== undefined) this.#places.delete(oldest);
  }

  get(callId: string | null): CallPlace | null {
    return callId === null ? null : (this.#places.get(callId) ?? null);
  }
}
