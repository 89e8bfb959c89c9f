/**
 * Conversation: a session as neutral messages, between the log and the request.
 *
 * - Every piece knows its entry, so that what is left out later can be reported.
 * - Texts are not blank and have nothing that JSON in UTF-8 cannot carry (wire-text.ts), except in
 *   reasoning, which is as it was recorded.
 * CV3  A call's result is attached to the call: whatever was between them, they stay together.
 */

import type { Image } from "./image.ts";
import type { Place } from "./repair-report.ts";

/** Null: not from an entry, we added it. */
interface Placed {
  readonly from: Place | null;
}

export type TextPiece = Placed & { readonly type: "text"; readonly text: string };
export type ImagePiece = Placed & { readonly type: "image"; readonly image: Image };
/** Content for a model: from a user, or from a tool's result. */
export type Content = TextPiece | ImagePiece;

export interface ReasoningPiece {
  readonly type: "reasoning";
  readonly from: Place;
  readonly text: string;
  readonly signature: string | null;
  readonly withheld: string | null;
  /** The provider that made it, if the entry says so. */
  readonly provider: string | null;
  readonly model: string | null;
}

export interface CallResult extends Placed {
  readonly content: readonly Content[];
  readonly isError: boolean;
}

export interface CallPiece {
  readonly type: "call";
  readonly from: Place;
  /** Valid for every provider, and used once. */
  readonly id: string;
  readonly tool: string;
  readonly input: Readonly<Record<string, unknown>>;
  /** As the log has it. */
  readonly recordedId: string | null;
  result: CallResult | null;
}

/** A provider's own summary of what was said before it (compaction.ts). */
export interface CompactionPiece {
  readonly type: "compaction";
  readonly from: Place;
  /** The owner of the block, by its fields. */
  readonly owner: "anthropic" | "openai";
  /** As it is sent back. */
  readonly block: Readonly<Record<string, unknown>>;
  readonly model: string | null;
}

/** OpenRouter's list of a message's reasoning, which is sent back as one. */
export interface DetailsPiece {
  readonly type: "details";
  readonly from: Place;
  readonly details: readonly unknown[];
}

export type Spoken = TextPiece | ReasoningPiece | CallPiece | CompactionPiece | DetailsPiece;

export interface SystemMessage {
  readonly role: "system";
  readonly content: readonly TextPiece[];
}

export interface UserMessage {
  readonly role: "user";
  readonly content: readonly Content[];
}

export interface AssistantMessage {
  readonly role: "assistant";
  readonly content: readonly Spoken[];
}

export type NeutralMessage = SystemMessage | UserMessage | AssistantMessage;

/** A call with its final result. */
export type AnsweredCall = CallPiece & { readonly result: CallResult };

export function callsIn({ content }: AssistantMessage): readonly CallPiece[] {
  return content.filter((piece) => piece.type === "call");
}
