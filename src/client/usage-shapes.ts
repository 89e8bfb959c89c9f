/** Usage shapes: what agents used and what it cost, over all sessions and in one. */

import {
  boolean,
  choice,
  count,
  described,
  list,
  number,
  type Of,
  object,
  offset,
  orNull,
  ref,
  string,
} from "./schema.ts";

const money = (description: string) => described(orNull(number), description);

const SUMS = {
  responses: described(count, "Responses of models, each once"),
  input: described(number, "Tokens that were neither read from nor written to a cache"),
  output: described(number, "With reasoning"),
  cacheWrite5m: described(number, "Written to a cache for five minutes or an unknown time"),
  cacheWrite1h: number,
  cacheRead: number,
  reasoning: described(number, "The part of `output` that is reasoning, where recorded"),
  total: described(number, "input + output + cacheWrite5m + cacheWrite1h + cacheRead"),
  cost: money("US dollars, of the models whose prices are known; null if none is"),
  unpriced: described(number, "Tokens of models whose price is not known; not in `cost`"),
  recorded: money("US dollars that agents recorded themselves; null if none did"),
  implausible: described(count, "Responses with a count that cannot be right"),
  unknownInputs: described(count, "Responses whose input was not recorded; not in `input`"),
};

export const COUNTED_SUMS = object(SUMS);
/** Tokens and cost of some responses. */
export interface CountedSums extends Of<typeof COUNTED_SUMS> {}

export const COUNTED_GROUP = object({
  name: described(string, "The day, agent, project or model; text as it was stored"),
  ...SUMS,
});
export interface CountedGroup extends Of<typeof COUNTED_GROUP> {}

export const COUNTED_SESSION = object({
  name: described(string, "What its program calls it"),
  ...SUMS,
  session: described(orNull(string), "Its id in this API; null if its log is gone"),
  title: described(orNull(string), "Its first prompt; null if not known yet"),
  agent: string,
  project: string,
  lastAt: described(orNull(string), "The time of its last response"),
});
/** A session with its subagents. */
export interface CountedSession extends Of<typeof COUNTED_SESSION> {}

export const COUNTED_PROMPT = object({
  text: described(string, "The beginning of what the user typed; escape it where it is shown"),
  ...SUMS,
  session: described(string, "The session's id in this API"),
  start: offset,
  at: orNull(string),
  agent: string,
  project: string,
  subagents: described(count, "Subagents that it started; they are in the sums"),
});
/** A prompt with all that answered it. */
export interface CountedPrompt extends Of<typeof COUNTED_PROMPT> {}

const SERIES = object({
  name: described(orNull(string), "Null: all other groups together"),
  groups: described(count, "How many groups it has"),
  cost: described(list(number), "For each of `days`"),
  total: described(list(number), "Tokens, for each of `days`"),
});
export interface UsageSeries extends Of<typeof SERIES> {}

const PRICED = object({
  model: string,
  table: described(orNull(string), "The table that was asked; null: none yet"),
  hash: described(orNull(string), "Of the list with the price; null: the price is not known"),
  at: described(orNull(string), "When it was decided"),
});
/** Where the price of a model is from. */
export interface PricedModel extends Of<typeof PRICED> {}

const PRICES = object({
  table: string,
  date: described(string, "The day of the table"),
  models: list<PricedModel>(PRICED),
});
export interface UsagePrices extends Of<typeof PRICES> {}

const CALENDAR_DAY = object({ day: string, cost: number, total: number });
export interface CalendarDay extends Of<typeof CALENDAR_DAY> {}

const COUNTING = object({ done: count, total: count });
/** Sessions that are counted, of all that changed. */
export interface UsageCounting extends Of<typeof COUNTING> {}

export const SERIES_GROUPS = ["agent", "project", "model"] as const;

