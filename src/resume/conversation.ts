/**
 * Conversation: a session as neutral messages, between the log and the request.
 *
 * - Every piece knows its entry, so that what is left out later can be reported.
 * - Texts are not blank and have nothing that JSON in UTF-8 cannot carry (wire-text.ts), except in
 *   reasoning, which is as it was recorded.
 * CV3  A call's result is attached to the call: whatever was between them, they stay together.
 */

import { VerbatimError } from "../core/base/errors.ts";
import { Turns } from "../core/model/turns.ts";
import { dialectNamed } from "../dialects/all.ts";
import type { VerifiedEntry, VerifiedSession } from "../evidence/verify/verified-entries.ts";
import type { Native } from "./fork/fork.ts";
import type { Image } from "./image.ts";
import type { EntryLine } from "./repair-report.ts";

/** Null: not from an entry, we added it. */
interface Placed {
  readonly from: EntryLine | null;
}

export type TextPiece = Placed & { readonly type: "text"; readonly text: string };
export type ImagePiece = Placed & { readonly type: "image"; readonly image: Image };
/** Content for a model: from a user, or from a tool's result. */
export type InputPiece = TextPiece | ImagePiece;

export interface ReasoningPiece {
  readonly type: "reasoning";
  readonly from: EntryLine;
  readonly text: string;
  readonly signature: string | null;
  readonly withheld: string | null;
  /** The provider that made it, if the entry says so. */
  readonly provider: string | null;
  readonly model: string | null;
}

export interface CallResult extends Placed {
  readonly content: readonly InputPiece[];
  readonly isError: boolean;
}

export interface CallPiece {
  readonly type: "call";
  readonly from: EntryLine;
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
  readonly from: EntryLine;
  /** The owner of the block, by its fields. */
  readonly owner: "anthropic" | "openai";
  /** As it is sent back. */
  readonly block: Readonly<Record<string, unknown>>;
  readonly model: string | null;
}

/** OpenRouter's list of a message's reasoning, which is sent back as one. */
export interface DetailsPiece {
  readonly type: "details";
  readonly from: EntryLine;
  readonly details: readonly unknown[];
}

export type AnswerPiece = TextPiece | ReasoningPiece | CallPiece | CompactionPiece | DetailsPiece;

export interface SystemMessage {
  readonly role: "system";
  readonly content: readonly TextPiece[];
}

export interface UserMessage {
  readonly role: "user";
  readonly content: readonly InputPiece[];
}

export interface AssistantMessage {
  readonly role: "assistant";
  readonly content: readonly AnswerPiece[];
}

export type NeutralMessage = SystemMessage | UserMessage | AssistantMessage;

/** A call with its final result. */
export type AnsweredCall = CallPiece & { readonly result: CallResult };

export function callsIn({ content }: AssistantMessage): readonly CallPiece[] {
  return content.filter((piece) => piece.type === "call");
}

/**
 * Up to a turn: the entries of a session up to the end of one of its turns, counted like its
 * checkpoints do.
 *
 * - A line that undoes earlier ones belongs to what replaces them: where that opens the next turn,
 *   this one ends before the line, with what it would undo.
 *
 * `onCut` is called with the first line after the turn, if there is one. Refuses with
 * TURN_NOT_FOUND.
 */
export async function* entriesUpTo(
  session: VerifiedSession,
  turn: number,
  onCut: (next: Native) => void,
): AsyncGenerator<VerifiedEntry> {
  const rules = dialectNamed(session.dialect).turns;
  const turns = new Turns();
  /** A line that undoes others, and what came after it, until a message comes. */
  let waiting: VerifiedEntry[] = [];
  for await (const entry of session.entries()) {
    const mark = rules.turnMark(entry.native, session.id);
    const begins = turns.note(mark);
    const [first = entry] = waiting;
    if (begins && turns.ended >= turn) {
      onCut(first.native);
      return;
    }
    waiting.push(entry);
    if (mark === null && (rules.takingBack?.takesBack(first.native) ?? null) !== null) continue;
    yield* waiting;
    waiting = [];
  }
  if (turns.count < turn) throw noSuchTurn(session, turn, turns);
  yield* waiting;
}

function noSuchTurn({ id, path }: VerifiedSession, turn: number, turns: Turns): VerbatimError {
  const session = id ?? path;
  const { count } = turns;
  return new VerbatimError(
    "TURN_NOT_FOUND",
    `${session} has ${count} turn${count === 1 ? "" : "s"}, not ${turn}; name one of them`,
    { session, turn, turns: count },
  );
}
