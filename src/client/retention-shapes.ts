/** Retention shapes: which received sessions a server deletes, and which it deleted. */

import {
  count,
  describeSchema,
  list,
  number,
  object,
  orNull,
  ref,
  string,
  type TypeOfSchema,
  time,
} from "./schema.ts";

export const RETIRED_SESSION = object({
  session: describeSchema(string, "Its own id, as its program calls it"),
  dialect: string,
  stream: describeSchema(string, "The path of its stream, which names folder and sender"),
  changedAt: describeSchema(time, "When the last of it was received"),
  at: describeSchema(time, "When it was deleted"),
  bytes: describeSchema(count, "Of its streams"),
});
/** A received session that a server deleted by its rule. */
export interface RetiredSession extends TypeOfSchema<typeof RETIRED_SESSION> {}

export const RETENTION = object({
  keepSeconds: describeSchema(
    orNull(number),
    "Received sessions are deleted so long after their last change; null: never",
  ),
  lastRunAt: describeSchema(orNull(time), "When the rule was applied last; null: not yet"),
  held: describeSchema(count, "Sessions that were due then, and are held"),
  removed: describeSchema(
    list(ref<RetiredSession>("RetiredSession")),
    "The last hundred that were deleted, latest first",
  ),
});
/** A server's rule for received sessions, and what it did. */
export interface RetentionReport extends TypeOfSchema<typeof RETENTION> {}
