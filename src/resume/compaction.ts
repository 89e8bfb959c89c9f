/**
 * Compaction: a provider's own summary, so that its model continues with less. The block goes back
 * to that provider unchanged, and to no other: those get the summarised messages instead, which the
 * log still has.
 *
 * KP1  Anthropic ignores what comes before a block, and refuses a signed one that is not the first
 *      of the conversation, or not the only one: the last block begins the conversation.
 * - OpenAI accepts a block in its place among the items, whatever comes before it.
 */

import type {
  AnswerPiece,
  AssistantMessage,
  CompactionPiece,
  NeutralMessage,
} from "./conversation.ts";
import { type EntryLine, type RepairAction, type RepairReason, Repairs } from "./repair-report.ts";
import { piecesOf, type SourcedPiece, type Takes } from "./targets/target.ts";
import { sendableValue } from "./wire-text.ts";

type Block = CompactionPiece["block"];
type Owner = CompactionPiece["owner"];

/** The fields of its block that each provider accepts back. Without ids and our own additions. */
const FIELDS: Readonly<Record<Owner, readonly string[]>> = {
  anthropic: ["content", "encrypted_content", "signature", "tool_changes"],
  openai: ["encrypted_content"],
};

/** Other providers use the blocks of these two; the model's name shows it. */
const OTHERS: Readonly<Record<Owner, RegExp>> = {
  anthropic: /^(?!.*claude)/i,
  openai: /claude|gemini|grok/i,
};

/** The block in a part that capture, or a program, kept unchanged; null when it is another. */
export function compactionIn(native: unknown): Pick<CompactionPiece, "owner" | "block"> | null {
  const given = (native ?? {}) as Block;
  if (given.type !== "compaction") return null;
  const { content, encrypted_content: sealed } = given;
  const isAnthropics = typeof content === "string" || content === null;
  if (!isAnthropics && typeof sealed !== "string") return null;
  const owner = isAnthropics ? "anthropic" : "openai";
  const said = FIELDS[owner].map((field) => [field, given[field]] as const);
  const filled = said.filter(([, value]) => value !== null && value !== undefined);
  return { owner, block: { type: "compaction", ...Object.fromEntries(filled) } };
}

/** A message with blocks of any provider. */
interface CompactedMessage {
  readonly index: number;
  /** Where the last block that the target accepts is in its content; -1: it accepts none. */
  readonly block: number;
  readonly actions: readonly RepairAction[];
}

/** The blocks of a conversation that grows, and where the last one makes the request begin (KP1). */
export class Compactions {
  readonly #takes: Takes;
  readonly #compacted: CompactedMessage[] = [];
  /** The message that begins the request. */
  #first: CompactedMessage | null = null;
  #replaced: readonly RepairAction[] = [];

  constructor(takes: Takes) {
    this.#takes = takes;
  }

  /** The index of the message with which the request begins. */
  get start(): number {
    return this.#first?.index ?? 0;
  }

  get actions(): readonly RepairAction[] {
    return this.#compacted.flatMap(({ actions }) => actions).concat(this.#replaced);
  }

  /** Reads the messages from an index on, or again. Returns whether the request begins elsewhere. */
  read(messages: readonly NeutralMessage[], from: number): boolean {
    while ((this.#compacted.at(-1)?.index ?? -1) >= from) this.#compacted.pop();
    for (let index = from; index < messages.length; index++) {
      const message = messages[index];
      if (message && hasCompaction(message))
        this.#compacted.push(this.#compactedAt(message, index));
    }
    const isAnthropic = this.#takes.compaction === "anthropic";
    const last = isAnthropic ? this.#compacted.findLast(({ block }) => block >= 0) : null;
    const before = this.#first;
    if (!last || (last === before && last.index < from)) return before !== this.#first;
    this.#first = last;
    this.#replaced = this.#replacedBy(messages, last);
    return last.index !== before?.index || last.block !== before.block;
  }

  /** A message, with the blocks that the target accepts; the first one from its last block on. */
  messageAt(messages: readonly NeutralMessage[], index: number): NeutralMessage {
    const message = messages[index] as NeutralMessage;
    if (!hasCompaction(message)) return message;
    const content = this.#accepted(message);
    const { block = 0 } = this.#first?.index === index ? this.#first : {};
    // Results are attached to the calls (CV3), which are the same objects.
    return { role: "assistant", content: content.slice(block) };
  }

  #compactedAt(message: AssistantMessage, index: number): CompactedMessage {
    const repairs = new Repairs();
    for (const piece of message.content) {
      const why = piece.type === "compaction" ? whyNot(piece, this.#takes) : null;
      if (why !== null && piece.from) repairs.leaveOut(piece.from, why);
    }
    const block = this.#accepted(message).findLastIndex(({ type }) => type === "compaction");
    return { index, block, actions: repairs.actions };
  }

  #accepted({ content }: AssistantMessage): readonly AnswerPiece[] {
    return content.filter((piece) => {
      return piece.type !== "compaction" || whyNot(piece, this.#takes) === null;
    });
  }

  /** What comes before a block, without the system prompt: each line once. */
  #replacedBy(
    messages: readonly NeutralMessage[],
    { index, block }: CompactedMessage,
  ): readonly RepairAction[] {
    const firstOther = messages.findIndex(({ role }) => role !== "system");
    const places = new Map<number, EntryLine>();
    for (let at = firstOther; at <= index; at++) {
      const message = messages[at] as NeutralMessage;
      const content = hasCompaction(message) ? this.#accepted(message) : message.content;
      for (const piece of at === index ? content.slice(0, block) : content) {
        const result = piece.type === "call" ? piece.result : null;
        const pieces: readonly SourcedPiece[] = result ? [piece, ...piecesOf(result)] : [piece];
        for (const { from } of pieces) if (from) places.set(from.line, from);
      }
    }
    const repairs = new Repairs();
    for (const place of places.values()) repairs.leaveOut(place, "compacted");
    return repairs.actions;
  }
}

/** Whether a conversation begins with a summary: then no user has to speak first. */
export function beginsCompacted(message: NeutralMessage | undefined): boolean {
  return message?.role === "assistant" && message.content[0]?.type === "compaction";
}

function whyNot({ owner, block, model }: CompactionPiece, takes: Takes): RepairReason | null {
  if (takes.compaction === null) return "compaction_not_taken";
  const isForeign = owner !== takes.compaction || (model !== null && OTHERS[owner].test(model));
  if (isForeign) return "compaction_foreign";
  if (!(owner === "anthropic" ? block.content : block.encrypted_content)) return "compaction_empty";
  return sendableValue(block)?.isSame ? null : "compaction_unsendable";
}

function hasCompaction(message: NeutralMessage): message is AssistantMessage {
  return message.role === "assistant" && message.content.some(({ type }) => type === "compaction");
}
