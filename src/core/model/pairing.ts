/**
 * Pairing: matches tool calls with their results.
 *
 * Fed calls and results in the order of the log, it says which call each result answers, and which
 * calls are open. What to do about it is for others: doctor reports it, resume repairs it.
 *
 * CP1  A repeated id of an open call, with the same tool, the same input and in the same turn, is
 *      the same call (files repeat a message as it grows). Otherwise it is a new call (some agents
 *      count from 1 in every turn) which owns the id from then on: the old call stays without a
 *      result. Calls of one message that share an id are several, and results answer them in order.
 * CP2  Calls and results without an id are paired in order, and only within a turn: a later result
 *      may belong to any call.
 * CP3  Memory is bounded however long the session, and what was forgotten is counted.
 * - A turn begins where the log says so, and where a user has spoken.
 */

import { compactJson, fingerprint } from "../base/print-json.ts";
import type { Entry, Part } from "./entry.ts";

/** Calls open at once. Beyond it the oldest is no longer tracked. */
export const OPEN_CALLS_MAX = 10_000;
/** The latest answered ids that are remembered, to tell a second result from a stray one. */
export const ANSWERED_CALLS_MAX = 65_536;
/** Longer ids are replaced by a fingerprint: real ones are shorter, and a line may hold 16 MiB. */
const ID_CHARS_MAX = 256;

export interface OpenCall<At> {
  readonly callId: string | null;
  /** The call's position, in any unit of the caller. */
  readonly at: At;
}

/**
 * How a result relates to the calls before it: it answers an open one, repeats an answered one, or
 * belongs to none. `untold`: it may answer a call that is no longer tracked (CP2, CP3).
 */
export type ResultFit = "answers" | "duplicate" | "unknown" | "untold";

export type PairedResult<At> =
  | { readonly fit: "answers"; readonly call: OpenCall<At> }
  | { readonly fit: Exclude<ResultFit, "answers">; readonly call: null };

/** A result that answers nothing. */
export interface Misfit {
  readonly callId: string | null;
  readonly fit: "duplicate" | "unknown";
}

/** The fields that distinguish calls (CP1). */
export type NamedCall = Pick<Extract<Part, { type: "tool_call" }>, "callId" | "tool" | "input">;

/** The message of a call: its entry's number, and the provider's message id. */
export interface CallMessage {
  readonly entry: number;
  readonly messageId?: string;
}

type PairedEntry = Pick<Entry, "kind" | "role" | "parts" | "messageId">;

interface WaitingCall<At> {
  readonly call: OpenCall<At>;
  readonly turn: number;
  /** A fingerprint of tool and input. */
  readonly said: string;
  readonly message: CallMessage | null;
}

export class CallPairing<At> {
  /** By id, oldest first; several calls of one message may share an id (CP1). */
  readonly #open = new Map<string, WaitingCall<At>[]>();
  #openCount = 0;
  #entries = 0;
  /** Those without an id, oldest first (CP2). */
  readonly #nameless: OpenCall<At>[] = [];
  /** Calls that can get no result any more, oldest first (CP1, CP2). */
  readonly #passed: OpenCall<At>[] = [];
  #turn = 0;
  readonly #answered = new Set<string>();
  // Kept: a new iterator would walk over all deleted entries again (V8).
  #oldestOpen = this.#open.keys();
  readonly #oldestAnswered = this.#answered.values();
  #forgotten = 0;

  /** Adds an entry's calls and results. Returns the results that match no call. */
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

  /** Returns whether it is a new call; false when it repeats an open one (CP1). */
  addCall({ callId, tool, input }: NamedCall, at: At, message: CallMessage | null = null): boolean {
    const call = { callId, at };
    if (callId === null) {
      this.#nameless.push(call);
    } else {
      const key = keyOf(callId);
      const fingerprintOfCall = fingerprint(`${tool}\n${compactJson(input)}`);
      const before = this.#open.get(key) ?? [];
      const isAgain = before.some((each) => {
        return (
          each.said === fingerprintOfCall &&
          each.turn === this.#turn &&
          !isOneEntry(each.message, message)
        );
      });
      if (isAgain) return false;
      const isShared = isOne(before.at(-1)?.message ?? null, message);
      if (!isShared) this.#pass(before.splice(0));
      before.push({ call, said: fingerprintOfCall, turn: this.#turn, message });
      this.#open.delete(key); // Re-inserted as the latest.
      this.#open.set(key, before);
      this.#openCount++;
    }
    const count = this.#openCount + this.#nameless.length + this.#passed.length;
    if (count > OPEN_CALLS_MAX) this.#forgetOldest();
    return true;
  }

  /** Calls without an id that are still open get no result (CP2). */
  beginTurn(): void {
    this.#turn++;
    for (const call of this.#nameless.splice(0)) this.#passed.push(call);
  }

  addResult(callId: string | null): ResultFit {
    return this.answer(callId).fit;
  }

  /** Like `addResult`, with the call that the result answers. */
  answer(callId: string | null): PairedResult<At> {
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

  /** Calls without a result. Those that may still get one come last, those with an id first. */
  *open(): Generator<OpenCall<At>> {
    yield* this.#passed;
    for (const waiting of this.#open.values()) for (const { call } of waiting) yield call;
    yield* this.#nameless;
  }

  /** Open calls that are no longer tracked: unknown whether they have results. */
  get forgotten(): number {
    return this.#forgotten;
  }

  #misfit(): "unknown" | "untold" {
    return this.#forgotten > 0 ? "untold" : "unknown";
  }

  /** These get no result any more. */
  #pass(waiting: readonly WaitingCall<At>[]): void {
    for (const { call } of waiting) this.#passed.push(call);
    this.#openCount -= waiting.length;
  }

  #forgetOldest(): void {
    this.#forgotten++;
    if (this.#passed.shift()) return;
    const { value: oldest, done } = this.#oldestOpen.next();
    if (done) {
      this.#oldestOpen = this.#open.keys(); // None is open; an exhausted iterator stays exhausted.
      this.#nameless.shift();
    } else {
      const [first, ...others] = this.#open.get(oldest) ?? [];
      this.#open.delete(oldest);
      if (first) this.#openCount--;
      if (others.length > 0) this.#open.set(oldest, others);
    }
  }

  #remember(key: string): void {
    this.#answered.delete(key); // Re-inserted as the latest.
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

/** In some dialects results have the user role, too; they begin no turn. */
export function opensTurn({ kind, role, parts }: Pick<Entry, "kind" | "role" | "parts">): boolean {
  if (kind !== "message") return kind === "turn_start";
  return role === "user" && parts.some(({ type }) => type !== "tool_result");
}

function keyOf(id: string): string {
  return id.length <= ID_CHARS_MAX ? id : `${id.slice(0, 64)} ${id.length} ${fingerprint(id)}`;
}
