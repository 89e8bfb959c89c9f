/** Find shapes: what `verbatim scan` finds in the lines of a session. */

import {
  boolean,
  count,
  describeSchema,
  list,
  object,
  offset,
  orNull,
  ref,
  string,
  type TypeOfSchema,
} from "./schema.ts";

export const FOUND_TEXT = object({
  start: describeSchema(offset, "Where its line begins"),
  rule: string,
  text: describeSchema(orNull(string), "Its first 200 characters; null: in a file of the line"),
});
/** A find in a line, to be marked there. */
export interface FoundText extends TypeOfSchema<typeof FOUND_TEXT> {}

export const SESSION_FINDS = object({
  finds: list(ref<FoundText>("FoundText")),
  unscanned: describeSchema(count, "Lines that could not be searched"),
  isCut: describeSchema(boolean, "There are more finds"),
});
/** What a scan of the session finds now. */
export interface SessionFinds extends TypeOfSchema<typeof SESSION_FINDS> {}
