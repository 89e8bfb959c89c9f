/**
 * Conversations: which session a request to a model belongs to. Pure: no session, no clock.
 *
 * A request carries all messages so far. The longest beginning that is known decides:
 *
 *     it ends where a conversation ended    the request continues it; again the same: a retry
 *     it ends earlier                       a fork, with a copy of what came before
 *     nothing is known                      a new conversation
 *
 * - A session header, where a program sends one, keeps conversations apart; the first with tools is
 *   the program's session, and others are linked to it.
 * - A call without the tools of the conversation that it continues, with another model, prompt or
 *   shape of answer, is a side call, linked to it: titles, checks.
 * - A request that has an earlier answer of the same conversation in its first messages replaces
 *   what came before by that summary, and continues the session.
 * - Thoughts and reminders of programs do not count: programs leave them out, and change them.
 */

import { createHash } from "node:crypto";
import type { Part } from "../../core/model/entry.ts";
import { isCounted, type Message, type ModelRequest } from "./provider-api.ts";
import { RawPieces } from "./raw.ts";

export interface Conversation {
  /** The session's id; null until it has one. */
  id: string | null;
  readonly parent: Conversation | null;
  readonly group: string;
  /** The mark of each beginning of its messages, as far as it is known. */
  marks: string[];
  /** What the model said to its last request; null: nothing came. */
  answer: { readonly parts: readonly Part[]; readonly isWhole: boolean } | null;
  responseId: string | null;
  openCalls: number;
  /** How often its last request was sent. */
  attempt: number;
  model: string | null;
  /** The marks of its last system prompts: a program may summarise with another one. */
  readonly systems: string[];
  tools: string;
  hasTools: boolean;
  /** The last words of the user. */
  prompt: string;
  /** Texts of the last answers, which may come back as a summary. */
  readonly texts: string[];
  raw: RawPieces;
}

export type Relation = "new" | "continued" | "retry" | "fork" | "side" | "compacted";

export interface Placement {
  readonly relation: Relation;
  readonly conversation: Conversation;
  /** The first message that the session does not have. */
  readonly from: number;
  /** Index of the summary of a compacted history. */
  readonly summary: number | null;
  readonly isNewSystem: boolean;
  readonly hasNewTools: boolean;
}

/** What decides, before anything is changed. */
type Choice = Pick<Placement, "relation" | "from"> & {
  readonly of: Conversation | null;
  readonly summary?: number;
};

const CONVERSATIONS_MAX = 1000;
/** Of systems and texts. */
const REMEMBERED_MAX = 4;
/** Shorter texts are in many messages. */
const SUMMARY_CHARS_MIN = 40;
const PROMPT_CHARS_MIN = 12;
/** A summary is in one of the first messages. */
const SUMMARY_MESSAGES = 3;

export class Conversations {
  readonly #byMark = new Map<string, Conversation[]>();
  readonly #byResponse = new Map<string, Conversation>();
  /** In the order of their last request. */
  readonly #all = new Set<Conversation>();
  /** The program's own session, by header. */
  readonly #mains = new Map<string, Conversation>();

  /** The program's own session by header; null: not met yet. */
  mainOf(group: string): Conversation | null {
    return this.#mains.get(group) ?? null;
  }

  /** Takes a request; the conversation has it from now on. `group`: "" without a header. */
  place(request: ModelRequest, group: string): Placement {
    const marks = marksOf(request, group);
    const { relation, of, from, summary = null } = this.#choose(request, group, marks);
    const isSame = of !== null && ["continued", "retry", "compacted"].includes(relation);
    const main = this.#mains.get(group) ?? null;
    const conversation = isSame ? of : newConversation(group, of ?? main);
    if (main === null && group !== "" && request.tools.length > 0) {
      this.#mains.set(group, conversation);
    }
    const [system, tools] = [systemMark(request), markOf(request.tools)];
    const isNewSystem = conversation.systems.at(-1) !== system && request.system.length > 0;
    const hasNewTools = conversation.tools !== tools && request.tools.length > 0;
    if (isNewSystem) push(conversation.systems, system);
    if (hasNewTools) conversation.tools = tools;
    conversation.prompt = textOf(
      request.messages.findLast(({ role }) => role === "user")?.parts.slice(-1) ?? [],
    );
    conversation.hasTools ||= request.tools.length > 0;
    conversation.model = request.model;
    conversation.answer = null;
    conversation.openCalls++;
    conversation.attempt = relation === "retry" ? conversation.attempt + 1 : 1;
    this.#learn(conversation, marks, relation === "side");
    return { relation, conversation, from, summary, isNewSystem, hasNewTools };
  }

