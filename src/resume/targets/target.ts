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
  /** Images in what tools gave back. */
  readonly resultImages: "all" | "data" | "none";
  /** System messages after the first other one. */
  readonly systemAnywhere: boolean;
}

export interface Target<Message> {
  readonly takes: Takes;
  build(messages: readonly NeutralMessage[], list: MessageList<Message>): void;
}

/** Messages as they are built, with the entries that each was made from. */
export class MessageList<Message> {
  readonly messages: Message[] = [];
  readonly made: Made[] = [];

  add(message: Message, ...pieces: readonly MadeFrom[]): void {
    this.messages.push(message);
    this.made.push(madeFrom(pieces));
  }

  /** Puts another in the place of the last, made from these pieces too. */
  grow(message: Message, ...pieces: readonly MadeFrom[]): void {
    this.messages[this.messages.length - 1] = message;
    const before = this.made.at(-1);
    const more = madeFrom(pieces);
    const lines = [...new Set([...(before?.lines ?? []), ...more.lines])];
    const isUnverified = before?.unverified === true || more.unverified === true;
    this.made[this.made.length - 1] = { lines, ...(isUnverified ? { unverified: true } : {}) };
  }
}

export interface MadeFrom {
  readonly from: Place | null;
}

/** Which lines pieces came from. */
export function madeFrom(pieces: readonly MadeFrom[]): Made {
  const places = pieces.map(({ from }) => from).filter((from) => from !== null);
  const lines = [...new Set(places.map(({ line }) => line))];
  const isUnverified = places.some(({ verified }) => !verified);
  return { lines, ...(isUnverified ? { unverified: true } : {}) };
}

/** A result and the pieces in it, as what a message was made from. */
export function piecesOf(result: CallResult): readonly MadeFrom[] {
  return [result, ...result.content];
}

/** All texts of a content as one, a blank line between them. */
export function textOf(content: readonly (Content | Spoken)[]): string {
  return content.flatMap((piece) => (piece.type === "text" ? [piece.text] : [])).join("\n\n");
}
