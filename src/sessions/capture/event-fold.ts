/**
 * Event fold: collects the events of one provider. Pure: no stream, no session, no clock.
 *
 * - Events may be anything. An event that is not of its kind is refused with BAD_STREAM; one that
 *   is only unknown is skipped or, when it belongs to the message, kept.
 * - After any number of events, refused ones included, `entry` has what arrived.
 */

import type { VerbatimError } from "../../core/base/errors.ts";
import type { NewEntry, Part, Usage } from "../../core/model/entry.ts";
import type { JsonObject } from "./wire.ts";

export interface EventFold<Result> {
  /**
   * Collects one event. Returns "whole" or the provider's error when the message ends with it,
   * "unknown" when its type belongs to nothing.
   */
  take(event: JsonObject): "whole" | "unknown" | VerbatimError | null;
  /** Whether the message is complete when no more events come. */
  isWhole(): boolean;
  /** What arrived; null when there is nothing. */
  entry(isPartial: boolean): NewEntry | null;
  /** The result of a complete message. */
  result(): Result;
}

/** The contents of a message, of any provider. */
export interface AssistantParts {
  readonly parts: readonly Part[];
  readonly model: string | null;
  readonly messageId: string | null;
  readonly stopReason: string | null;
  readonly usage: Usage | null;
}

export function assistantEntry(said: AssistantParts, isPartial: boolean): NewEntry {
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
