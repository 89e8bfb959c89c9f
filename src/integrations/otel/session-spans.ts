/**
 * Session spans: a session's entries, one at a time, as spans of OpenTelemetry's GenAI conventions.
 *
 *   invoke_agent <agent>     the session, from its first entry to its end
 *     turn <n>               one round trip to a model
 *       chat <model>         input and output of the model
 *       execute_tool <tool>  from a call to its result
 *
 * Pure: entries in, finished spans out. A turn begins where the log says so; where it does not, with
 * each new message of the model. A session that continues after its end has another session span, in
 * the same trace.
 *
 * OS1  The conversation is exported only on request (`content`): no prompt, no answer, no tool's
 *      input, output or error text. Names of models, agents and tools, ids, counts and times are.
 * - Each span is returned once, when the entry that ends it is known. Open ones are returned by
 *   `finish`, and marked.
 * - Memory is bounded, however long the session (core/model/pairing.ts, CP3; message-repeats.ts, SA2).
 * - What cannot be exported is counted: `report`.
 */

import type { Entry, Part } from "../../core/model/entry.ts";
import { CallPairing, opensTurn } from "../../core/model/pairing.ts";
import { RepeatDetector } from "../../sessions/search/message-repeats.ts";
import { MessageCollector, valueText } from "./content.ts";
import type { CallFacts, ChatFacts, RunFacts, TurnFacts } from "./span.ts";
import { nsOf, type SpannedSession, spanIdOf, type TraceSpan, traceIdOf } from "./span.ts";
import { type Attributing, boundedName, chatOf, sessionOf, toolOf, turnOf } from "./span-shapes.ts";

/** An entry and its position. */
export interface TracedEntry extends Entry {
  readonly start: number;
  readonly end: number;
}

export interface SpansOptions {
  readonly session: SpannedSession;
  readonly agent: string | null;
  /** Include the conversation. */
  readonly content: boolean;
  /** Entries that are not part of the conversation: another agent's, or the program's own text. */
  readonly isAside: (entry: Entry) => boolean;
  /** Whether the model's provider ran a call of the entry. */
  readonly isHosted: (entry: Entry, callId: string | null) => boolean;
}

export interface SpansReport {
  /** Spans without any time in them or before them, which cannot be exported. */
  readonly untimed: number;
  /** Results that answer no call. */
  readonly strayResults: number;
  /** Entries of other agents in the same log. */
  readonly asides: number;
}

const LINKS_MAX = 128;

export class SessionSpans {
  readonly #options: SpansOptions;
  readonly #shape: Attributing;
  readonly #traceId: string;
  #run: RunFacts | null = null;
  #turn: TurnFacts | null = null;
  #calls = new CallPairing<CallFacts>();
  readonly #again = new RepeatDetector();
  #input: MessageCollector | null;
  /** The latest time, and the latest at which the model had something to answer. */
  #nowNs: bigint | null = null;
  #askedNs: bigint | null = null;
  #done: TraceSpan[] = [];
  #completedAt: number | null = null;
  #untimed = 0;
  #strayResults = 0;
  #asides = 0;

  constructor(options: SpansOptions) {
    this.#options = options;
    this.#traceId = traceIdOf(options.session);
    this.#shape = { ...options, traceId: this.#traceId };
    this.#input = options.content ? new MessageCollector() : null;
  }

