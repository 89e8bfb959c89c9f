/** Share shapes: links that show part of a session. */

import {
  boolean,
  choice,
  count,
  described,
  list,
  type Of,
  object,
  orNull,
  string,
  time,
} from "./schema.ts";

const SHARE_FIELDS = {
  id: described(string, "Its name for its owner; not secret"),
  session: described(string, "What its program calls it"),
  rules: described(list(string), "By which things are withheld"),
  createdAt: time,
  expiresAt: time,
  revokedAt: orNull(time),
  isLive: described(boolean, "Newer copies follow"),
  version: described(count, "How many copies were published"),
  bytes: described(count, "Length of its copy"),
  state: choice(["valid", "expired", "revoked"]),
};

export const SHARE_LIST = object({ shares: list(object(SHARE_FIELDS)) });

export const NEW_SHARE = object({
  token: described(string, "For the link `/#/share/TOKEN`; it is not stored"),
  ...SHARE_FIELDS,
  lines: described(count, "Lines of the session that are not checkpoints"),
  full: described(count, "Lines that are shown in full"),
  strings: described(count, "Strings that are withheld"),
});
/** A share with its token. */
export interface NewShareItem extends Of<typeof NEW_SHARE> {}

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
