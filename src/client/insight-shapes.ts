/** Insight shapes: when, with which tools and on which files agents worked, and the sessions behind it. */

import {
  boolean,
  choice,
  count,
  describeSchema,
  isComplete,
  list,
  number,
  object,
  offset,
  orNull,
  ref,
  string,
  type TypeOfSchema,
} from "./schema.ts";
import { TOOL_USAGE, type ToolUsageRow } from "./search-shapes.ts";
import type { CountedGroup, CountedSums, UsageOptions } from "./usage-shapes.ts";

const PERIOD = object({
  name: describeSchema(string, "The day, the Monday of the week, the month, or `unknown`"),
  since: describeSchema(orNull(string), "Its first day with a response; null: without a time"),
  until: describeSchema(orNull(string), "Its last one"),
  total: ref<CountedSums>("CountedSums"),
  models: describeSchema(list(ref<CountedGroup>("CountedGroup")), "The most expensive first"),
});
/** What models were used for in a day, a week or a month. */
export interface InsightPeriod extends TypeOfSchema<typeof PERIOD> {}

const FILE = object({
  file: describeSchema(string, "Its path, whole where the session's directory is known"),
  edits: describeSchema(count, "Tool calls that edited it and did not fail"),
  sessions: count,
});
/** A file that agents edited. */
export interface EditedFile extends TypeOfSchema<typeof FILE> {}

export const INSIGHT_SESSION = object({
  session: describeSchema(orNull(string), "Its id in this API; null if its log is gone"),
  name: describeSchema(string, "What its program calls it"),
  title: describeSchema(orNull(string), "Of a prompt: the beginning of what the user typed"),
  agent: string,
  project: orNull(string),
  at: describeSchema(orNull(string), "The time of its last entry"),
  start: describeSchema(orNull(offset), "The entry with the prompt, or with the slowest call"),
  value: describeSchema(orNull(number), "Its part of the figure; null: no price is known"),
  unpriced: describeSchema(number, "Tokens without a known price; not in a cost"),
  unknownInputs: describeSchema(count, "Responses whose input was not recorded"),
});
/** A session behind a figure. */
export interface InsightSession extends TypeOfSchema<typeof INSIGHT_SESSION> {}
const SESSIONS = list(ref<InsightSession>("InsightSession", INSIGHT_SESSION));

export const PERIODS = ["day", "week", "month"] as const;

export const INSIGHTS = object({
  zone: describeSchema(
    string,
    "The time zone of days and hours; tools, files and longest prompts: UTC",
  ),
  total: describeSchema(ref<CountedSums>("CountedSums"), "As in `/v1/usage` with these parameters"),
  hours: describeSchema(
    list(ref<CountedGroup>("CountedGroup")),
    "By hour of the week: `1 14` is Monday from 14:00 on, `unknown` is without a time",
  ),
  period: describeSchema(choice(PERIODS), "What `periods` are: the longer the range, the longer"),
  periods: list<InsightPeriod>(PERIOD),
  tools: describeSchema(list<ToolUsageRow>(ref("ToolUsage", TOOL_USAGE)), "The most called first"),
  files: describeSchema(list<EditedFile>(FILE), "The most edited first"),
  sessions: describeSchema(SESSIONS, "By US dollars, the highest first"),
  longestSessions: describeSchema(SESSIONS, "By milliseconds from the first response to the last"),
  prompts: describeSchema(SESSIONS, "By US dollars"),
  longestPrompts: describeSchema(
    SESSIONS,
    "By milliseconds from the prompt to the last answer before the next",
  ),
  agents: describeSchema(list(string), "What can be chosen, whatever was"),
  projects: list(string),
  machines: list(string),
  users: list(string),
  isComplete: isComplete("are not counted"),
  isCut: describeSchema(boolean, "There are more tools, files, or names than one answer holds"),
  unreadable: describeSchema(count, "Sessions that could not be read and are not counted"),
});
export interface Insights extends TypeOfSchema<typeof INSIGHTS> {}

export interface InsightOptions extends Omit<UsageOptions, "by"> {}

/** What of responses, of the calls of a tool, and of the edits of a file. */
export const INSIGHT_FIGURES = {
  responses: ["responses", "total", "cost"],
  tool: ["calls", "errors", "totalMs"],
  file: ["edits"],
} as const;
export type FigureKind = keyof typeof INSIGHT_FIGURES;
export type InsightFigure = (typeof INSIGHT_FIGURES)[keyof typeof INSIGHT_FIGURES][number];

export const INSIGHT_SESSIONS = object({
  figure: choice(Object.values(INSIGHT_FIGURES).flat()),
  total: describeSchema(number, "Of all sessions behind the figure, also those left out"),
  sessions: describeSchema(SESSIONS, "The largest part first"),
  count: describeSchema(count, "How many there are"),
  isComplete: isComplete("are not counted"),
});
export interface InsightSessions extends TypeOfSchema<typeof INSIGHT_SESSIONS> {}

/** One of `tool`, `file` and `hour`; or none, for all responses. */
export interface FigureOptions extends InsightOptions {
  readonly figure: InsightFigure;
  readonly tool?: string;
  readonly file?: string;
  /** As in `hours`. */
  readonly hour?: string;
  /** Responses of this model, by its whole name. */
  readonly model?: string;
}