  /** What came to the last request of a conversation. */
  answered(conversation: Conversation, answer: Conversation["answer"], id: string | null): void {
    conversation.openCalls--;
    conversation.answer = answer;
    conversation.responseId = id;
    if (id !== null) this.#byResponse.set(id, conversation);
    const text = summaryText(textOf(answer?.parts ?? []));
    if (text.length >= SUMMARY_CHARS_MIN) push(conversation.texts, text);
  }

  /** Adds one that a session has from an earlier run. */
  restore(conversation: Conversation, isMain: boolean): void {
    if (isMain) this.#mains.set(conversation.group, conversation);
    if (conversation.responseId !== null) {
      this.#byResponse.set(conversation.responseId, conversation);
    }
    this.#learn(conversation, conversation.marks, false);
  }

  /** Its session may lack the last append. */
  forget(conversation: Conversation): void {
    conversation.raw = new RawPieces();
    this.#all.delete(conversation);
    for (const mark of conversation.marks) {
      const left = (this.#byMark.get(mark) ?? []).filter((each) => each !== conversation);
      if (left.length > 0) this.#byMark.set(mark, left);
      else this.#byMark.delete(mark);
    }
    if (this.#mains.get(conversation.group) === conversation) {
      this.#mains.delete(conversation.group);
    }
    const { responseId } = conversation;
    if (responseId !== null) this.#byResponse.delete(responseId);
  }

  #choose(request: ModelRequest, group: string, marks: readonly string[]): Choice {
    const { messages, previousResponse } = request;
    const before = previousResponse === null ? undefined : this.#byResponse.get(previousResponse);
    if (before) {
      const isLast = before.responseId === previousResponse;
      return { relation: isLast ? "continued" : "fork", of: before, from: 0 };
    }
    for (let at = messages.length; at > 0; at--) {
      const candidates = this.#byMark.get(marks[at] ?? "") ?? [];
      const of = bestOf(candidates, marks[at] ?? "", messages.slice(at));
      if (of) return this.#related(request, of, marks, at);
    }
    return this.#summarised(request, group) ?? this.#mentioned(request, group);
  }

  /** A request of which the first `at` messages are those of a conversation. */
  #related(request: ModelRequest, of: Conversation, marks: readonly string[], at: number): Choice {
    const { messages } = request;
    const isTip = of.marks.at(-1) === marks[at];
    const echo = echoLength(of, messages.slice(at));
    if (isSideCall(request, of)) return { relation: "side", of, from: at + echo };
    const isAnswered = of.answer?.isWhole === true && of.answer.parts.length > 0;
    const isRepeated = at === messages.length;
    if (isTip && isRepeated && !isAnswered && of.openCalls === 0) {
      return { relation: "retry", of, from: at };
    }
    const isNext = !isAnswered || messages[at]?.role === "assistant";
    if (isTip && !isRepeated && isNext) return { relation: "continued", of, from: at + echo };
    // Without an answer in common it is another run with the same beginning.
    const isFork = messages.slice(0, at).some(({ role }) => role === "assistant");
    return { relation: isFork ? "fork" : "new", of: isFork ? of : null, from: 0 };
  }

  #summarised(request: ModelRequest, group: string): Choice | null {
    const system = systemMark(request);
    const texts = request.messages.slice(0, SUMMARY_MESSAGES).map(({ parts }) => textOf(parts));
    for (const each of [...this.#all].reverse()) {
      if (each.group !== group || each.texts.length === 0) continue;
      const of = each.parent !== null && !each.hasTools ? each.parent : each;
      const isSystem = group !== "" || of.systems.includes(system) || of.systems.length === 0;
      const isOwn = isSystem && of.hasTools === request.tools.length > 0;
      if (!isOwn || of.marks.length < 4) continue;
      const summary = texts.findIndex((text) => each.texts.some((answer) => text.includes(answer)));
      if (summary >= 0) return { relation: "compacted", of, from: 0, summary };
    }
    return null;
  }

  /** A new conversation, linked to the one whose words it repeats. */
  #mentioned({ messages, tools }: ModelRequest, group: string): Choice {
    const mayBeSide = group === "" && tools.length === 0;
    const text = mayBeSide ? messages.map(({ parts }) => textOf(parts)).join("\n") : "";
    const of = [...this.#all].reverse().find(({ hasTools, prompt }) => {
      return hasTools && prompt.length >= PROMPT_CHARS_MIN && text.includes(prompt);
    });
    return of ? { relation: "side", of, from: 0 } : { relation: "new", of: null, from: 0 };
  }

  #learn(conversation: Conversation, marks: string[], isPart: boolean): void {
    this.#all.delete(conversation);
    this.#all.add(conversation);
    // A side call has no beginning of its own.
    conversation.marks = marks;
    for (const mark of isPart ? marks.slice(-1) : marks.slice(1)) {
      if (mark === "") continue;
      const others = this.#byMark.get(mark) ?? [];
      if (!others.includes(conversation)) this.#byMark.set(mark, [...others, conversation]);
    }
    const [oldest] = this.#all;
    if (oldest && this.#all.size > CONVERSATIONS_MAX && oldest.openCalls === 0) this.forget(oldest);
  }
}

