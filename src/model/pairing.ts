/**
 * Pairing: which tool calls have their results.
 *
 * Told calls and results in the order of the log, it says of each result what it answers, and at any
 * time which calls are open. What is made of that is for others: doctor reports it, resume mends it.
 *
 * CP1  An id is a call's name. Said again while the call is open it is the same call (files repeat
 *      a message as it grows); said again after its result it is a new one (sloppy agents count
 *      from 1 in every turn).
 * CP2  Calls and results without an id are paired in their order.
 * CP3  However long the session, what is remembered is bounded, and what was forgotten is counted.
 */

import type { Part } from "./entry.ts";

/** Calls that may be open at once. Beyond it the oldest is no longer followed. */
export const OPEN_CALLS_MAX = 10_000;
/** Ids of answered calls that are remembered, the latest: to know a second result from a stray one. */
export const ANSWERED_CALLS_MAX = 65_536;
/** Longer ids are remembered by a fingerprint: nobody's real one is, and a line may hold 16 MiB. */
const ID_CHARS_MAX = 256;

export interface OpenCall<At> {
  readonly callId: string | null;
  /** Where the call is, in whatever the caller counts. */
  readonly at: At;
}

/**
 * What a result is to the calls before it: it answers an open one, is a second one for an answered
 * call, or belongs to none. `untold`: it may answer a call that is no longer followed (CP3).
 */
export type ResultFit = "answers" | "duplicate" | "unknown" | "untold";

export type Answered<At> =
  | { readonly fit: "answers"; readonly call: OpenCall<At> }
  | { readonly fit: Exclude<ResultFit, "answers">; readonly call: null };

/** A result that answers nothing. */
export interface Misfit {
  readonly callId: string | null;
  readonly fit: "duplicate" | "unknown";
}

export class CallPairing<At> {
  readonly #open = new Map<string, OpenCall<At>>();
  /** Those without an id, oldest first (CP2). */
  readonly #nameless: OpenCall<At>[] = [];
  readonly #answered = new Set<string>();
  // Kept, since one that is begun anew passes over all that was taken out before (V8).
  #oldestOpen = this.#open.keys();
  readonly #oldestAnswered = this.#answered.values();
  #forgotten = 0;

  /** Takes what an entry holds; answers the results in it that fit no call. */
  add(parts: readonly Part[], at: At): Misfit[] {
    const misfits: Misfit[] = [];
    for (const part of parts) {
      if (part.type === "tool_call") this.addCall(part.callId, at);
      if (part.type !== "tool_result") continue;
      const fit = this.addResult(part.callId);
      if (fit === "duplicate" || fit === "unknown") misfits.push({ callId: part.callId, fit });
    }
    return misfits;
  }

  /** Answers whether it is a call of its own; false: an open one was said again (CP1). */
  addCall(callId: string | null, at: At): boolean {
    if (callId === null) {
      this.#nameless.push({ callId, at });
    } else {
      const key = keyOf(callId);
      if (this.#open.has(key)) return false;
      this.#open.set(key, { callId, at });
    }
    if (this.#open.size + this.#nameless.length > OPEN_CALLS_MAX) this.#forgetOldest();
    return true;
  }

  addResult(callId: string | null): ResultFit {
    return this.answer(callId).fit;
  }

  /** The same, with the call that the result answers. */
  answer(callId: string | null): Answered<At> {
    if (callId === null) {
      const call = this.#nameless.shift();
      return call ? { fit: "answers", call } : { fit: this.#misfit(), call: null };
    }
    const key = keyOf(callId);
    const call = this.#open.get(key);
    if (call) {
      this.#open.delete(key);
      this.#remember(key);
      return { fit: "answers", call };
    }
    return { fit: this.#answered.has(key) ? "duplicate" : this.#misfit(), call: null };
  }

  /** The calls that have no result, those with an id first. */
  *open(): Generator<OpenCall<At>> {
    yield* this.#open.values();
    yield* this.#nameless;
  }

  /** Calls that were open and are no longer followed: nobody can say whether they have results. */
  get forgotten(): number {
    return this.#forgotten;
  }

  #misfit(): "unknown" | "untold" {
    return this.#forgotten > 0 ? "untold" : "unknown";
  }

  #forgetOldest(): void {
    const { value: oldest, done } = this.#oldestOpen.next();
    if (done) {
      this.#oldestOpen = this.#open.keys(); // None is open; one that has ended stays so.
      this.#nameless.shift();
    } else {
      this.#open.delete(oldest);
    }
    this.#forgotten++;
  }

  #remember(key: string): void {
    this.#answered.delete(key); // So that it is the latest again.
    this.#answered.add(key);
    if (this.#answered.size <= ANSWERED_CALLS_MAX) return;
    const { value: oldest } = this.#oldestAnswered.next();
    if (oldest !== undefined) this.#answered.delete(oldest);
  }
}

function keyOf(id: string): string {
  return id.length <= ID_CHARS_MAX ? id : `${id.slice(0, 64)} ${id.length} ${fingerprint(id)}`;
}

/** 64 bits as two FNV-1a hashes of the characters: enough to tell apart what nobody chose. */
function fingerprint(text: string): string {
  let a = 0x811c9dc5;
  let b = 0x01000193;
  for (let at = 0; at < text.length; at++) {
    const unit = text.charCodeAt(at);
    a = Math.imul(a ^ unit, 0x01000193);
    b = Math.imul(b ^ unit, 0x85ebca6b) ^ (b >>> 13);
  }
  return `${a >>> 0}.${b >>> 0}`;
}
