/**
 * Call places: which call a tool's result answers, and the link to that call.
 *
 * Dialects write a call and its result in entries of their own, the result with nothing but the
 * call's id. The last CALLS_HELD_MAX calls are held, so that a session of any length takes no more.
 */

export const CALLS_HELD_MAX = 1000;

export interface CallPlace {
  readonly tool: string;
  /** Leads to the entry of the call; made by us. */
  readonly href: string;
}

/** What is asked of whoever knows the calls of a session. */
export interface Calls {
  add(callId: string, place: CallPlace): void;
  get(callId: string | null): CallPlace | null;
}

export class CallPlaces implements Calls {
  readonly #places = new Map<string, CallPlace>();

  add(callId: string, place: CallPlace): void {
    this.#places.delete(callId); // Set anew, it is the youngest.
    this.#places.set(callId, place);
    if (this.#places.size <= CALLS_HELD_MAX) return;
    const [oldest] = this.#places.keys();
    if (oldest !== undefined) this.#places.delete(oldest);
  }

  get(callId: string | null): CallPlace | null {
    return callId === null ? null : (this.#places.get(callId) ?? null);
  }
}
