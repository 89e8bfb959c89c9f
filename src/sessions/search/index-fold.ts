/**
 * Index fold: turns a session's entries, one at a time, into what the index stores.
 *
 * Pure. Its state is JSON, so that indexing a session that grew continues where it stopped.
 *
 * - Every stored text is one line or well-formed and without NUL: SQLite returns exactly that. The
 *   state is bounded, however long the session.
 */

import { oneLine } from "../../core/base/one-line.ts";
import type { Aside, Entry, Role } from "../../core/model/entry.ts";
import { searchableText } from "./searchable.ts";
import { NO_TOOLS, type ToolFact, ToolFold, type ToolState } from "./tool-facts.ts";
import { spelt } from "./words.ts";

const MODELS_MAX = 16;
const NAME_CHARS_MAX = 200;

/** An entry in the index. */
export interface IndexedEntry {
  readonly start: number;
  readonly role: Role | null;
  /** Its time, else the last one before it. */
  readonly at: string | null;
  readonly tools: readonly string[];
  /** The text to index. */
  readonly text: string;
}

export interface FoldState {
  readonly at: string | null;
  /** The agent that the lines name. */
  readonly agent: string | null;
  readonly model: string;
  /** All models named, in order. */
  readonly models: readonly string[];
  readonly tools: ToolState;
  /** The dialect's memory of earlier lines, if it has one (dialects/dialect.ts, LineMemory). */
  readonly memory?: unknown;
}

export const NOTHING_FOLDED: FoldState = {
  at: null,
  agent: null,
  model: "",
  models: [],
  tools: NO_TOOLS,
};

/** What was added since the last time. */
export interface FoldedPiece {
  readonly entries: readonly IndexedEntry[];
  readonly tools: readonly ToolFact[];
  /** Characters of text in it. */
  readonly chars: number;
}

export class IndexFold {
  #at: string | null;
  #agent: string | null;
  #model: string;
  readonly #models: string[];
  readonly #tools: ToolFold;
  #entries: IndexedEntry[] = [];
  #chars = 0;

  constructor({ at, agent, model, models, tools }: FoldState = NOTHING_FOLDED) {
    this.#at = at;
    this.#agent = agent;
    this.#model = model;
    this.#models = [...models];
    this.#tools = new ToolFold(tools);
  }

  /** Characters of text not taken yet. */
  get chars(): number {
    return this.#chars;
  }

  /** `aside`: why it is not part of the conversation, or null. `agent`: the one that it names. */
  add(entry: Entry, start: number, aside: Aside | null = null, agent: string | null = null): void {
    this.#at = entry.at ?? this.#at;
    const model = this.#modelOf(entry, aside);
    if (aside === null) this.#model = model;
    if (agent !== null) this.#agent ??= oneLine(agent, NAME_CHARS_MAX);
    const day = this.#at?.slice(0, 10) ?? "";
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
      agent: this.#agent,
      model: this.#model,
      models: [...this.#models],
      tools: this.#tools.state(),
    };
  }

  take(): FoldedPiece {
    const piece = {
      entries: this.#entries,
      tools: this.#tools.take(),
      chars: this.#chars,
    };
    this.#entries = [];
    this.#chars = 0;
    return piece;
  }

  /** The entry's model, else the last of the conversation; a program is not a model. */
  #modelOf({ model: named }: Entry, aside: Aside | null): string {
    if (named === null || aside === "program") return this.#model;
    const model = oneLine(named, NAME_CHARS_MAX);
    const isNew = !this.#models.includes(model) && this.#models.length < MODELS_MAX;
    if (isNew) this.#models.push(model);
    return model;
  }
}
