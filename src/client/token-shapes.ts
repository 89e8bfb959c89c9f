/** Token shapes: tokens, for those who manage them. */

import {
  choice,
  count,
  describeSchema,
  list,
  object,
  orNull,
  partly,
  string,
  type TypeOfSchema,
  time,
} from "./schema.ts";

export const TOKEN_LIMITS_SHAPE = partly(
  {
    requestsPerSecond: describeSchema(count, "Requests, on each server"),
    bytesPerSecond: describeSchema(count, "Bytes in both directions, on each server"),
    streams: describeSchema(count, "Streams below its paths, whichever token made them"),
    storedBytes: describeSchema(count, "Bytes of these streams"),
    readers: describeSchema(count, "Requests that wait for new data, on each server"),
  },
  [],
);

const TOKEN_FIELDS = {
  id: describeSchema(string, "Its name for its owner; not secret"),
  name: string,
  scopes: list(string),
  paths: describeSchema(list(string), "Globs of stream paths"),
  project: describeSchema(orNull(string), "Only sessions of this project"),
  limits: TOKEN_LIMITS_SHAPE,
  createdAt: time,
  createdBy: describeSchema(orNull(string), "The token that made it; null: the command line"),
  expiresAt: orNull(time),
  revokedAt: orNull(time),
  state: choice(["valid", "expired", "revoked"]),
};

export const TOKEN_ITEM = object(TOKEN_FIELDS);
export interface TokenItem extends TypeOfSchema<typeof TOKEN_ITEM> {}

export const TOKEN_LIST = object({ tokens: list(TOKEN_ITEM) });

export const NEW_TOKEN = object({
  token: describeSchema(string, "For the header `Authorization: Bearer TOKEN`; it is not stored"),
  ...TOKEN_FIELDS,
});
