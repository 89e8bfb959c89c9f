/**
 * Usage facts: a session's usage by day and model, folded from its entries one at a time.
 *
 * It can be saved at any entry and continued later with the same result (UF1), since it adds only
 * whole numbers and its state has all it remembers.
 *
 * UF1  Folding a session in pieces gives the same as folding it at once. For that, money is counted
 *      in billionths of a dollar.
 * - The sums are those of a summary (summary.ts): a message counts once, with the most it reported,
 *   as far as it is remembered; ends of turns count before messages; the totals in an end entry
 *   win, and the difference is counted at that entry.
 * UF3  A turn counts for the day and the model where the model first works in it; one in which it
 *      never does, where that turn ends.
 */

import type { Entry, Usage } from "../../model/entry.ts";
import { NO_TURNS, type TurnMark, type TurnState, Turns } from "../../model/turns.ts";
import { type CountedField, FIELDS, ID_CHARS_MAX, recorded, rememberLast } from "../usage-fold.ts";

/** Where a number was recorded: on messages, at ends of turns, or as what an end adds to these. */
export const SOURCES = { message: 0, turnEnd: 1, end: 2 } as const;

export const BILLION = 1e9;
/** No single answer costs more, and billionths of it are still exact. */
const SPEND_MAX = 1e6;

/** Sums, in the order of FIELDS; null where none was recorded. Spend is in billionths. */
type Sums = (number | null)[];

/** A row of usage. */
export interface UsageFact {
  /** "" when it has no time. */
  readonly day: string;
  /** "" when none was named. */
  readonly model: string;
  readonly source: number;
  turns: number;
  readonly sums: Sums;
}

export interface UsageState {
  /** By message id: what was counted. */
  readonly messages: readonly (readonly [string, Sums | null])[];
  /** By source: all there is. */
  readonly sums: readonly Sums[];
  /** Which numbers come from ends of turns: a bit for each field. */
  readonly turnFields: number;
  readonly turns: TurnState;
}

const NONE: Sums = FIELDS.map(() => null);
export const NO_USAGE: UsageState = {
  messages: [],
  sums: [NONE, NONE, NONE],
  turnFields: 0,
  turns: NO_TURNS,
};

export class UsageFold {
  readonly #messages: Map<string, Sums | null>;
  readonly #sums: Sums[];
  #turnFields: number;
  readonly #turns: Turns;
  #facts = new Map<string, UsageFact>();

  constructor({ messages, sums, turnFields, turns }: UsageState) {
    this.#messages = new Map(messages);
    this.#sums = sums.map((each) => [...each]);
    this.#turnFields = turnFields;
    this.#turns = new Turns(turns);
  }

  /** `day` and `model` apply at the entry, which need not name them itself. */
  add(entry: Entry, mark: TurnMark, day: string, model: string): void {
    if (this.#completesTurn(mark)) this.#fact(day, model, SOURCES.message).turns++;
    if (entry.kind === "end") this.#end(entry, day, model);
    else if (entry.kind !== "other") this.#goOn(entry, day, model);
  }

  /** Whether a turn counts here (UF3). */
  #completesTurn(mark: TurnMark): boolean {
    const { phase: before } = this.#turns.state;
    const begins = this.#turns.note(mark);
    if (before === "worked" || before === "over") return false;
    const { phase: now } = this.#turns.state;
    return (begins && before === "called") || now === "worked" || now === "over";
  }

  state(): UsageState {
    return {
      messages: [...this.#messages],
      sums: this.#sums.map((each) => [...each]),
      turnFields: this.#turnFields,
      turns: this.#turns.state,
    };
  }

  /** What was added since the last time: rows to be added to the stored ones. */
  take(): UsageFact[] {
    const facts = [...this.#facts.values()];
    this.#facts = new Map();
    return facts.filter(({ turns, sums }) => turns > 0 || sums.some((sum) => sum !== null));
  }

  #goOn({ kind, usage, messageId = "" }: Entry, day: string, model: string): void {
    const source = kind === "turn_end" ? SOURCES.turnEnd : SOURCES.message;
    const isNamed = kind === "message" && messageId !== "" && messageId.length <= ID_CHARS_MAX;
    const counted = isNamed ? this.#messages.get(messageId) : undefined;
    const now = usage === null ? null : countsOf(usage);
    const output = FIELDS.indexOf("outputTokens");
    const isLess = counted ? (now?.[output] ?? 0) < (counted[output] ?? 0) : false;
    const isMore = now !== null && !isLess;
    if (isNamed) rememberLast(this.#messages, messageId, isMore ? now : (counted ?? null));
    if (isMore) this.#count(day, model, source, now, counted ?? []);
  }

  #end({ usage }: Entry, day: string, model: string): void {
    if (usage === null) return;
    const said = countsOf(usage);
    const before = FIELDS.map((_, at) => (said[at] === null ? null : this.#total(at)));
    this.#count(day, model, SOURCES.end, said, before);
  }

  /** The whole session's total up to here. */
  #total(at: number): number {
    const source = (this.#turnFields >> at) & 1;
    return (this.#sums[source]?.[at] ?? 0) + (this.#sums[SOURCES.end]?.[at] ?? 0);
  }

  /** Adds the difference of `now` and `before`. */
  #count(day: string, model: string, source: number, now: Sums, before: Sums): void {
    const { sums } = this.#fact(day, model, source);
    const all = this.#sums[source] ?? [];
    for (const at of FIELDS.keys()) {
      const [value, counted] = [now[at] ?? null, before[at] ?? null];
      if (value === null && counted === null) continue;
      const more = (value ?? counted ?? 0) - (counted ?? 0);
      sums[at] = (sums[at] ?? 0) + more;
      all[at] = (all[at] ?? 0) + more;
      if (source === SOURCES.turnEnd) this.#turnFields |= 1 << at;
    }
  }

  #fact(day: string, model: string, source: number): UsageFact {
    const key = `${day}\n${source}\n${model}`;
    let fact = this.#facts.get(key);
    if (fact === undefined) {
      fact = { day, model, source, turns: 0, sums: [...NONE] };
      this.#facts.set(key, fact);
    }
    return fact;
  }
}

function countsOf(usage: Usage): Sums {
  return FIELDS.map((field) => countOf(usage, field));
}

function countOf(usage: Usage, field: CountedField): number | null {
  const value = recorded(usage, field);
  if (value === null) return null;
  if (field !== "spend") return Math.round(value);
  return Math.abs(value) <= SPEND_MAX ? Math.round(value * BILLION) : null;
}
