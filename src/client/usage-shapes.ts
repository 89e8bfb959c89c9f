/** Usage shapes: what agents used and what it cost, over all sessions and in one. */

import {
  boolean,
  choice,
  count,
  describeSchema,
  list,
  number,
  object,
  offset,
  orNull,
  ref,
  string,
  type TypeOfSchema,
} from "./schema.ts";

const money = (description: string) => describeSchema(orNull(number), description);

const SUMS = {
  responses: describeSchema(count, "Responses of models, each once"),
  input: describeSchema(number, "Tokens that were neither read from nor written to a cache"),
  output: describeSchema(number, "With reasoning"),
  cacheWrite5m: describeSchema(number, "Written to a cache for five minutes or an unknown time"),
  cacheWrite1h: number,
  cacheRead: number,
  reasoning: describeSchema(number, "The part of `output` that is reasoning, where recorded"),
  total: describeSchema(number, "input + output + cacheWrite5m + cacheWrite1h + cacheRead"),
  cost: money("US dollars: as agents recorded, else by prices; null if neither is known"),
  unpriced: describeSchema(number, "Tokens with neither; not in `cost`"),
  recorded: money("The part of `cost` that agents recorded; null if none did"),
  priced: describeSchema(number, "What all tokens cost by the prices that are known"),
  implausible: describeSchema(count, "Responses with a count that cannot be right"),
  unknownInputs: describeSchema(count, "Responses whose input was not recorded; not in `input`"),
};

export const COUNTED_SUMS = object(SUMS);
/** Tokens and cost of some responses. */
export interface CountedSums extends TypeOfSchema<typeof COUNTED_SUMS> {}

export const COUNTED_GROUP = object({
  name: describeSchema(
    string,
    "The day, agent, project, model, machine or user; text as it was stored",
  ),
  ...SUMS,
});
export interface CountedGroup extends TypeOfSchema<typeof COUNTED_GROUP> {}

export const COUNTED_SESSION = object({
  name: describeSchema(string, "What its program calls it"),
  ...SUMS,
  session: describeSchema(orNull(string), "Its id in this API; null if its log is gone"),
  title: describeSchema(orNull(string), "Its first prompt; null if not known yet"),
  agent: string,
  project: describeSchema(orNull(string), "As in a list of sessions; null if unknown"),
  lastAt: describeSchema(orNull(string), "The time of its last response"),
});
/** A session with its subagents. */
export interface CountedSession extends TypeOfSchema<typeof COUNTED_SESSION> {}

export const COUNTED_PROMPT = object({
  text: describeSchema(string, "The beginning of what the user typed; escape it where it is shown"),
  ...SUMS,
  session: describeSchema(string, "The session's id in this API"),
  start: offset,
  at: orNull(string),
  agent: string,
  project: describeSchema(orNull(string), "As in a list of sessions; null if unknown"),
  subagents: describeSchema(count, "Subagents that it started; they are in the sums"),
});
/** A prompt with all that answered it. */
export interface CountedPrompt extends TypeOfSchema<typeof COUNTED_PROMPT> {}

const SERIES = object({
  name: describeSchema(orNull(string), "Null: all other groups together"),
  groups: describeSchema(count, "How many groups it has"),
  cost: describeSchema(list(number), "For each of `days`"),
  total: describeSchema(list(number), "Tokens, for each of `days`"),
});
export interface UsageSeries extends TypeOfSchema<typeof SERIES> {}

const PRICED = object({
  model: string,
  table: describeSchema(orNull(string), "The table that was asked; null: none yet"),
  hash: describeSchema(orNull(string), "Of the list with the price; null: the price is not known"),
  at: describeSchema(orNull(string), "When it was decided"),
});
/** Where the price of a model is from. */
export interface PricedModel extends TypeOfSchema<typeof PRICED> {}

const PRICES = object({
  table: string,
  date: describeSchema(string, "The day of the table"),
  models: list<PricedModel>(PRICED),
});
export interface UsagePrices extends TypeOfSchema<typeof PRICES> {}

const CALENDAR_DAY = object({ day: string, cost: number, total: number });
export interface CalendarDay extends TypeOfSchema<typeof CALENDAR_DAY> {}

const COUNTING = object({ done: count, total: count });
/** Sessions that are counted, of all that changed. */
export interface UsageCounting extends TypeOfSchema<typeof COUNTING> {}

export const SERIES_GROUPS = ["agent", "project", "model", "machine", "user"] as const;

