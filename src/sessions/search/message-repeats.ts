/**
 * Message repeats: detects calls and results that a file repeats because it writes a growing message
 * again as a whole. They are the same calls, and the same results.
 *
 * Fed each entry, then its calls and results in order, and which calls were answered. A call
 * repeated while still open is handled by pairing.ts (CP1).
 *
 * - Only lines with the same message id repeat each other: in another message, the same id is
 *   another call. Twice in one line, it is two calls.
 * SA2  The state is JSON and bounded: MESSAGE_CALLS_MAX calls of the latest message with an id. A
 *      call beyond that counts again.
 */

import type { Entry } from "../../core/model/entry.ts";

/** Calls remembered per message. */
export const MESSAGE_CALLS_MAX = 1024;
/** Longer ids do not occur, and are not recognised. */
const ID_CHARS_MAX = 256;

/** The latest message, and how often calls of each id in it were answered. */
export interface MessageCalls {
  readonly messageId: string | null;
  readonly answered: readonly (readonly [callId: string, count: number])[];
}

export const NO_MESSAGE: MessageCalls = { messageId: null, answered: [] };

export class RepeatDetector {
  #messageId: string | null;
  #answered: Map<string, number>;
  /** Whether the current entry belongs to that message. */
  #isNamed = false;
  /** Calls and results of each id that it may repeat. */
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

  /** Whether the entry's next call was answered before. */
  takeCall(callId: string | null): boolean {
    if (!this.#isNamed || callId === null || !isId(callId)) return false;
    if (takeOne(this.#calls, callId)) return true;
    const isNew = !this.#answered.has(callId);
    if (isNew && this.#answered.size < MESSAGE_CALLS_MAX) this.#answered.set(callId, 0);
    return false;
  }

  /** Whether its next result was seen before. */
  takeResult(callId: string | null): boolean {
    return callId !== null && takeOne(this.#results, callId);
  }

  /** A call got its result, in any line. */
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
