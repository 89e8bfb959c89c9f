/**
 * Call places: finds the call that a tool's result answers, and the link to it.
 *
 * Dialects write a call and its result in separate entries, the result with only the call's id. The
 * last CALLS_HELD_MAX calls are held, so that memory is bounded.
 */

import type { ToolView } from "../../../core/model/tool-view.ts";

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