export const USAGE_REPORT = object({
  zone: describeSchema(string, "The time zone of all days"),
  today: string,
  since: orNull(string),
  until: orNull(string),
  total: ref<CountedSums>("CountedSums"),
  days: describeSchema(
    list(ref<CountedGroup>("CountedGroup")),
    "Every day of the range up to today, also those without usage",
  ),
  outside: describeSchema(
    ref<CountedSums>("CountedSums"),
    "Part of `total` on none of `days`: without a time, in the future, or too long ago",
  ),
  agents: list(ref<CountedGroup>("CountedGroup")),
  projects: list(ref<CountedGroup>("CountedGroup")),
  models: list(ref<CountedGroup>("CountedGroup")),
  machines: describeSchema(
    list(ref<CountedGroup>("CountedGroup")),
    "Empty if no machine has sent sessions; `this server` has those that it did not receive",
  ),
  users: list(ref<CountedGroup>("CountedGroup")),
  by: describeSchema(choice(SERIES_GROUPS), "What `series` are"),
  series: describeSchema(
    list<UsageSeries>(SERIES),
    "The largest groups for each day; the last may be all others",
  ),
  calendar: describeSchema(
    list<CalendarDay>(CALENDAR_DAY),
    "The days with usage of the last year, whatever range",
  ),
  sessions: describeSchema(list(ref<CountedSession>("CountedSession")), "The most expensive first"),
  prompts: describeSchema(list(ref<CountedPrompt>("CountedPrompt")), "The most expensive first"),
  cacheHitRate: describeSchema(
    orNull(number),
    "cacheRead / (input + cache writes + cacheRead), 0 to 1; null without any input",
  ),
  prices: describeSchema<UsagePrices>(PRICES, "Where the prices are from"),
  counting: describeSchema(
    orNull<UsageCounting>(COUNTING),
    "Sessions that are being counted; null: all are. Ask again later",
  ),
  isComplete: describeSchema(boolean, "False while sessions are counted or prompts are looked for"),
  isCut: describeSchema(boolean, "There are more groups than one answer holds"),
  unreadable: describeSchema(count, "Sessions that could not be read and are not counted"),
});
export interface UsageReport extends TypeOfSchema<typeof USAGE_REPORT> {}

export interface UsageOptions {
  /** Days, both included: `2026-11-15`. */
  readonly since?: string;
  readonly until?: string;
  /** The time zone of days, such as `Europe/Berlin`. Default: the server's. */
  readonly tz?: string;
  /** A program or its dialect. */
  readonly agent?: string;
  /** `=` and a project, part of the name of one, or a directory and all below it. */
  readonly project?: string;
  /** What `series` are. Default: agent. */
  readonly by?: "agent" | "project" | "model" | "machine" | "user";
  /** Only what this machine or user sent, as the sender says. */
  readonly machine?: string;
  readonly user?: string;
  /** How many sessions and prompts. Default: 10. */
  readonly limit?: number;
  readonly signal?: AbortSignal;
}

const PROMPT_COST = object({
  start: describeSchema(orNull(offset), "Null: before the first prompt"),
  ...SUMS,
  subagents: count,
});
export interface PromptCost extends TypeOfSchema<typeof PROMPT_COST> {}

const CALL_COST = object({
  start: describeSchema(offset, "The entry that calls"),
  calls: describeSchema(count, "Calls that the response made, which share its cost"),
  total: describeSchema(number, "Tokens of the response"),
  cost: money("Of the response, in US dollars; null if its price is not known"),
});
export interface CallCost extends TypeOfSchema<typeof CALL_COST> {}

const COST_COLUMNS = object({ start: list(offset), cost: list(number) });
export interface CostColumns extends TypeOfSchema<typeof COST_COLUMNS> {}

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
  prompts: describeSchema(
    list<PromptCost>(PROMPT_COST),
    "In the order of the log; all of them add up to `total`",
  ),
  calls: describeSchema(list<CallCost>(CALL_COST), "In the order of the log"),
  next: describeSchema(orNull(offset), "`from` of the next page; null after the last one"),
  columns: describeSchema(
    orNull<CostColumns>(COST_COLUMNS),
    "Every prompt with a known cost, whatever range; null if not asked for",
  ),
  subagents: count,
  counting: describeSchema(orNull<UsageCounting>(COUNTING), "Not null: ask again later"),
});
/** What a session cost, as `verbatim usage session` has it. */
export interface SessionCosts extends TypeOfSchema<typeof SESSION_COSTS> {}
