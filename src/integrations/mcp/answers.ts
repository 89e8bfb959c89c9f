/**
 * Answers: the JSON Schema of each tool's result, as clients see it (`outputSchema`). The server
 * checks every result against it. New fields may be added: readers must ignore unknown ones.
 */

import {
  count,
  boolean as flag,
  list as listOf,
  orNull,
  type Schema,
  string as text,
} from "../../client/schema.ts";

const textOrNull: Schema = { type: ["string", "null"] };
const numberOrNull: Schema = { type: ["number", "null"] };

/** All are required, unless they are among the optional ones. */
function holding(
  properties: Readonly<Record<string, Schema>>,
  optional: readonly string[] = [],
): Schema {
  const required = Object.keys(properties).filter((name) => !optional.includes(name));
  return { type: "object", properties, required };
}

export const LIST_ANSWER = holding({
  sessions: listOf(
    holding({
      session: text,
      dialect: text,
      program: { ...textOrNull, description: "of another program, as its users call it" },
      title: textOrNull,
      agent: { ...textOrNull, description: "the agent that the session names" },
      model: textOrNull,
      status: textOrNull,
      turns: count,
      totalTokens: numberOrNull,
      spend: { ...numberOrNull, description: "US dollars, as recorded" },
      createdAt: textOrNull,
      updatedAt: textOrNull,
      bytes: count,
      badLines: count,
    }),
  ),
  next: { ...textOrNull, description: "`cursor` of the next page; null: this is the last" },
});

export const SEARCH_ANSWER = holding({
  hits: listOf(
    holding({
      session: text,
      dialect: text,
      start: { ...count, description: "`offset` for read_session" },
      end: count,
      role: textOrNull,
      at: textOrNull,
      tools: listOf(text),
      isNote: {
        ...flag,
        description: "a note of the user on it, or on the session, has the words",
      },
      snippet: { ...text, description: "what was found is between «guillemets»" },
    }),
  ),
  next: { ...textOrNull, description: "`cursor` of the next page; null: this is the last" },
  isComplete: { ...flag, description: "false: the index does not know all sessions yet" },
});

export const READ_ANSWER = holding({
  session: text,
  dialect: text,
  entries: listOf(
    holding(
      {
        start: count,
        end: count,
        kind: { ...text, description: "`bad_line`: the line is not an entry, and text says why" },
        role: textOrNull,
        at: textOrNull,
        text: { ...text, description: "Markdown" },
        part: {
          ...holding({ from: count, of: count }),
          description: "there when the text was cut: where it begins, and how long the whole is",
        },
      },
      ["part"],
    ),
  ),
  next: {
    ...orNull(holding({ offset: count, skip_chars: count }, ["skip_chars"])),
    description: "arguments that read on; null: the session ends here",
  },
  previous: {
    ...orNull(holding({ before: count })),
    description: "arguments that read what is before; null: this is the start",
  },
  end: { ...count, description: "the size of the log in bytes" },
});

export const VERIFY_ANSWER = holding({
  session: text,
  dialect: text,
  verdict: { ...text, description: "`verified` is the only good one" },
  deep: flag,
  bytes: count,
  signed_through: { type: ["object", "null"] },
  checkpoints: holding({ total: count, valid: count }),
  unsigned_tail: holding({ bytes: count, lines: count }),
  bad_range: orNull(holding({ from: count, to: count, turns: listOf({ type: "integer" }) })),
  freshness: textOrNull,
  keys: listOf({ type: "object" }),
  findings: listOf({ type: "object" }),
  more_findings: count,
});
