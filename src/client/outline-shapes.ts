/** Outline shapes: a session by its prompts, and places to jump to in it. */

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

export const TOOL_CALLS = object({ tool: string, calls: count });
/** How often a tool was called. */
export interface ToolCalls extends Of<typeof TOOL_CALLS> {}

export const EXCHANGE = object({
  start: described(offset, "Of the prompt's line"),
  at: orNull(string),
  until: described(orNull(string), "The last time before the next prompt"),
  text: described(orNull(string), "The prompt's first line; null before the first prompt"),
  tokens: described(orNull(number), "They add up to the session's"),
  spend: orNull(number),
  calls: count,
  failures: count,
  edits: count,
  files: described(count, "How many files it edited"),
  answer: described(orNull(string), "The beginning of the last answer"),
  answerStart: described(orNull(offset), "Of the line with that answer"),
  tools: described(list(ref<ToolCalls>("ToolCalls")), "The tools it called"),
});
/** A prompt and what followed it, up to the next one. */
export interface Exchange extends Of<typeof EXCHANGE> {}

export const OUTLINE_MARK = object({
  kind: described(choice(["failure", "edit", "read"]), "`read` only if asked for"),
  start: offset,
  part: described(count, "The number of the call in `parts` of its entry"),
  at: orNull(string),
  tool: orNull(string),
  verb: described(orNull(string), 'What the call does to the file, such as "Read"'),
  call: described(orNull(string), 'What the failed call was to do, such as "$ npm test"'),
  text: described(orNull(string), "The first line of why it failed"),
  file: described(orNull(string), "The file that was read or edited"),
  added: orNull(count),
  removed: orNull(count),
  lines: described(
    orNull(list(orNull(count))),
    "Read: the first and last line asked for. Edit: the first line of each change, where known",
  ),
  isFailed: described(boolean, "Not read or not edited: its tool reported an error"),
});
/** A place to jump to in an exchange. */
export interface OutlineMark extends Of<typeof OUTLINE_MARK> {}

const PROGRESS = {
  tokens: described(orNull(number), "Of the whole session, as far as it was read"),
  spend: orNull(number),
  next: described(orNull(offset), "`from` of the next page; null after the last known one"),
  read: described(offset, "How far the log was read"),
  end: offset,
  isComplete: described(boolean, "False while the log is still being read"),
  isCut: described(boolean, "There were more than the server keeps"),
};

export const OUTLINE_PAGE = object({
  exchanges: list(ref<Exchange>("Exchange")),
  marks: list(ref<OutlineMark>("OutlineMark")),
  ...PROGRESS,
});
export interface OutlinePage extends Of<typeof OUTLINE_PAGE> {}

const COLUMNS = object({
  start: list(offset),
  atMs: described(list(number), "When it began, in milliseconds since 1970; 0: not known"),
  tookMs: described(list(number), "0: not known"),
  spend: described(list(number), "As recorded; 0: not known"),
  calls: list(count),
  failures: list(count),
  edits: list(count),
  files: described(list(count), "Files that it edited, and tools that name none"),
});
export interface ExchangeColumns extends Of<typeof COLUMNS> {}

export const EXCHANGES_PAGE = object({
  columns: described<ExchangeColumns>(COLUMNS, "A number per exchange in each list"),
  isBefore: described(boolean, "The first is what comes before the first prompt"),
  ...PROGRESS,
});
/** The exchanges of an outline as numbers: a long session's index. */
export interface ExchangesPage extends Of<typeof EXCHANGES_PAGE> {}
