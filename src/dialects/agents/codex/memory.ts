/**
 * Memory: what a row of a rollout means after the rows before it.
 *
 * - Token counts are totals of the session so far; each entry gets what was added. A total that is
 *   repeated adds nothing. One that is smaller began again, and the last call's count is taken.
 * - The model is named where a turn begins, and is that of the answers and counts after it.
 * - What was said is an item and an event, in either order. The first of the two is the message and
 *   the other one `other`. Once a speaker has an item, no event of that speaker counts: so a rollout
 *   that has only events shows them all.
 * - What the model thought is an event and an item, too. An event without an item, or whose item has
 *   only the encrypted text, is part of that item, or of the answer after it.
 *
 * The state is JSON and bounded: texts beyond the limits are not compared.
 */

import type { Entry, Part, Usage } from "../../../core/model/entry.ts";
import type { LineMemory } from "../../facets/reading.ts";
import { blockPart } from "../../shared/entry-parts.ts";
import { getList, getObject } from "../../shared/fields.ts";
import { callCountsIn, spokenIn, thoughtIn } from "./decode.ts";
import { textsOf } from "./item.ts";

const TEXTS_MAX = 4;
const TEXT_CHARS_MAX = 65_536;
/** A summary of thinking has several parts, each with an event. */
const THOUGHTS_MAX = 16;

type Speaker = "user" | "assistant";

interface MemoryState {
  readonly model: string | null;
  readonly total: Usage | null;
  /** Speakers whose words are items. */
  readonly items: readonly Speaker[];
  /** Texts of events that were shown and whose item may follow, oldest first. */
  readonly shown: readonly string[];
  /** Thoughts of events that wait for an answer, and those of the last items. */
  readonly waitingThoughts?: readonly string[];
  readonly itemThoughts?: readonly string[];
  /** Thoughts that are part of an answer. */
  readonly givenThoughts?: readonly string[];
}

const EMPTY: MemoryState = { model: null, total: null, items: [], shown: [] };

export class RolloutMemory implements LineMemory {
  #model: string | null;
  #total: Usage | null;
  readonly #items: Set<Speaker>;
  readonly #shown: string[];
  #waitingThoughts: string[];
  readonly #itemThoughts: string[];
  readonly #givenThoughts: string[];

  constructor(state: unknown = EMPTY) {
    const { model, total, items, shown, ...thoughts } = state as MemoryState;
    this.#model = model;
    this.#total = total;
    this.#items = new Set(items);
    this.#shown = [...shown];
    this.#waitingThoughts = [...(thoughts.waitingThoughts ?? [])];
    this.#itemThoughts = [...(thoughts.itemThoughts ?? [])];
    this.#givenThoughts = [...(thoughts.givenThoughts ?? [])];
  }

  read<Read extends Entry>(entry: Read): Read {
    const thought = thoughtIn(entry.native);
    if (thought !== null) return this.#think(entry, thought);
    return this.#withThoughts(this.#readSaid(entry));
  }

