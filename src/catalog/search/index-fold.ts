/**
 * Index fold: a session's entries, one at a time, into what the index keeps of them.
 *
 * Pure. Its state is JSON, so that a session that grew is gone on with where it was left.
 *
 * IX1  Every text that is kept is one line or well-formed and without NUL: SQLite gives back what it
 *      was given. However long the session, the state is bounded.
 */

import { oneLine } from "../../base/one-line.ts";
import type { Aside, Entry, Role } from "../../model/entry.ts";
import type { TurnMark } from "../../model/turns.ts";
import { searchableText } from "./searchable.ts";
import { NO_TOOLS, type ToolFact, ToolFold, type ToolState } from "./tool-facts.ts";
import { NO_USAGE, type UsageFact, UsageFold, type UsageState } from "./usage-facts.ts";
import { spelt } from "./words.ts";

const MODELS_MAX = 16;
const NAME_CHARS_MAX = 200;

/** An entry as the index has it. */
export interface IndexedEntry {
  readonly start: number;
  readonly role: Role | null;
  /** Its time, else the last one before it. */
  readonly at: string | null;
  readonly tools: readonly string[];
  /** What the words are taken from. */
  readonly text: string;
}

export interface FoldState {
  readonly at: string | null;
  /** rye: the directive that the events name. */
  readonly directive: string | null;
  readonly model: string;
  /** Those that were named, in the order of naming. */
  readonly models: readonly string[];
  readonly usage: UsageState;
  readonly tools: ToolState;
  /** What the dialect remembers of the lines, where it does (dialects/dialect.ts, LineMemory). */
  readonly memory?: unknown;
}

export const NOTHING_FOLDED: FoldState = {
  at: null,
  directive: null,
  model: "",
  models: [],
  usage: NO_USAGE,
  tools: NO_TOOLS,
};

/** What came in since the last time. */
export interface FoldedPiece {
  readonly entries: readonly IndexedEntry[];
  readonly usage: readonly UsageFact[];
  readonly tools: readonly ToolFact[];
  /** Characters of text in it. */
  readonly chars: number;
}

export class IndexFold {
  #at: string | null;
  #directive: string | null;
  #model: string;
  readonly #models: string[];
  readonly #usage: UsageFold;
  readonly #tools: ToolFold;
  #entries: IndexedEntry[] = [];
  #chars = 0;

  constructor({ at, directive, model, models, usage, tools }: FoldState = NOTHING_FOLDED) {
    this.#at = at;
    this.#directive = directive;
    this.#model = model;
    this.#models = [...models];
    this.#usage = new UsageFold(usage);
    this.#tools = new ToolFold(tools);
  }

  /** Characters of text that wait to be taken. */
  get chars(): number {
    return this.#chars;
  }

  /**
   * `aside`: why it is neither the user's word nor the answer to it; null when it is. `mark`: what it
   * is to the turns.
   */
  add(entry: Entry, start: number, aside: Aside | null = null, mark: TurnMark = null): void {
    this.#at = entry.at ?? this.#at;
    const model = this.#modelOf(entry, aside);
    if (aside === null) this.#model = model;
    const { directive } = entry.native;
    if (typeof directive === "string") this.#directive ??= oneLine(directive, NAME_CHARS_MAX);
    const day = this.#at?.slice(0, 10) ?? "";
    this.#usage.add(entry, mark, day, model);
    const tools = this.#tools.add(entry, day, this.#at, start);
    const text = spelt(searchableText(entry));
    if (text === "" && tools.length === 0) return;
    const role = entry.saidBy === undefined ? entry.role : null; // `role:user` means people.
    this.#entries.push({ start, role, at: this.#at, tools, text });
    this.#chars += text.length;
  }

  state(): FoldState {
    return {
      at: this.#at,
      directive: this.#directive,
      model: this.#model,
      models: [...this.#models],
      usage: this.#usage.state(),
      tools: this.#tools.state(),
    };
  }

  take(): FoldedPiece {
    const piece = {
      entries: this.#entries,
      usage: this.#usage.take(),
      tools: this.#tools.take(),
      chars: this.#chars,
    };
    this.#entries = [];
    this.#chars = 0;
    return piece;
  }

  /** The one that the entry names, else the last of the conversation; a program is no model. */
  #modelOf({ model: named }: Entry, aside: Aside | null): string {
    if (named === null || aside === "program") return this.#model;
    const model = oneLine(named, NAME_CHARS_MAX);
    const isNew = !this.#models.includes(model) && this.#models.length < MODELS_MAX;
    if (isNew) this.#models.push(model);
    return model;
  }
}