  get report(): SpansReport {
    return { untimed: this.#untimed, strayResults: this.#strayResults, asides: this.#asides };
  }

  /** Adds the next entry; returns the spans that it ends. */
  add(entry: TracedEntry): readonly TraceSpan[] {
    if (this.#options.isAside(entry)) {
      this.#asides++;
      return [];
    }
    this.#nowNs = nsOf(entry.at) ?? this.#nowNs;
    this.#completedAt = entry.end;
    if (entry.kind === "other") this.#linkChildren(entry.parts);
    else this.#take(entry);
    if (opensTurn(entry)) this.#calls.beginTurn();
    return this.#given();
  }

  /** The spans that are still open when nothing more is read. */
  finish(): readonly TraceSpan[] {
    this.#completedAt = null;
    this.#closeTurn();
    for (const { at: call } of this.#calls.open()) {
      this.#push(toolOf(this.#shape, call, { endNs: this.#nowNs, unfinished: true }));
    }
    if (this.#run) this.#push(sessionOf(this.#shape, this.#run, this.#nowNs, null));
    this.#run = null;
    return this.#given();
  }

  #take(entry: TracedEntry): void {
    const run = this.#run ?? this.#begin(entry);
    run.startNs ??= this.#nowNs;
    run.model = entry.model ?? run.model;
    switch (entry.kind) {
      case "turn_start":
        this.#closeTurn();
        this.#openTurn(run, entry, true);
        break;
      case "turn_end":
        this.#endTurn(entry);
        break;
      case "end":
        this.#end(run, entry);
        break;
      case "message":
        this.#message(run, entry);
        break;
    }
    if (this.#turn) this.#turn.endNs = this.#nowNs;
  }

  #begin({ start, model }: TracedEntry): RunFacts {
    this.#run = {
      spanId: spanIdOf(this.#traceId, "session", start),
      offset: start,
      startNs: this.#nowNs,
      turns: 0,
      model,
      links: [],
    };
    return this.#run;
  }

  #openTurn(run: RunFacts, { start }: TracedEntry, isMarked: boolean): TurnFacts {
    run.turns++;
    this.#turn = {
      spanId: spanIdOf(this.#traceId, "turn", start),
      offset: start,
      number: run.turns,
      isMarked,
      startNs: isMarked ? this.#nowNs : (this.#askedNs ?? this.#nowNs),
      endNs: this.#nowNs,
      chat: null,
      links: [],
    };
    return this.#turn;
  }

