/**
 * Assembly: gathered messages as those of a request, continued where the conversation grows.
 *
 * - Every call has exactly one result. One without a recorded result is answered by an error that
 *   says UNCERTAIN: the tool may have run, and the model must check before running it again.
 * - The user speaks first, and last: providers refuse a conversation that begins with an assistant
 *   message, unless it is a summary (KP1), and newer models one that ends with one.
 * - A cut is an index of the gathered messages before which the request never changes, except by a
 *   late result or a summary. So a call continues from the last cut before what is new. There is
 *   one wherever a message of the request begins that joined no earlier one.
 */

import { beginsCompacted, Compactions } from "./compaction.ts";
import {
  type AnswerPiece,
  type CallResult,
  callsIn,
  type NeutralMessage,
  type TextPiece,
  type UserMessage,
} from "./conversation.ts";
import { fitTo } from "./fit.ts";
import type { Gathering } from "./gather.ts";
import { type RepairAction, Repairs, type SourceLines } from "./repair-report.ts";
import { contentText, MessageList, type MessageTarget, madeOfPieces } from "./targets/target.ts";
import {
  FIRST_USER_TEXT,
  isBlank,
  LAST_USER_TEXT,
  sendableText,
  UNCERTAIN_RESULT,
} from "./wire-text.ts";

/**
 * The user's message at the end. Undefined or blank: only when needed. Null: none; the caller
 * adds it.
 */
export type Prompt = string | null | undefined;

export interface AssembledRequest<Message> {
  readonly messages: Message[];
  /** The system prompt; null when the session has none. */
  readonly system: string | null;
  /** The tools called in the messages, by their names there, sorted. */
  readonly tools: readonly string[];
  readonly made: readonly SourceLines[];
  readonly madeSystem: SourceLines | null;
  readonly actions: readonly RepairAction[];
}

/** How far the request was assembled before a gathered message: a cut. */
interface Cut {
  readonly index: number;
  readonly messages: number;
  readonly fitted: number;
  readonly settled: number;
  /** The last one that is not a system message; null at the beginning. */
  readonly last: NeutralMessage | null;
}

export class Assembly<Message> {
  readonly #target: MessageTarget<Message>;
  readonly #freezes: boolean;
  readonly #compactions: Compactions;
  readonly #list = new MessageList<Message>();
  readonly #fitRepairs = new Repairs();
  readonly #settleRepairs = new Repairs();
  readonly #tools = new Set<string>();
  #system: TextPiece[] = [];
  #cuts: Cut[] = [];
  #last: NeutralMessage | null = null;
  #needsFirstUser = false;
  /** How much was gathered at the last call. */
  #gathered = { messages: 0, lateAnswers: 0 };

  /**
   * `freezes`: the messages of a call are those of the next one, so callers must not change them.
   */
  constructor(target: MessageTarget<Message>, freezes = false) {
    this.#target = target;
    this.#freezes = freezes;
    this.#compactions = new Compactions(target.takes);
  }

