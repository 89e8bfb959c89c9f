/**
 * Pairing: which tool calls have their results.
 *
 * Told calls and results in the order of the log, it says of each result what it answers, and at any
 * time which calls are open. What is made of that is for others: doctor reports it, resume mends it.
 *
 * CP1  An id is a call's name. Said again while the call is open, of the same tool, with the same
 *      input and in the same turn, it is the same call (files repeat a message as it grows). Else it
 *      is a new one (sloppy agents count from 1 in every turn), and what has the id from then on is
 *      the new one's: the old call stays without a result. Calls of one message that share an id
 *      are several, and results answer them in their order.
 * CP2  Calls and results without an id are paired in their order, and only within a turn: a result
 *      that comes later may be anybody's.
 * CP3  However long the session, what is remembered is bounded, and what was forgotten is counted.
 * CP4  A turn begins where the log says so, and where a user has spoken.
 */

import { compactJson, fingerprint } from "../base/print-json.ts";
import type { Entry, Part } from "./entry.ts";

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
 * call, or belongs to none. `untold`: it may answer a call that is no longer followed (CP2, CP3).
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

/** What tells one call from another (CP1). */
export type NamedCall = Pick<Extract<Part, { type: "tool_call" }>, "callId" | "tool" | "input">;

/** Which message a call is in: a number of its entry, and the provider's id of the message. */
export interface CallMessage {
  readonly entry: number;
  readonly messageId?: string;
}

type PairedEntry = Pick<Entry, "kind" | "role" | "parts" | "messageId">;

interface Waiting<At> {
  readonly call: OpenCall<At>;
  readonly turn: number;
  /** A fingerprint of tool and input. */
  readonly said: string;
  readonly message: CallMessage | null;
}

export class CallPairing<At> {
  /** By id, oldest first; several calls of one message may share an id (CP1). */
  readonly #open = new Map<string, Waiting<At>[]>();
  #openCount = 0;
  #entries = 0;
  /** Those without an id, oldest first (CP2). */
  readonly #nameless: OpenCall<At>[] = [];
  /** Calls that no result is given to any more, oldest first (CP1, CP2). */
  readonly #passed: OpenCall<At>[] = [];
  #turn = 0;
  readonly #answered = new Set<string>();
  // Kept, since one that is begun anew passes over all that was taken out before (V8).
  #oldestOpen = this.#open.keys();
  readonly #oldestAnswered = this.#answered.values();
  #forgotten = 0;

  /** Takes what an entry holds; answers the results in it that fit no call. */
  add(entry: PairedEntry, at: At): Misfit[] {
    const misfits: Misfit[] = [];
    const { messageId } = entry;
    const message = { entry: this.#entries++, ...(messageId === undefined ? {} : { messageId }) };
    for (const part of entry.parts) {
      if (part.type === "tool_call") this.addCall(part, at, message);
      if (part.type !== "tool_result") continue;
      const fit = this.addResult(part.callId);
      if (fit === "duplicate" || fit === "unknown") misfits.push({ callId: part.callId, fit });
    }
    if (opensTurn(entry)) this.beginTurn();
    return misfits;
  }

  /** Answers whether it is a call of its own; false: an open one was said again (CP1). */
  addCall({ callId, tool, input }: NamedCall, at: At, message: CallMessage | null = null): boolean {
    const call = { callId, at };
    if (callId === null) {
      this.#nameless.push(call);
    } else {
      const key = keyOf(callId);
      const said = fingerprint(`${tool}\n${compactJson(input)}`);
      const before = this.#open.get(key) ?? [];
      const isAgain = before.some((each) => {
        return each.said === said && each.turn === this.#turn && !isOneEntry(each.message, message);
      });
      if (isAgain) return false;
      const isShared = isOne(before.at(-1)?.message ?? null, message);
      if (!isShared) this.#pass(before.splice(0));
      before.push({ call, said, turn: this.#turn, message });
      this.#open.delete(key); // So that it is the latest.
      this.#open.set(key, before);
      this.#openCount++;
    }
    const count = this.#openCount + this.#nameless.length + this.#passed.length;
    if (count > OPEN_CALLS_MAX) this.#forgetOldest();
    return true;
  }

  /** Calls without an id that have no result by now get none (CP2). */
  beginTurn(): void {
    this.#turn++;
    for (const call of this.#nameless.splice(0)) this.#passed.push(call);
  }

  addResult(callId: string | null): ResultFit {
    return this.answer(callId).fit;
  }

  /** The same, with the call that the result answers. */
  answer(callId: string | null): Answered<At> {
    if (callId === null) {
      const call = this.#nameless.shift();
      if (call) return { fit: "answers", call };
      return { fit: this.#passed.length > 0 ? "untold" : this.#misfit(), call: null };
    }
    const key = keyOf(callId);
    const waiting = this.#open.get(key)?.shift();
    if (waiting) {
      this.#openCount--;
      if (this.#open.get(key)?.length === 0) this.#open.delete(key);
      this.#remember(key);
      return { fit: "answers", call: waiting.call };
    }
    return { fit: this.#answered.has(key) ? "duplicate" : this.#misfit(), call: null };
  }

  /** The calls that have no result: those that may still get one last, with an id before the others. */
  *open(): Generator<OpenCall<At>> {
    yield* this.#passed;
    for (const waiting of this.#open.values()) for (const { call } of waiting) yield call;
    yield* this.#nameless;
  }

  /** Calls that were open and are no longer followed: nobody can say whether they have results. */
  get forgotten(): number {
    return this.#forgotten;
  }

  #misfit(): "unknown" | "untold" {
    return this.#forgotten > 0 ? "untold" : "unknown";
  }

  /** No result is given to these any more. */
  #pass(waiting: readonly Waiting<At>[]): void {
    for (const { call } of waiting) this.#passed.push(call);
    this.#openCount -= waiting.length;
  }

  #forgetOldest(): void {
    this.#forgotten++;
    if (this.#passed.shift()) return;
    const { value: oldest, done } = this.#oldestOpen.next();
    if (done) {
      this.#oldestOpen = this.#open.keys(); // None is open; one that has ended stays so.
      this.#nameless.shift();
    } else {
      const [first, ...others] = this.#open.get(oldest) ?? [];
      this.#open.delete(oldest);
      if (first) this.#openCount--;
      if (others.length > 0) this.#open.set(oldest, others);
    }
  }

  #remember(key: string): void {
    this.#answered.delete(key); // So that it is the latest again.
    this.#answered.add(key);
    if (this.#answered.size <= ANSWERED_CALLS_MAX) return;
    const { value: oldest } = this.#oldestAnswered.next();
    if (oldest !== undefined) this.#answered.delete(oldest);
  }
}

function isOneEntry(a: CallMessage | null, b: CallMessage | null): boolean {
  return a !== null && a.entry === b?.entry;
}

function isOne(a: CallMessage | null, b: CallMessage | null): boolean {
  return isOneEntry(a, b) || (a?.messageId !== undefined && a.messageId === b?.messageId);
}

/** CP4: results come in a user's name too, in some dialects. */
export function opensTurn({ kind, role, parts }: Pick<Entry, "kind" | "role" | "parts">): boolean {
  if (kind !== "message") return kind === "turn_start";
  return role === "user" && parts.some(({ type }) => type !== "tool_result");
}

function keyOf(id: string): string {
  return id.length <= ID_CHARS_MAX ? id : `${id.slice(0, 64)} ${id.length} ${fingerprint(id)}`;
}
