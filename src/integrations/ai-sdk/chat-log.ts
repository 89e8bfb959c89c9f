/**
 * Chat log: one chat in its session: its messages, which answers were begun, and how they ended.
 *
 * - An answer begins with a line `answer` and ends with its `message`. No line of the chat is
 *   between the two, so an answer is open when the last line begins one.
 * - A message whose id exists already undoes that one and all after it, and replaces them: so the
 *   SDK edits, regenerates, and adds results of tools.
 */

import type { UIMessage } from "ai";
import type { Session } from "../../sessions/store/session.ts";
import {
  appendTogether,
  countedLines,
  type HistoryLine,
  lastLines,
  linesBackward,
} from "../history/history.ts";

/** How an answer ended: by itself, by `stop`, with an error, or with its process or stream. */
export type ChatAnswerState = "finished" | "stopped" | "failed" | "interrupted";

export interface KeptMessage<M extends UIMessage> {
  readonly message: M;
  /** Null for a message that is not an answer. */
  readonly state: ChatAnswerState | null;
}

/** An answer that was begun. */
export interface BegunAnswer {
  readonly messageId: string;
  /** The stream of its chunks. */
  readonly path: string;
}

const TYPES = ["message", "answer", "pop", "clear"];

export async function keptMessages<M extends UIMessage>(
  session: Session,
): Promise<KeptMessage<M>[]> {
  const lines = await lastLines(session, { types: TYPES, type: "message" });
  return lines.map(({ message, state = null }) => ({
    message: message as M,
    state: state as ChatAnswerState | null,
  }));
}

/** The answer that has not ended; null when none is open. */
export async function openAnswer(session: Session): Promise<BegunAnswer | null> {
  for await (const line of countedLines(session, { types: TYPES })) return begunIn(line);
  return null;
}

/** The last answer begun for a message, ended or not. */
export async function lastAnswer(session: Session, messageId: string): Promise<BegunAnswer | null> {
  for await (const line of linesBackward(session, { types: ["answer"] })) {
    const begun = begunIn(line);
    if (begun?.messageId === messageId) return begun;
  }
  return null;
}

function begunIn({ type, message, stream }: HistoryLine): BegunAnswer | null {
  return type === "answer" ? { messageId: String(message), path: String(stream) } : null;
}

export async function beginAnswer(session: Session, answer: BegunAnswer): Promise<void> {
  const { messageId: message, path: stream } = answer;
  await session.appendLines([{ type: "answer", message, stream }]);
}

/** Adds a message after the existing ones, or instead of some of them. */
export async function addMessage(
  session: Session,
  kept: readonly KeptMessage<UIMessage>[],
  { message, state }: KeptMessage<UIMessage>,
): Promise<void> {
  const line = { type: "message", message, ...(state === null ? {} : { state }) };
  const count = countFrom(kept, message.id);
  await appendTogether(session, count === 0 ? [line] : [{ type: "pop", count }, line]);
}

/** Undoes a message and all after it; nothing when it does not exist. */
export async function takeBack(
  session: Session,
  kept: readonly KeptMessage<UIMessage>[],
  messageId: string,
): Promise<void> {
  const count = countFrom(kept, messageId);
  if (count > 0) await session.appendLines([{ type: "pop", count }]);
}

function countFrom(kept: readonly KeptMessage<UIMessage>[], messageId: string): number {
  const at = kept.findIndex(({ message }) => message.id === messageId);
  return at === -1 ? 0 : kept.length - at;
}
