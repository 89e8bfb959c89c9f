/**
 * Gathering: what the events of one provider come to. Pure: no stream, no session, no clock.
 *
 * GA1  Events may hold anything. What is no event of its kind is refused with BAD_STREAM; what is
 *      only unknown is passed over or, when it belongs to the message, kept.
 * GA2  After any number of events, refused ones included, `entry` says what arrived.
 */

import type { VerbatimError } from "../base/errors.ts";
import type { NewEntry, Part, Usage } from "../model/entry.ts";
import type { JsonObject } from "./wire.ts";

export interface Gathering<Result> {
  /**
   * Takes one event. "whole" or the provider's error when the message has ended with it; "unknown"
   * when it is of a type that belongs to nothing.
   */
  take(event: JsonObject): "whole" | "unknown" | VerbatimError | null;
  /** Whether the message is whole when no more events come. */
  isWhole(): boolean;
  /** What arrived; null when there is nothing to tell. */
  entry(isPartial: boolean): NewEntry | null;
  /** Of a message that is whole. */
  result(): Result;
}

/** What a message says, whoever sent it. */
export interface Said {
  readonly parts: readonly Part[];
  readonly model: string | null;
  readonly messageId: string | null;
  readonly stopReason: string | null;
  readonly usage: Usage | null;
}

export function assistantEntry(said: Said, isPartial: boolean): NewEntry {
  const { parts, model, messageId, stopReason, usage } = said;
  return {
    kind: "message",
    role: "assistant",
    parts,
    model,
    usage,
    ...(messageId === null ? {} : { messageId }),
    ...(stopReason === null ? {} : { stopReason }),
    ...(isPartial ? { isPartial } : {}),
  };
}