export function newConversation(group: string, parent: Conversation | null): Conversation {
  return {
    id: null,
    parent,
    group,
    marks: [],
    answer: null,
    responseId: null,
    openCalls: 0,
    attempt: 1,
    model: null,
    systems: [],
    tools: "",
    hasTools: false,
    prompt: "",
    texts: [],
    raw: new RawPieces(),
  };
}

/** The mark of each beginning; the first is that of no messages. */
function marksOf(request: ModelRequest, group: string): string[] {
  const { api, messages, previousResponse } = request;
  const marks = [markOf([api, group, previousResponse])];
  for (const { role, parts } of messages) {
    const counted = parts.filter(isCounted);
    const before = marks.at(-1) ?? "";
    marks.push(counted.length === 0 ? before : markOf([before, role, counted]));
  }
  return marks;
}

export function systemMark({ system }: Pick<ModelRequest, "system">): string {
  return markOf(system.filter(isCounted));
}

export function markOf(value: unknown): string {
  return createHash("sha256").update(JSON.stringify(value)).digest("base64url").slice(0, 16);
}

/** Two conversations may have the same messages; their answers differ. */
function bestOf(
  candidates: readonly Conversation[],
  mark: string,
  rest: readonly Message[],
): Conversation | undefined {
  const tips = candidates.filter(({ marks }) => marks.at(-1) === mark);
  const isMeant = (each: Conversation) =>
    rest.length === 0 ? each.answer === null && each.openCalls === 0 : echoLength(each, rest) > 0;
  return tips.find(isMeant) ?? tips.at(-1) ?? candidates[0];
}

/** How many messages repeat the answer that the session has. */
function echoLength({ answer }: Conversation, rest: readonly Message[]): number {
  if (answer === null) return 0;
  const content = contentOf(answer.parts);
  const parts: Part[] = [];
  for (const [at, message] of rest.entries()) {
    if (message.role !== "assistant") return 0;
    parts.push(...message.parts);
    if (contentOf(parts) === content && rest[at + 1]?.role !== "assistant") return at + 1;
  }
  return 0;
}

/** Words and calls: what a program sends back of an answer, whatever else it leaves out. */
function contentOf(parts: readonly Part[]): string {
  const calls = parts.flatMap((part) =>
    part.type === "tool_call" ? [[part.tool, part.input ?? null]] : [],
  );
  return JSON.stringify([textOf(parts).replaceAll(/\s+/g, ""), calls]);
}

function push(list: string[], text: string): void {
  list.push(text);
  if (list.length > REMEMBERED_MAX) list.shift();
}

function textOf(parts: readonly Part[]): string {
  return parts.flatMap((part) => (part.type === "text" ? [part.text] : [])).join("\n");
}

/** Claude Code marks the summary in its answer, and sends back what is between the marks. */
function summaryText(text: string): string {
  return (/<summary>([\s\S]*)<\/summary>/.exec(text)?.[1] ?? text).trim();
}

function isSideCall(request: ModelRequest, of: Conversation): boolean {
  if (request.tools.length > 0 || !of.hasTools) return false;
  const isSame = request.model === of.model && systemMark(request) === of.systems.at(-1);
  return request.isStructured || !isSame;
}
