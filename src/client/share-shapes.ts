/** Share shapes: links that show part of a session. */

import {
  boolean,
  choice,
  count,
  describeSchema,
  list,
  object,
  orNull,
  string,
  type TypeOfSchema,
  time,
} from "./schema.ts";

const SHARE_FIELDS = {
  id: describeSchema(string, "Its name for its owner; not secret"),
  session: describeSchema(string, "What its program calls it"),
  rules: describeSchema(list(string), "By which things are withheld"),
  createdAt: time,
  expiresAt: time,
  revokedAt: orNull(time),
  isLive: describeSchema(boolean, "Newer copies follow"),
  version: describeSchema(count, "How many copies were published"),
  bytes: describeSchema(count, "Length of its copy"),
  state: choice(["valid", "expired", "revoked"]),
};

export const SHARE_LIST = object({ shares: list(object(SHARE_FIELDS)) });

export const NEW_SHARE = object({
  token: describeSchema(string, "For the link `/#/share/TOKEN`; it is not stored"),
  ...SHARE_FIELDS,
  kind: describeSchema(
    choice(["disclosed", "masked"]),
    "Whether its copy proves what it shows, or is only masked, because the session is not signed",
  ),
  lines: describeSchema(count, "Lines of the session that are not checkpoints"),
  full: describeSchema(count, "Lines that are shown in full"),
  strings: describeSchema(count, "Strings that are withheld or masked"),
});
/** A share with its token. */
export interface NewShareItem extends TypeOfSchema<typeof NEW_SHARE> {}

/** What to share. */
export interface ShareRequest {
  /** A session's id, as the list gives it. */
  readonly session: string;
  /** Rules of `verbatim scan`; `default`: all. Default: all. */
  readonly redact?: readonly string[];
  /** Withhold every string or line with one of these texts. */
  readonly match?: readonly string[];
  /** Why these things are withheld; readers see it. */
  readonly reason?: string;
  /** Default: one day. */
  readonly expiresInSeconds?: number;
}
