/**
 * Target: what one provider's request accepts, and how it writes a settled conversation.
 *
 * - A target invents nothing: it gets only what it accepts (fit.ts), with every call answered
 *   (settle.ts).
 */

import type { AnswerPiece, CallResult, InputPiece, NeutralMessage } from "../conversation.ts";
import type { EntryLine, SourceLines } from "../repair-report.ts";

/** Which parts of a conversation it accepts. */
export interface Takes {
  /** Thinking with its signature, as Anthropic sent it. */
  readonly thinking: boolean;
  /** OpenRouter's list of a message's reasoning, as in chat completions. */
  readonly details: boolean;
  /** Whose summaries of earlier messages (compaction.ts); null: none. */
  readonly compaction: "anthropic" | "openai" | null;
  /** Images in results of tools. */
  readonly resultImages: "all" | "data" | "none";
  /** System messages after the first other one. */
  readonly systemAnywhere: boolean;
  /** How many calls one message may have; null without a limit. */
  readonly callsMax: number | null;
}

export interface MessageTarget<Message> {
  readonly takes: Takes;
  build(messages: readonly NeutralMessage[], list: MessageList<Message>): void;
}

/** Messages under construction, with the entries that each was made from. */
export class MessageList<Message> {
  readonly messages: Message[] = [];
  readonly #pieces: SourcedPiece[][] = [];
  readonly #made: SourceLines[] = [];
  #joins = 0;

  /** Call when no message will grow any more, except after `cutTo`. */
  get made(): readonly SourceLines[] {
    for (const pieces of this.#pieces.slice(this.#made.length)) {
      this.#made.push(madeOfPieces(pieces));
    }
    return this.#made;
  }

  /** How often a message has grown. */
  get joins(): number {
    return this.#joins;
  }

  /** Removes all messages but the first `count`. */
  cutTo(count: number): void {
    this.messages.length = count;
    this.#pieces.length = count;
    this.#made.length = Math.min(this.#made.length, count);
  }

  add(message: Message, pieces: readonly SourcedPiece[]): void {
    this.messages.push(message);
    this.#pieces.push([...pieces]);
  }

  /** The last message was made from these pieces too. */
  grow(pieces: readonly SourcedPiece[]): void {
    const last = this.#pieces.at(-1);
    for (const piece of pieces) last?.push(piece);
    this.#joins++;
  }
}

export interface SourcedPiece {
  readonly from: EntryLine | null;
}

/** The lines of pieces. */
export function madeOfPieces(pieces: readonly SourcedPiece[]): SourceLines {
  const lines = new Set<number>();
  let isUnverified = false;
  for (const { from } of pieces) {
    if (!from) continue;
    lines.add(from.line);
    isUnverified ||= !from.verified;
  }
  const made: SourceLines = { lines: Object.freeze([...lines]) };
  return Object.freeze(isUnverified ? { ...made, unverified: true } : made);
}

/** A result and its pieces. */
export function piecesOf(result: CallResult): readonly SourcedPiece[] {
  return [result, ...result.content];
}

/** All texts of a content as one, with a blank line between them. */
export function contentText(content: readonly (InputPiece | AnswerPiece)[]): string {
  return content.flatMap((piece) => (piece.type === "text" ? [piece.text] : [])).join("\n\n");
}
