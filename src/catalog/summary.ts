/**
 * Summary: a listing's facts about a session, folded from its entries one at a time.
 *
 * Pure, in constant memory: a session of any length is read once, and nothing of it is kept.
 *
 * - Every text is one line without control characters or terminal escapes, so that a listing can
 *   print what an agent wrote; and SQLite returns it unchanged (no NUL, well-formed).
 * - Numbers have at most 15 significant digits, for the same reason: the catalog returns rows as
 *   JSON that SQLite writes, and it writes no more. Fresh and stored rows are equal.
 * - A message counts once, with the highest usage it reported: some programs write one message in
 *   several lines, each with the count so far (Claude Code). It is known by its id, among the last
 *   MESSAGES_REMEMBERED; one that is repeated later than that counts again.
 * - Entries aside from the conversation (`aside`) give no title and no model; their usage counts. A
 *   log with nothing but another agent's conversation is that agent's own: its title is the task it
 *   got from the agent that started it.
 * - Turns are counted like checkpoints count them, by the dialect's mark of each line (`mark`).
 */

import type { Mutable } from "../base/files.ts";
import { oneLine } from "../base/one-line.ts";
import type { Aside, Entry, Part, Usage } from "../model/entry.ts";
import type { SessionStatus, Summary } from "../model/summary.ts";
import { type TurnMark, Turns } from "../model/turns.ts";
import { typedText } from "../model/typed-text.ts";

/** The summary of a session that was not read. */
export const NOTHING_KNOWN: Summary = {
  title: null,
  agent: null,
  model: null,
  status: null,
  turns: 0,
  inputTokens: null,
  outputTokens: null,
  totalTokens: null,
  spend: null,
  createdAt: null,
  updatedAt: null,
  durationMs: null,
  parent: null,
  project: null,
  branch: null,
  lines: 0,
  badLines: 0,
};

/** Facts that the entries do not have: the agent, and the status while there is no end. */
export interface SummaryFacts {
  readonly agent: string | null;
  readonly status?: SessionStatus | null;
  readonly parent?: string | null;
}

/** What lines say about the whole session (dialects/agent-program.ts, `About`). */
export interface LearnedFacts {
  readonly title?: string;
  readonly chosenTitle?: string;
  readonly summary?: string;
  readonly cwd?: string;
  readonly branch?: string;
  readonly parent?: string;
  readonly createdAt?: string;
  readonly updatedAt?: string;
}

/** Messages whose usage is remembered. Lines of one message are close together. */
export const MESSAGES_REMEMBERED = 128;

/** Longer ids do not occur, and are not remembered: a line may hold 16 MiB. */
export const ID_CHARS_MAX = 256;

/** The longest title, agent or model, in characters. */
export const SUMMARY_TEXT_MAX = 200;

/**
 * Folds a session's entries, in order, into a summary.
 *
 * @example
 * const fold = new SummaryFold();
 * for await (const entry of session.entries()) {
 *   fold.add(entry, null, session.dialect.signing.turnMark(entry.native, session.id));
 * }
 * fold.summary({ agent: "cook" });
 */
export class SummaryFold {
  #title: string | null = null;
  /** What names the session if there is no other prompt: a bare command, an agent's task. */
  #command: string | null = null;
  #task: string | null = null;
  readonly #about: Mutable<LearnedFacts> = {};
  #model: string | null = null;
  /** Of another agent's conversation; used when there is no other. */
  #agents: { title: string | null; model: string | null } = { title: null, model: null };
  #hasOwn = false;
  #outcome: "completed" | "error" | null = null;
  readonly #turns = new Turns();
  #createdAt: string | null = null;
  #updatedAt: string | null = null;
  #lines = 0;
  #badLines = 0;
  /** The totals in the last end entry, and what was used before and after it. */
  #endUsage: Usage | null = null;
  readonly #used = new TurnUsage();
  #usedSinceEnd = new TurnUsage();
  /** What was counted for each, as far as they are remembered. */
  readonly #messages = new Map<string, Usage | null>();

