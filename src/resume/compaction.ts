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
  AssistantMessage,
  CompactionPiece,
  NeutralMessage,
  SystemMessage,
} from "./conversation.ts";
import type { EntryLine, RepairReason, Repairs } from "./repair-report.ts";
import type { SourcedPiece, Takes } from "./targets/target.ts";
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

/** The conversation with the blocks that the target accepts, from the last of them on (KP1). */
export function withCompactions(
  messages: readonly NeutralMessage[],
  takes: Takes,
  repairs: Repairs,
): readonly NeutralMessage[] {
  if (!messages.some(hasCompaction)) return messages;
  const fitted = messages.map((message): NeutralMessage => {
    if (message.role !== "assistant") return message;
    const content = message.content.filter((piece) => {
      const why = piece.type === "compaction" ? whyNot(piece, takes) : null;
      if (why !== null && piece.from) repairs.leaveOut(piece.from, why);
      return why === null;
    });
    // Results are attached to the calls (CV3), which are the same objects.
    return { role: "assistant", content };
  });
  return takes.compaction === "anthropic" ? fromLast(fitted, repairs) : fitted;
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

/** KP1 */
function fromLast(
  messages: readonly NeutralMessage[],
  repairs: Repairs,
): readonly NeutralMessage[] {
  const at = messages.findLastIndex(hasCompaction);
  const last = messages[at];
  if (last?.role !== "assistant") return messages;
  const from = last.content.findLastIndex(({ type }) => type === "compaction");
  const rest: NeutralMessage[] = [
    { role: "assistant", content: last.content.slice(from) },
    ...messages.slice(at + 1),
  ];
  const firstOther = messages.findIndex(({ role }) => role !== "system");
  const system = messages.slice(0, firstOther) as readonly SystemMessage[];
  const gone: NeutralMessage[] = [
    ...messages.slice(firstOther, at),
    { role: "assistant", content: last.content.slice(0, from) },
  ];
  leaveOut(gone, repairs);
  return [...system, ...rest];
}

/** Each line once, however much of it is left out. */
function leaveOut(messages: readonly NeutralMessage[], repairs: Repairs): void {
  const places = new Map<number, EntryLine>();
  const pieces = messages.flatMap(({ content }): SourcedPiece[] => {
    return content.flatMap((piece) => {
      const result = piece.type === "call" ? piece.result : null;
      return result ? [piece, result, ...result.content] : [piece];
    });
  });
  for (const { from } of pieces) if (from) places.set(from.line, from);
  for (const place of places.values()) repairs.leaveOut(place, "compacted");
}
