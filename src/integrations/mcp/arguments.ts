/**
 * Arguments: the JSON Schema of each tool's arguments, as clients see it and calls are checked
 * against. Everything is bounded here, so that no tool has to check.
 */

import { boolean, describeSchema, partly, type Schema } from "../../client/schema.ts";
import { SESSION_STATUSES } from "../../core/model/summary.ts";
import { READ_DIALECT_NAMES } from "../../dialects/registry.ts";

/** Sessions and hits in one result. */
export const ITEMS_MAX = 100;
/** Entries in one result. */
export const ENTRIES_MAX = 200;
/** Characters of text in one result: minimum, maximum, default. */
export const CHARS_MIN = 500;
export const CHARS_MAX = 100_000;
export const CHARS_DEFAULT = 20_000;
/** No id is longer than the names of its directories and its file. */
const NAME_CHARS_MAX = 1_024;
const OFFSET_MAX = Number.MAX_SAFE_INTEGER;

function name(description: string): Schema<string> {
  return { type: "string", minLength: 1, maxLength: NAME_CHARS_MAX, description };
}

function whole(minimum: number, maximum: number, description: string): Schema<number> {
  return { type: "integer", minimum, maximum, description };
}

function oneOf<V extends string>(values: readonly V[], description: string): Schema<V> {
  return { type: "string", enum: values, description };
}

const flag = (description: string) => describeSchema(boolean, description);
const dialect = oneOf(READ_DIALECT_NAMES, "only sessions of this dialect");
const session = name("a session's id, or the beginning of one when only one session has it");
const cursor = name("`next` of the previous result, to continue from there");

export const LIST_ARGUMENTS = partly(
  {
    limit: whole(1, ITEMS_MAX, "maximum number of sessions; default 20"),
    cursor,
    dialect,
    agent: name("only sessions of this agent or directive"),
    status: oneOf(SESSION_STATUSES, "only sessions with this status"),
    tag: name("only sessions with this tag, of the user's notes or their own"),
    starred: flag("only sessions that the user starred"),
  },
  [],
);

export const SEARCH_ARGUMENTS = partly(
  {
    query: name(
      'words that must all stand in one entry; "a phrase", begin*, -not; filters agent: model: ' +
        "role: tool: since: until: dialect: session: tag: starred:true; the user's notes are " +
        "searched, too",
    ),
    limit: whole(1, ITEMS_MAX, "maximum number of entries; default 20"),
    cursor,
  },
  ["query"],
);

export const READ_ARGUMENTS = partly(
  {
    session,
    dialect,
    offset: whole(
      0,
      OFFSET_MAX,
      "begin with the entry at this offset: `next.offset` of the previous result, or `start` of a " +
        "search hit; default: the session's start",
    ),
    skip_chars: whole(0, OFFSET_MAX, "skip this many characters of that entry: `next.skip_chars`"),
    before: whole(
      0,
      OFFSET_MAX,
      "instead: the entries that end at or before this offset; `previous.before`",
    ),
    from_end: flag("instead: the last entries"),
    limit: whole(1, ENTRIES_MAX, "maximum number of entries; default 50"),
    chars: whole(CHARS_MIN, CHARS_MAX, `maximum number of characters; default ${CHARS_DEFAULT}`),
    thinking: flag("include the model's thinking"),
    tools: flag("include inputs and outputs of tools; default true"),
  },
  ["session"],
);

export const VERIFY_ARGUMENTS = partly(
  {
    session,
    dialect,
    deep: flag("check every signature and line, however large the log"),
  },
  ["session"],
);
