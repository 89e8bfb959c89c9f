/**
 * Turns: a session as its reader sees it: each user message, with the cost of answering it.
 *
 * TU1  Usage at the end of a turn is counted, otherwise that on messages: once for each message,
 *      however many lines repeat it. The session's own sum is not counted again.
 */

import type { EntryItem } from "../../../src/client/session-shapes.ts";
import type { Usage } from "../../../src/model/entry.ts";
import { typedIn } from "../../../src/model/typed-text.ts";

const TITLE_CHARS_MAX = 160;

/** The facts kept of an entry: few, so that they can be kept for all. */
export interface TurnFact {
  readonly start: number;
  readonly end: number;
  readonly at: string | null;
  /** The user's message. */
  readonly prompt: string | null;
  readonly tokens: number | null;
  readonly spend: number | null;
  readonly isOfTurn: boolean;
  readonly messageId: string | null;
  readonly calls: number;
  readonly errors: number;
}

export interface Turn {
  readonly start: number;
  readonly at: string | null;
  readonly title: string | null;
  readonly tokens: number | null;
  readonly spend: number | null;
  readonly calls: number;
  readonly errors: number;
}

/** Null for an entry that is irrelevant to turns. */
export function factOf({ start, end, kind, role, at, entry }: EntryItem): TurnFact | null {
  if (entry === null) return null;
  const { parts, messageId } = entry;
  const isPrompt = kind === "message" && role === "user" && entry.saidBy === undefined;
  const typed = isPrompt ? typedIn(parts) : null;
  const usage = kind === "end" ? null : entry.usage;
  const calls = parts.filter(({ type }) => type === "tool_call").length;
  const results = parts.filter((part) => part.type === "tool_result" && part.error !== null);
  const prompt = typed?.slice(0, TITLE_CHARS_MAX) ?? null;
  if (prompt === null && usage === null && calls === 0 && results.length === 0) return null;
  const isOfTurn = kind === "turn_end";
  const used = { tokens: tokensOf(usage), spend: usage?.spend ?? null };
  const place = { start, end, at, prompt, isOfTurn, messageId: messageId ?? null };
  return { ...place, ...used, calls, errors: results.length };
}

function tokensOf(usage: Usage | null): number | null {
  if (usage === null) return null;
  const { totalTokens, inputTokens, outputTokens } = usage;
  if (totalTokens !== null) return totalTokens;
  if (inputTokens === null && outputTokens === null) return null;
  return (inputTokens ?? 0) + (outputTokens ?? 0);
}

/** The turns of ordered facts; what comes before the first prompt has no title. */
export function turnsOf(facts: readonly TurnFact[]): Turn[] {
  const groups: TurnFact[][] = [];
  for (const fact of facts) {
    const last = groups.at(-1);
    if (last === undefined || fact.prompt !== null) groups.push([fact]);
    else last.push(fact);
  }
  return groups.map(turnOf);
}

function turnOf(facts: readonly TurnFact[]): Turn {
  const ofTurns = facts.filter(({ isOfTurn, tokens }) => isOfTurn && tokens !== null);
  const byMessage = new Map<string | number, TurnFact>();
  for (const fact of facts) byMessage.set(fact.messageId ?? fact.start, fact);
  const counted = ofTurns.length > 0 ? ofTurns : [...byMessage.values()]; // TU1
  const [first] = facts;
  return {
    start: first?.start ?? 0,
    at: first?.at ?? null,
    title: first?.prompt ?? null,
    tokens: sumOf(counted.map(({ tokens }) => tokens)),
    spend: sumOf(counted.map(({ spend }) => spend)),
    calls: facts.reduce((sum, { calls }) => sum + calls, 0),
    errors: facts.reduce((sum, { errors }) => sum + errors, 0),
  };
}

function sumOf(numbers: readonly (number | null)[]): number | null {
  const known = numbers.filter((number) => number !== null);
  return known.length === 0 ? null : known.reduce((sum, number) => sum + number, 0);
}
