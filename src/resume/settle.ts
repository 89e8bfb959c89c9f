/**
 * Settle: makes a conversation that can be continued.
 *
 * - Every call has exactly one result. One without a recorded result is answered by an error that
 *   says UNCERTAIN: the tool may have run, and the model must check before running it again.
 * - The user speaks first, and last: providers refuse a conversation that begins with an assistant
 *   message, unless it is a summary (KP1), and newer models one that ends with one.
 */

import { beginsCompacted } from "./compaction.ts";
import type { AnswerPiece, CallResult, NeutralMessage, UserMessage } from "./conversation.ts";
import { callsIn } from "./conversation.ts";
import { FIRST_USER_TEXT, LAST_USER_TEXT, UNCERTAIN_RESULT } from "./phrases.ts";
import type { Repairs } from "./repair-report.ts";
import { isBlank, sendableText } from "./wire-text.ts";

/**
 * The user's message at the end. Undefined or blank: only when needed. Null: none; the caller
 * adds it.
 */
export type Prompt = string | null | undefined;

export function settle(
  messages: readonly NeutralMessage[],
  prompt: Prompt,
  repairs: Repairs,
): readonly NeutralMessage[] {
  const settled = messages.map((message) => withResults(message, repairs));
  const first = settled.find(({ role }) => role !== "system");
  if (first?.role === "assistant" && !beginsCompacted(first)) {
    repairs.add(null, "first_user_message");
    settled.unshift(userSays(FIRST_USER_TEXT));
  }
  const last = settled.findLast(({ role }) => role !== "system");
  const isUsersTurn = !last || (last.role === "assistant" && callsIn(last).length === 0);
  const said = typeof prompt === "string" && !isBlank(prompt) ? sendableText(prompt) : null;
  if (said !== null || (prompt !== null && isUsersTurn)) {
    repairs.add(null, "last_user_message");
    settled.push(userSays(said ?? LAST_USER_TEXT));
  }
  return settled;
}

function userSays(text: string): UserMessage {
  return { role: "user", content: [{ type: "text", text, from: null }] };
}

function withResults(message: NeutralMessage, repairs: Repairs): NeutralMessage {
  if (message.role !== "assistant") return message;
  const content = message.content.map((piece): AnswerPiece => {
    if (piece.type !== "call" || piece.result) return piece;
    repairs.add(piece.from, "uncertain_result", piece.recordedId);
    return { ...piece, result: UNCERTAIN };
  });
  return { role: "assistant", content };
}

const UNCERTAIN: CallResult = {
  content: [{ type: "text", text: UNCERTAIN_RESULT, from: null }],
  isError: true,
  from: null,
};