  /**
   * `aside`: why it is not part of the conversation, or null. `mark`: its role in the turns
   *.
   */
  add(entry: Entry, aside: Aside | null = null, mark: TurnMark = null): void {
    this.#lines++;
    this.#turns.note(mark);
    if (entry.at !== null) {
      this.#createdAt ??= entry.at;
      this.#updatedAt = entry.at;
    }
    if (aside === "other_agent") this.#addAgents(entry);
    else if (entry.kind === "message") this.#hasOwn = true;
    if (entry.model !== null && aside === null) this.#model = entry.model;
    if (entry.kind === "end") this.#end(entry);
    else if (entry.kind !== "other") this.#goOn(entry, aside === null);
  }

  #addAgents({ kind, role, saidBy, parts, model }: Entry): void {
    if (model !== null) this.#agents.model = model;
    const isAsked = kind === "message" && role === "user" && saidBy === "agent";
    if (isAsked) this.#agents.title ??= titleOf(parts);
  }

  /** What a line says about the whole session: the first directory, the last of all else. */
  learn(learned: LearnedFacts): void {
    const { title, chosenTitle, summary, cwd, branch, parent, createdAt, updatedAt } = learned;
    const about = this.#about;
    if (createdAt) about.createdAt = createdAt;
    if (updatedAt) about.updatedAt = updatedAt;
    if (title) about.title = title;
    if (chosenTitle) about.chosenTitle = chosenTitle;
    if (summary && this.#hasOwn) about.summary = summary;
    if (cwd) about.cwd ??= cwd;
    if (branch) about.branch = branch;
    if (parent) about.parent = parent;
  }

  /** A line that is not an entry. */
  addBadLine(): void {
    this.#lines++;
    this.#badLines++;
  }

  summary({ agent, status = null, parent = null }: SummaryFacts): Summary {
    const { title, model } = this.#hasOwn ? { title: null, model: null } : this.#agents;
    const named = this.#model ?? model;
    const about = this.#about;
    const createdAt = this.#createdAt ?? about.createdAt ?? null;
    const updatedAt = this.#updatedAt ?? about.updatedAt ?? null;
    return {
      title: this.#saidTitle() ?? this.#title ?? this.#command ?? this.#task ?? title,
      agent: agent === null ? null : lineOf(agent),
      model: named === null ? null : lineOf(named),
      status: this.#outcome ?? status,
      turns: this.#turns.count,
      inputTokens: this.#total("inputTokens"),
      outputTokens: this.#total("outputTokens"),
      totalTokens: this.#total("totalTokens"),
      spend: this.#total("spend"),
      createdAt,
      updatedAt,
      durationMs: durationMs(createdAt, updatedAt),
      parent: lineOf(parent ?? about.parent ?? ""),
      project: lineOf(about.cwd ?? ""),
      branch: lineOf(about.branch ?? ""),
      lines: this.#lines,
      badLines: this.#badLines,
    };
  }

  /** The program's own title, without mark-up. */
  #saidTitle(): string | null {
    const { chosenTitle, title, summary } = this.#about;
    for (const said of [chosenTitle, title, summary]) {
      const line = lineOf(typedText(said ?? "") ?? "");
      if (line !== null) return line;
    }
    return null;
  }

  #end({ outcome, usage }: Entry): void {
    this.#outcome = outcome;
    if (usage === null) return;
    this.#endUsage = usage;
    this.#usedSinceEnd = new TurnUsage();
  }

  #goOn(entry: Entry, isSaid: boolean): void {
    const { kind, role, parts, usage, messageId = "" } = entry;
    this.#outcome = null; // The session continued after its end.
    const isNamed = kind === "message" && messageId !== "" && messageId.length <= ID_CHARS_MAX;
    const counted = isNamed ? this.#messages.get(messageId) : undefined;
    if (kind === "message" && isSaid && role === "user") this.#name(parts, entry.saidBy);
    const isLess = counted ? (usage?.outputTokens ?? 0) < (counted.outputTokens ?? 0) : false;
    const isMore = usage !== null && !isLess;
    if (isNamed) rememberLast(this.#messages, messageId, isMore ? usage : (counted ?? null));
    if (!isMore) return;
    this.#used.add(kind, usage, counted ?? null);
    if (this.#endUsage !== null) this.#usedSinceEnd.add(kind, usage, counted ?? null);
  }

  /** Takes a prompt as the title, unless there is one. */
  #name(parts: readonly Part[], saidBy: Entry["saidBy"]): void {
    if (saidBy === "agent") this.#task ??= titleOf(parts);
    if (saidBy || this.#title !== null) return;
    const prompt = titleOf(parts);
    if (isBareCommand(prompt)) this.#command ??= prompt;
    else this.#title = prompt;
  }

  #total(field: CountedField): number | null {
    const atEnd = this.#endUsage === null ? null : recorded(this.#endUsage, field);
    if (atEnd === null) return rounded(this.#used.total(field));
    return rounded(atEnd + (this.#usedSinceEnd.total(field) ?? 0));
  }
}

/**
 * Usage of turns. Some dialects record it where a turn ends, some on its messages, some on both:
 * the ends count if they have any, so that nothing is counted twice.
 */
class TurnUsage {
  readonly #atTurnEnds = noSums();
  readonly #onMessages = noSums();

  /** `counted` is what was counted before for the same message. */
  add(kind: Entry["kind"], usage: Usage, counted: Usage | null): void {
    const sums = kind === "turn_end" ? this.#atTurnEnds : this.#onMessages;
    for (const field of FIELDS) {
      const value = recorded(usage, field);
      const before = counted === null ? null : recorded(counted, field);
      if (value === null && before === null) continue;
      sums[field] = (sums[field] ?? 0) + (value ?? before ?? 0) - (before ?? 0);
    }
  }

  total(field: CountedField): number | null {
    return this.#atTurnEnds[field] ?? this.#onMessages[field];
  }
}

function noSums(): Record<CountedField, number | null> {
  return { inputTokens: null, outputTokens: null, totalTokens: null, spend: null };
}

/** Larger counts (NaN and Infinity included) and higher spends are not real. */
const COUNT_MAX = 1e15;
const AMOUNT_MIN = 1e-9;

export const FIELDS = ["inputTokens", "outputTokens", "totalTokens", "spend"] as const;

export type CountedField = (typeof FIELDS)[number];

/** One number of a usage; a missing total is the sum of its counts. */
export function recorded(usage: Usage, field: CountedField): number | null {
  const value = usage[field];
  if (value !== null) return Math.abs(value) <= COUNT_MAX ? value : null;
  if (field !== "totalTokens") return null;
  const input = recorded(usage, "inputTokens");
  const output = recorded(usage, "outputTokens");
  if (input === null || output === null) return null;
  return input + output + (usage.cacheWriteTokens ?? 0) + (usage.cacheReadTokens ?? 0);
}

/** Remembers what was counted for a message, as the latest one; the oldest is forgotten. */
export function rememberLast<Value>(messages: Map<string, Value>, id: string, value: Value): void {
  if (messages.has(id)) messages.delete(id);
  messages.set(id, value);
  if (messages.size <= MESSAGES_REMEMBERED) return;
  const oldest = messages.keys().next();
  if (!oldest.done) messages.delete(oldest.value);
}

function rounded(value: number | null): number | null {
  if (value === null) return null;
  return Math.abs(value) < AMOUNT_MIN ? 0 : Number(value.toPrecision(15));
}

/** Null when a clock was set back in between. */
function durationMs(from: string | null, to: string | null): number | null {
  const ms = from === null || to === null ? Number.NaN : Date.parse(to) - Date.parse(from);
  return ms >= 0 ? ms : null;
}

function titleOf(parts: readonly Part[]): string | null {
  for (const part of parts) {
    const typed = part.type === "text" ? typedText(part.text) : null;
    const text = typed === null ? null : lineOf(typed);
    if (text !== null) return text;
  }
  return null;
}

/** `/clear` says nothing about what follows. */
function isBareCommand(prompt: string | null): boolean {
  return prompt !== null && /^\/[\w:.-]+$/.test(prompt);
}

/** A text as one printable line of at most SUMMARY_TEXT_MAX characters; null when none is left. */
function lineOf(text: string): string | null {
  return oneLine(text, SUMMARY_TEXT_MAX) || null;
}
