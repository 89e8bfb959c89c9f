/** Outline shapes: a session by its prompts, and places to jump to in it. */

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

export const TOOL_CALLS = object({ tool: string, calls: count });
/** How often a tool was called. */
export interface ToolCalls extends TypeOfSchema<typeof TOOL_CALLS> {}

export const EXCHANGE = object({
  start: describeSchema(offset, "Of the prompt's line"),
  at: orNull(string),
  until: describeSchema(orNull(string), "The last time before the next prompt"),
  text: describeSchema(orNull(string), "The prompt's first line; null before the first prompt"),
  tokens: describeSchema(orNull(number), "They add up to the session's"),
  spend: orNull(number),
  calls: count,
  failures: count,
  edits: count,
  files: describeSchema(count, "How many files it edited"),
  answer: describeSchema(orNull(string), "The beginning of the last answer"),
  answerStart: describeSchema(orNull(offset), "Of the line with that answer"),
  tools: describeSchema(list(ref<ToolCalls>("ToolCalls")), "The tools it called"),
});
/** A prompt and what followed it, up to the next one. */
export interface Exchange extends TypeOfSchema<typeof EXCHANGE> {}

export const OUTLINE_MARK = object({
  kind: describeSchema(choice(["failure", "edit", "read"]), "`read` only if asked for"),
  start: offset,
  part: describeSchema(count, "The number of the call in `parts` of its entry"),
  at: orNull(string),
  tool: orNull(string),
  verb: describeSchema(orNull(string), 'What the call does to the file, such as "Read"'),
  call: describeSchema(orNull(string), 'What the failed call was to do, such as "$ npm test"'),
  text: describeSchema(orNull(string), "The first line of why it failed"),
  file: describeSchema(orNull(string), "The file that was read or edited"),
  added: orNull(count),
  removed: orNull(count),
  lines: describeSchema(
    orNull(list(orNull(count))),
    "Read: the first and last line asked for. Edit: the first line of each change, where known",
  ),
  isFailed: describeSchema(boolean, "Not read or not edited: its tool reported an error"),
});
/** A place to jump to in an exchange. */
export interface OutlineMark extends TypeOfSchema<typeof OUTLINE_MARK> {}

const PROGRESS = {
  tokens: describeSchema(orNull(number), "Of the whole session, as far as it was read"),
  spend: orNull(number),
  next: describeSchema(orNull(offset), "`from` of the next page; null after the last known one"),
  read: describeSchema(offset, "How far the log was read"),
  end: offset,
  isComplete: describeSchema(boolean, "False while the log is still being read"),
  isCut: describeSchema(boolean, "There were more than the server keeps"),
};

export const OUTLINE_PAGE = object({
  exchanges: list(ref<Exchange>("Exchange")),
  marks: list(ref<OutlineMark>("OutlineMark")),
  ...PROGRESS,
});
export interface OutlinePage extends TypeOfSchema<typeof OUTLINE_PAGE> {}

const COLUMNS = object({
  start: list(offset),
  atMs: describeSchema(list(number), "When it began, in milliseconds since 1970; 0: not known"),
  tookMs: describeSchema(list(number), "0: not known"),
  spend: describeSchema(list(number), "As recorded; 0: not known"),
  calls: list(count),
  failures: list(count),
  edits: list(count),
  files: describeSchema(list(count), "Files that it edited, and tools that name none"),
});
export interface ExchangeColumns extends TypeOfSchema<typeof COLUMNS> {}

export const EXCHANGES_PAGE = object({
  columns: describeSchema<ExchangeColumns>(COLUMNS, "A number per exchange in each list"),
  isBefore: describeSchema(boolean, "The first is what comes before the first prompt"),
  ...PROGRESS,
});
/** The exchanges of an outline as numbers: a long session's index. */
export interface ExchangesPage extends TypeOfSchema<typeof EXCHANGES_PAGE> {}

export const THREAD = object({
  start: describeSchema(offset, "Of the line with the call"),
  callId: string,
  session: describeSchema(
    orNull(string),
    "The id of the session that it started; null: none is known",
  ),
  title: orNull(string),
  rows: describeSchema(count, "How many entries of its subagent are in this session's own log"),
  from: describeSchema(orNull(offset), "The first and the last of them"),
  to: orNull(offset),
});
/** A call that started a subagent. */
export interface SessionThread extends TypeOfSchema<typeof THREAD> {}

export const THREAD_PARENT = object({
  id: string,
  start: describeSchema(orNull(offset), "Of the line with the call that started this session"),
});
/** The session that began another one. */
export interface ThreadParent extends TypeOfSchema<typeof THREAD_PARENT> {}

export const SESSION_THREADS = object({
  started: describeSchema(list(ref<SessionThread>("Thread")), "In the order of the log"),
  parent: orNull(ref<ThreadParent>("ThreadParent")),
  isComplete: describeSchema(boolean, "False while the log is still being read"),
});
export interface SessionThreads extends TypeOfSchema<typeof SESSION_THREADS> {}

export const THREAD_SCHEMAS = {
  ToolCalls: TOOL_CALLS,
  Thread: THREAD,
  ThreadParent: THREAD_PARENT,
  SessionThreads: SESSION_THREADS,
};