  /** The request of everything gathered so far, always by the same gathering. */
  finish(
    { messages, lateAnswers }: Pick<Gathering, "messages" | "lateAnswers">,
    prompt: Prompt,
  ): AssembledRequest<Message> {
    let changed = Math.max(0, this.#gathered.messages - 1); // The last message may have grown.
    for (const index of lateAnswers.slice(this.#gathered.lateAnswers)) {
      changed = Math.min(changed, index);
    }
    this.#gathered = { messages: messages.length, lateAnswers: lateAnswers.length };
    const isMoved = this.#compactions.read(messages, changed);
    const first = this.#continueAt(isMoved ? -1 : changed, messages);
    const list = this.#list;
    const keptMessages = list.messages.length;
    this.#addAll(messages, first);
    const ending = new Repairs();
    if (this.#needsFirstUser) ending.add(null, "first_user_message");
    const lastUser = lastUserMessage(this.#last, prompt);
    if (lastUser) {
      ending.add(null, "last_user_message");
      this.#target.build([lastUser], list);
    }
    if (this.#freezes) freezeDeep(list.messages.slice(keptMessages));
    const system = this.#system;
    return {
      messages: list.messages.slice(),
      system: system.length === 0 ? null : contentText(system),
      tools: [...this.#tools].sort(),
      made: list.made.slice(),
      madeSystem: system.length === 0 ? null : madeOfPieces(system),
      actions: this.#compactions.actions.concat(
        this.#fitRepairs.actions,
        this.#settleRepairs.actions,
        ending.actions,
      ),
    };
  }

  /** Goes back to the last cut up to an index, or the beginning; returns the message to add next. */
  #continueAt(index: number, messages: readonly NeutralMessage[]): number {
    while ((this.#cuts.at(-1)?.index ?? -1) > index) this.#cuts.pop();
    const { start } = this.#compactions;
    const cut = this.#cuts.pop() ?? {
      index: start,
      messages: 0,
      fitted: 0,
      settled: 0,
      last: null,
    };
    this.#list.cutTo(cut.messages);
    this.#fitRepairs.cutTo(cut.fitted);
    this.#settleRepairs.cutTo(cut.settled);
    this.#last = cut.last;
    if (cut.last) return cut.index;
    this.#tools.clear();
    this.#needsFirstUser = false;
    this.#system = [];
    for (let at = 0; at < start; at++) {
      const message = messages[at];
      if (message?.role !== "system") break;
      this.#addSystem(message.content); // A summary does not replace it.
    }
    return cut.index;
  }

  #addAll(messages: readonly NeutralMessage[], first: number): void {
    let run: NeutralMessage[] = [];
    for (let index = first; index < messages.length; index++) {
      const message = this.#compactions.messageAt(messages, index);
      const before = run.at(-1);
      if (before && !mayJoin(before, message)) {
        this.#add(run, index - run.length);
        run = [];
      }
      run.push(message);
    }
    if (run.length > 0) this.#add(run, messages.length - run.length);
  }

  /** Adds messages, of which the first does not depend on those before it. */
  #add(run: readonly NeutralMessage[], index: number): void {
    const { takes, build } = this.#target;
    const isBegun = this.#last !== null;
    const cut: Cut = {
      index,
      messages: this.#list.messages.length,
      fitted: this.#fitRepairs.actions.length,
      settled: this.#settleRepairs.actions.length,
      last: this.#last,
    };
    const { system, messages } = fitTo(run, isBegun, takes, this.#fitRepairs);
    this.#addSystem(system);
    const settled = messages.map((message) => withResults(message, this.#settleRepairs));
    const [first] = settled;
    if (!first) return;
    this.#last = settled.findLast(({ role }) => role !== "system") ?? this.#last;
    for (const message of settled) {
      if (message.role !== "assistant") continue;
      for (const { tool } of callsIn(message)) this.#tools.add(tool);
    }
    if (!isBegun && first.role === "assistant" && !beginsCompacted(first)) {
      this.#needsFirstUser = true;
      settled.unshift(userSays(FIRST_USER_TEXT));
    }
    const { joins } = this.#list;
    build(settled, this.#list);
    if (isBegun && this.#list.joins === joins) this.#cuts.push(cut);
  }

  #addSystem(pieces: readonly TextPiece[]): void {
    for (const piece of pieces) this.#system.push(piece);
  }
}

/** Whether a target may read two messages in a row as one, or change one for the other (fit.ts). */
function mayJoin(before: NeutralMessage, { role }: NeutralMessage): boolean {
  return role === "assistant" && before.role === "assistant" && callsIn(before).length === 0;
}

function lastUserMessage(last: NeutralMessage | null, prompt: Prompt): UserMessage | null {
  if (typeof prompt === "string" && !isBlank(prompt)) return userSays(sendableText(prompt));
  const isUsersTurn = !last || (last.role === "assistant" && callsIn(last).length === 0);
  return prompt !== null && isUsersTurn ? userSays(LAST_USER_TEXT) : null;
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

/** Everything in a value. Does not recurse: an input can be nested deep. */
export function freezeDeep(value: object): void {
  const rest = [value];
  for (let next = rest.pop(); next; next = rest.pop()) {
    if (Object.isFrozen(next)) continue;
    Object.freeze(next);
    for (const inner of Object.values(next)) {
      if (typeof inner === "object" && inner !== null) rest.push(inner);
    }
  }
}