export const USAGE_REPORT = object({
  zone: described(string, "The time zone of all days"),
  today: string,
  since: orNull(string),
  until: orNull(string),
  total: ref<CountedSums>("CountedSums"),
  days: described(
    list(ref<CountedGroup>("CountedGroup")),
    "Every day of the range up to today, also those without usage",
  ),
  outside: described(
    ref<CountedSums>("CountedSums"),
    "Part of `total` on none of `days`: without a time, in the future, or too long ago",
  ),
  agents: list(ref<CountedGroup>("CountedGroup")),
  projects: list(ref<CountedGroup>("CountedGroup")),
  models: list(ref<CountedGroup>("CountedGroup")),
  by: described(choice(SERIES_GROUPS), "What `series` are"),
  series: described(
    list<UsageSeries>(SERIES),
    "The largest groups for each day; the last may be all others",
  ),
  calendar: described(
    list<CalendarDay>(CALENDAR_DAY),
    "The days with usage of the last year, whatever range",
  ),
  sessions: described(list(ref<CountedSession>("CountedSession")), "The most expensive first"),
  prompts: described(list(ref<CountedPrompt>("CountedPrompt")), "The most expensive first"),
  cacheHitRate: described(
    orNull(number),
    "cacheRead / (input + cache writes + cacheRead), 0 to 1; null without any input",
  ),
  prices: described<UsagePrices>(PRICES, "Where the prices are from"),
  counting: described(
    orNull<UsageCounting>(COUNTING),
    "Sessions that are being counted; null: all are. Ask again later",
  ),
  isComplete: described(boolean, "False while sessions are counted or prompts are looked for"),
  isCut: described(boolean, "There are more agents, projects or models than one answer holds"),
  unreadable: described(count, "Sessions that could not be read and are not counted"),
});
export interface UsageReport extends Of<typeof USAGE_REPORT> {}

export interface UsageOptions {
  /** Days, both included: `2026-11-15`. */
  readonly since?: string;
  readonly until?: string;
  /** The time zone of days, such as `Europe/Berlin`. Default: the server's. */
  readonly tz?: string;
  /** A program or its dialect, and a directory or its name. */
  readonly agent?: string;
  readonly project?: string;
  /** What `series` are. Default: agent. */
  readonly by?: "agent" | "project" | "model";
  /** How many sessions and prompts. Default: 10. */
  readonly limit?: number;
  readonly signal?: AbortSignal;
}

const PROMPT_COST = object({
  start: described(orNull(offset), "Null: before the first prompt"),
  ...SUMS,
  subagents: count,
});
export interface PromptCost extends Of<typeof PROMPT_COST> {}

const CALL_COST = object({
  start: described(offset, "The entry that calls"),
  calls: described(count, "Calls that the response made, which share its cost"),
  total: described(number, "Tokens of the response"),
  cost: money("Of the response, in US dollars; null if its price is not known"),
});
export interface CallCost extends Of<typeof CALL_COST> {}

const COST_COLUMNS = object({ start: list(offset), cost: list(number) });
export interface CostColumns extends Of<typeof COST_COLUMNS> {}

export interface CostRange {
  /** The first offset; `next` of the page before. */
  readonly from?: number;
  /** At most so many prompts and calls together. Default: all. */
  readonly limit?: number;
  /** Also the cost of every prompt, as columns. Default: false. */
  readonly columns?: boolean;
}

export const SESSION_COSTS = object({
  id: string,
  total: ref<CountedSums>("CountedSums"),
  prompts: described(
    list<PromptCost>(PROMPT_COST),
    "In the order of the log; all of them add up to `total`",
  ),
  calls: described(list<CallCost>(CALL_COST), "In the order of the log"),
  next: described(orNull(offset), "`from` of the next page; null after the last one"),
  columns: described(
    orNull<CostColumns>(COST_COLUMNS),
    "Every prompt with a known cost, whatever range; null if not asked for",
  ),
  subagents: count,
  counting: described(orNull<UsageCounting>(COUNTING), "Not null: ask again later"),
});
/** What a session cost, as `verbatim usage session` has it. */
export interface SessionCosts extends Of<typeof SESSION_COSTS> {}