  #readSaid<Read extends Entry>(entry: Read): Read {
    if (entry.kind === "turn_start") this.#model = entry.model ?? this.#model;
    if (entry.kind === "turn_end") return this.#count(entry);
    const spoken = spokenIn(entry.native);
    if (spoken !== null) return this.#event(entry, spoken);
    return entry.kind === "message" ? this.#message(entry) : entry;
  }

  state(): MemoryState {
    const [items, shown] = [[...this.#items], [...this.#shown]];
    return {
      model: this.#model,
      total: this.#total,
      items,
      shown,
      waitingThoughts: [...this.#waitingThoughts],
      itemThoughts: [...this.#itemThoughts],
      givenThoughts: [...this.#givenThoughts],
    };
  }

  #count<Read extends Entry>(entry: Read): Read {
    const counted = callCountsIn(getObject(entry.native, "payload"));
    if (counted === null) return entry;
    const { last, total } = counted;
    const before = this.#total;
    if (total !== null) this.#total = total;
    if (total !== null && before !== null && isSame(total, before)) {
      return { ...entry, kind: "other", usage: null };
    }
    const isMore = total !== null && before !== null && isAtLeast(total, before);
    const usage = isMore ? difference(total, before) : (last ?? total);
    return { ...entry, model: this.#model, usage };
  }

  #event<Read extends Entry>(entry: Read, text: string): Read {
    const role = entry.role as Speaker;
    if (this.#items.has(role)) return entry;
    remember(this.#shown, text, TEXTS_MAX);
    const images = getList(getObject(entry.native, "payload"), "images").filter(Boolean);
    const pictures = images.map((url) => blockPart({ type: "input_image", image_url: url }));
    const parts = [{ type: "text", text } as const, ...pictures];
    return this.#withModel({ ...entry, kind: "message", parts });
  }

  #message<Read extends Entry>(entry: Read): Read {
    const { role, saidBy, parts } = entry;
    if (saidBy || (role !== "user" && role !== "assistant")) return entry;
    if (parts.some(({ type }) => type === "text")) {
      this.#items.add(role);
      if (this.#takeShown(parts)) return { ...entry, kind: "other", parts: [] };
    }
    return this.#withModel(entry);
  }

  /** Whether an event with the same text was shown. */
  #takeShown(parts: readonly Part[]): boolean {
    if (this.#shown.length === 0) return false;
    const texts = textsOf(parts);
    const said = [...texts, texts.join("\n"), texts.join("")];
    const at = this.#shown.findIndex((text) => said.includes(text));
    if (at >= 0) this.#shown.splice(at, 1);
    return at >= 0;
  }

  /** A thought waits for its item or an answer; those for which there is no room are shown. */
  #think<Read extends Entry>(entry: Read, thought: string): Read {
    if (this.#itemThoughts.some((text) => text.includes(thought))) return entry;
    if (this.#waitingThoughts.length < THOUGHTS_MAX && thought.length <= TEXT_CHARS_MAX) {
      this.#waitingThoughts.push(thought);
      return entry;
    }
    const text = this.#takeWaiting(thought);
    remember(this.#givenThoughts, thought, THOUGHTS_MAX);
    return { ...entry, kind: "message", role: "assistant", parts: [{ type: "reasoning", text }] };
  }

  /** Puts thoughts that wait before what the model says; a turn that was aborted has only those. */
  #withThoughts<Read extends Entry>(entry: Read): Read {
    const isAnswer = entry.kind === "message" && entry.role === "assistant";
    const isAborted = entry.kind === "turn_end" && entry.stopReason !== undefined;
    if (!isAnswer && !isAborted) return entry;
    const [first] = entry.parts;
    const item = first?.type === "reasoning" ? first : null;
    const text = item === null ? this.#takeWaiting("") : this.#itemText(item.text);
    if (text === (item?.text ?? "")) return entry;
    const rest = item === null ? entry.parts : entry.parts.slice(1);
    const thought = { ...item, type: "reasoning", text } as const;
    const isNothing = text === "" && item?.withheld === undefined && rest.length === 0;
    if (isNothing) return { ...entry, kind: "other", parts: [] };
    return { ...entry, kind: "message", role: "assistant", parts: [thought, ...rest] };
  }

  /** What an item says that no answer before it has, and what waits if it says nothing itself. */
  #itemText(text: string): string {
    if (text === "") return this.#takeWaiting("");
    remember(this.#itemThoughts, text, TEXTS_MAX);
    this.#waitingThoughts = this.#waitingThoughts.filter((waiting) => !text.includes(waiting));
    const rest = this.#givenThoughts.reduce((left, given) => left.replace(given, ""), text);
    return this.#takeWaiting(rest === text ? text : rest.trim());
  }

  #takeWaiting(text: string): string {
    const waiting = this.#waitingThoughts;
    this.#waitingThoughts = [];
    for (const thought of waiting) remember(this.#givenThoughts, thought, THOUGHTS_MAX);
    return [...waiting, text].filter(Boolean).join("\n\n");
  }

  #withModel<Read extends Entry>(entry: Read): Read {
    const isUnnamed = entry.role === "assistant" && entry.model === null && this.#model !== null;
    return isUnnamed ? { ...entry, model: this.#model } : entry;
  }
}

/** Adds a text to the latest ones. */
function remember(texts: string[], text: string, most: number): void {
  if (text.length <= TEXT_CHARS_MAX) texts.push(text);
  texts.splice(0, texts.length - most);
}

const COUNTS = ["inputTokens", "outputTokens", "totalTokens"] as const;

function isSame(one: Usage, other: Usage): boolean {
  return COUNTS.every((count) => one[count] === other[count]);
}

function isAtLeast(one: Usage, other: Usage): boolean {
  return COUNTS.every((count) => (one[count] ?? 0) >= (other[count] ?? 0));
}

function difference(now: Usage, before: Usage): Usage {
  const added = (count: keyof Usage) => {
    const value = now[count];
    return value === null || value === undefined ? null : value - (before[count] ?? 0);
  };
  return {
    inputTokens: added("inputTokens"),
    outputTokens: added("outputTokens"),
    cacheReadTokens: Math.max(0, added("cacheReadTokens") ?? 0),
    cacheWriteTokens: Math.max(0, added("cacheWriteTokens") ?? 0),
    totalTokens: added("totalTokens"),
    spend: null,
  };
}
