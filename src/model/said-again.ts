/**
 * Said again: a message that a file repeats as it grows, whole each time, with calls whose results it
 * held before. Those are the same calls, and the same results.
 *
 * Told each entry, then its calls and results in their order, and which calls were answered. A call
 * that is said again while it is open is for pairing.ts to know (CP1).
 *
 * SA1  Only lines that carry one message id repeat each other: in another message, an id is another
 *      call's. Said twice in one line, it is two calls.
 * SA2  What is remembered is JSON, and bounded: so many calls of the latest message that has an id.
 *      One that is not among them counts again.
 */

import type { Entry } from "./entry.ts";

/** Calls that are remembered of a message. */
export const MESSAGE_CALLS_MAX = 1024;
/** Longer ids are nobody's, and are not known again. */
const ID_CHARS_MAX = 256;

/** The latest message, and how often calls of each id in it were answered. */
export interface MessageCalls {
  readonly messageId: string | null;
  readonly answered: readonly (readonly [callId: string, count: number])[];
}

export const NO_MESSAGE: MessageCalls = { messageId: null, answered: [] };

export class SaidAgain {
  #messageId: string | null;
  #answered: Map<string, number>;
  /** Whether the entry in hand is of that message. */
  #isNamed = false;
  /** What it may say again: of each id so many calls, and so many results. */
  #calls = new Map<string, number>();
  #results = new Map<string, number>();

  constructor({ messageId, answered }: MessageCalls = NO_MESSAGE) {
    this.#messageId = messageId;
    this.#answered = new Map(answered);
  }

  beginEntry({ messageId }: Pick<Entry, "messageId">): void {
    this.#isNamed = messageId !== undefined && isId(messageId);
    if (this.#isNamed && messageId !== this.#messageId) {
      this.#messageId = messageId ?? null;
      this.#answered = new Map();
    }
    this.#calls = new Map(this.#isNamed ? this.#answered : []);
    this.#results = new Map(this.#calls);
  }

  /** Whether the entry's next call is one that was answered before. */
  takeCall(callId: string | null): boolean {
    if (!this.#isNamed || callId === null || !isId(callId)) return false;
    if (takeOne(this.#calls, callId)) return true;
    const isNew = !this.#answered.has(callId);
    if (isNew && this.#answered.size < MESSAGE_CALLS_MAX) this.#answered.set(callId, 0);
    return false;
  }

  /** Whether its next result is one that came before. */
  takeResult(callId: string | null): boolean {
    return callId !== null && takeOne(this.#results, callId);
  }

  /** A call has its result, in whichever line that stands. */
  answered(callId: string | null): void {
    const count = callId === null ? undefined : this.#answered.get(callId);
    if (callId !== null && count !== undefined) this.#answered.set(callId, count + 1);
  }

  state(): MessageCalls {
    return { messageId: this.#messageId, answered: [...this.#answered] };
  }
}

function takeOne(counts: Map<string, number>, callId: string): boolean {
  const count = counts.get(callId) ?? 0;
  if (count > 0) counts.set(callId, count - 1);
  return count > 0;
}

function isId(id: string): boolean {
  return id !== "" && id.length <= ID_CHARS_MAX;
}