  #message(run: RunFacts, entry: TracedEntry): void {
    const { role, parts } = entry;
    this.#again.beginEntry(entry);
    if (role === "assistant") {
      this.#say(this.#turnFor(run, entry), entry);
    } else if (role === "user" && this.#turn?.chat && !this.#turn.isMarked) {
      const isAnswer = parts.some(({ type }) => type === "tool_result");
      if (!isAnswer) this.#closeTurn();
    }
    for (const part of parts) if (part.type === "tool_result") this.#answer(part);
    this.#linkChildren(parts);
    if (role === "assistant") return;
    this.#askedNs = this.#nowNs;
    this.#input?.add(role, parts, entry.saidBy);
  }

  /** The turn that a message of the model belongs to. */
  #turnFor(run: RunFacts, entry: TracedEntry): TurnFacts {
    const turn = this.#turn;
    if (!turn) return this.#openTurn(run, entry, false);
    if (!turn.chat || !isAnother(turn.chat, entry)) return turn;
    if (turn.isMarked) {
      this.#closeChat(turn);
      return turn;
    }
    this.#closeTurn();
    return this.#openTurn(run, entry, false);
  }

  #say(turn: TurnFacts, entry: TracedEntry): void {
    const chat = turn.chat ?? this.#ask(turn, entry);
    chat.endNs = this.#nowNs;
    chat.model = entry.model ?? chat.model;
    chat.stopReason = entry.stopReason ?? chat.stopReason;
    chat.isPartial = entry.isPartial === true;
    // A message in several lines has the usage so far on each.
    const isMore = (entry.usage?.outputTokens ?? 0) >= (chat.usage?.outputTokens ?? 0);
    if (entry.usage && isMore) chat.usage = entry.usage;
    if (chat.messageId !== null && chat.messageId === entry.messageId) {
      chat.output?.addGrown("assistant", entry.parts);
    } else {
      chat.output?.add("assistant", entry.parts);
    }
    const said = entry.messageId === undefined ? {} : { messageId: entry.messageId };
    for (const [index, part] of entry.parts.entries()) {
      if (part.type !== "tool_call" || this.#again.takeCall(part.callId)) continue;
      const facts: CallFacts = {
        spanId: spanIdOf(this.#traceId, "tool", entry.start, index),
        parentSpanId: turn.spanId,
        offset: entry.start,
        startNs: this.#nowNs,
        tool: boundedName(part.tool),
        callId: part.callId === null ? null : boundedName(part.callId),
        isHosted: this.#options.isHosted(entry, part.callId),
        input: this.#options.content ? valueText(part.input) : null,
      };
      this.#calls.addCall(part, facts, { ...said, entry: entry.start });
    }
  }

  #ask(turn: TurnFacts, { start, messageId }: TracedEntry): ChatFacts {
    const input = this.#input;
    this.#input = input ? new MessageCollector() : null;
    turn.chat = {
      offset: start,
      messageId: messageId ?? null,
      startNs: later(turn.startNs, this.#askedNs),
      endNs: this.#nowNs,
      askedModel: this.#run?.model ?? null,
      model: null,
      stopReason: null,
      usage: null,
      isPartial: false,
      isAnswered: false,
      input,
      output: input ? new MessageCollector() : null,
    };
    return turn.chat;
  }

  #answer(part: Extract<Part, { type: "tool_result" }>): void {
    if (this.#turn?.chat) this.#turn.chat.isAnswered = true;
    if (this.#again.takeResult(part.callId)) return;
    const { call } = this.#calls.answer(part.callId);
    if (!call) {
      this.#strayResults++;
      return;
    }
    this.#again.answered(part.callId);
    this.#push(toolOf(this.#shape, call.at, { endNs: this.#nowNs, result: part }));
  }

  #endTurn({ usage, stopReason }: TracedEntry): void {
    const chat = this.#turn?.chat;
    if (this.#turn) this.#turn.endNs = this.#nowNs;
    if (chat) {
      chat.usage = usage ?? chat.usage;
      chat.stopReason = stopReason ?? chat.stopReason;
    }
    this.#closeTurn();
  }

  #end(run: RunFacts, entry: TracedEntry): void {
    this.#closeTurn();
    for (const { at: call } of this.#calls.open()) {
      this.#push(toolOf(this.#shape, call, { endNs: this.#nowNs }));
    }
    this.#calls = new CallPairing();
    this.#push(sessionOf(this.#shape, run, this.#nowNs, entry));
    this.#run = null;
    this.#askedNs = null;
  }

  #closeTurn(): void {
    const turn = this.#turn;
    if (!turn || !this.#run) return;
    this.#closeChat(turn);
    this.#push(turnOf(this.#shape, turn, this.#run.spanId, this.#completedAt === null));
    this.#turn = null;
  }

  #closeChat(turn: TurnFacts): void {
    const { chat } = turn;
    if (!chat) return;
    this.#push(chatOf(this.#shape, chat, turn.spanId, this.#completedAt === null));
    this.#askedNs = later(this.#askedNs, chat.endNs); // The next call begins after this answer.
    turn.chat = null;
  }

  #linkChildren(parts: readonly Part[]): void {
    const holder = this.#turn ?? this.#run;
    for (const part of parts) {
      if (part.type !== "child" || !holder || holder.links.length >= LINKS_MAX) continue;
      const traceId = traceIdOf({ dialect: this.#options.session.dialect, id: part.session });
      holder.links.push({ traceId, spanId: spanIdOf(traceId, "session", 0) });
    }
  }

  #push(span: Omit<TraceSpan, "completedAt"> | null): void {
    if (span) this.#done.push({ ...span, completedAt: this.#completedAt });
    else this.#untimed++;
  }

  #given(): readonly TraceSpan[] {
    const given = this.#done;
    if (given.length > 0) this.#done = [];
    return given;
  }
}

/** Whether this is another message of the model than the one before. */
function isAnother(chat: ChatFacts, { messageId }: Entry): boolean {
  if (messageId !== undefined && chat.messageId !== null) return messageId !== chat.messageId;
  return chat.isAnswered;
}

function later(a: bigint | null, b: bigint | null): bigint | null {
  if (a === null || b === null) return a ?? b;
  return a > b ? a : b;
}
