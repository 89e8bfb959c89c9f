/**
 * Target: what one provider's request takes, and how a settled conversation is said in it.
 *
 * TA1  A target invents nothing: it gets what it takes (fit.ts), with every call answered (settle.ts).
 */

import type { CallResult, Content, NeutralMessage, Spoken } from "../conversation.ts";
import type { Made, Place } from "../repair-report.ts";

/** What it takes of what may be in a conversation. */
export interface Takes {
  /** Thinking with its seal, as Anthropic gave it, and as it takes it back. */
  readonly thinking: boolean;
  /** OpenRouter's list of a message's thoughts, as chat completions have it. */
  readonly details: boolean;
  /** Whose summaries of what was said before (compaction.ts); null: nobody's. */
  readonly compaction: "anthropic" | "openai" | null;
  /** Images in what tools gave back. */
  readonly resultImages: "all" | "data" | "none";
  /** System messages after the first other one. */
  readonly systemAnywhere: boolean;
  /** How many calls one message may hold; null where nobody has said so. */
  readonly callsMax: number | null;
}

export interface Target<Message> {
  readonly takes: Takes;
  build(messages: readonly NeutralMessage[], list: MessageList<Message>): void;
}

/** Messages as they are built, with the entries that each was made from. */
export class MessageList<Message> {
  readonly messages: Message[] = [];
  readonly #pieces: MadeFrom[][] = [];

  get made(): readonly Made[] {
    return this.#pieces.map(madeFrom);
  }

  add(message: Message, pieces: readonly MadeFrom[]): void {
    this.messages.push(message);
    this.#pieces.push([...pieces]);
  }

  /** The last message was made from these pieces too. */
  grow(pieces: readonly MadeFrom[]): void {
    const made = this.#pieces.at(-1);
    for (const piece of pieces) made?.push(piece);
  }
}

export interface MadeFrom {
  readonly from: Place | null;
}

/** Which lines pieces came from. */
export function madeFrom(pieces: readonly MadeFrom[]): Made {
  const lines = new Set<number>();
  let isUnverified = false;
  for (const { from } of pieces) {
    if (!from) continue;
    lines.add(from.line);
    isUnverified ||= !from.verified;
  }
  return { lines: [...lines], ...(isUnverified ? { unverified: true } : {}) };
}

/** A result and the pieces in it, as what a message was made from. */
export function piecesOf(result: CallResult): readonly MadeFrom[] {
  return [result, ...result.content];
}

/** All texts of a content as one, a blank line between them. */
export function textOf(content: readonly (Content | Spoken)[]): string {
  return content.flatMap((piece) => (piece.type === "text" ? [piece.text] : [])).join("\n\n");
}
