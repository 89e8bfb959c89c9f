/** What OpenAPI says of the admin routes. */

import { list, partly, ref, type Schema, string } from "../../client/schema.ts";
import {
  NEW_TOKEN,
  TOKEN_ITEM,
  TOKEN_LIMITS_SHAPE,
  TOKEN_LIST,
} from "../../client/token-shapes.ts";
import { SCOPES } from "../auth/tokens.ts";
import { json, operation, parameter, text } from "../openapi/describe.ts";
import type { MountDescription } from "../router/mount.ts";
import { TOKENS_PATH } from "../router/paths.ts";

const REFUSED = [400, 401, 404, 429];
const ONE = parameter("token", "Its id", text, "path");
const seconds = (minimum: number): Schema => ({ type: "integer", minimum });
const bodyOf = (schema: Schema, required: boolean): Schema => {
  return { required, content: { "application/json": { schema } } };
};

const REQUEST = partly(
  {
    name: string,
    scopes: list({ enum: [...SCOPES] }),
    paths: list(string),
    machine: { ...string, description: "Instead of `paths`: sessions that this machine sends" },
    project: string,
    limits: TOKEN_LIMITS_SHAPE,
    expiresInSeconds: seconds(1),
  },
  ["scopes"],
);

/** An answer with a body, where `operation` has descriptions only. */
function answering(described: Schema, status: number, ok: Schema): Schema {
  const responses = Object(described.responses);
  return { ...described, responses: { ...responses, [status]: ok } };
}

const common = { refused: REFUSED, tag: "admin", parameters: [] };

const LIST = operation({
  ...common,
  id: "listTokens",
  summary: "Tokens that are not wider than the sender's; needs `tokens`",
  ok: {},
});
const CREATE = operation({
  ...common,
  id: "createToken",
  summary: "Make a token that is not wider than the sender's; needs `tokens`",
  body: bodyOf(ref("TokenRequest"), true),
  ok: {},
});
const ROTATE = operation({
  ...common,
  id: "rotateToken",
  summary: "Replace a token; the old one ends at once, or after `graceSeconds`; needs `tokens`",
  parameters: [ONE],
  body: bodyOf(partly({ graceSeconds: seconds(0) }, []), false),
  ok: {},
});
const REVOKE = operation({
  ...common,
  id: "revokeToken",
  summary: "Revoke a token for good, on all servers within two seconds; needs `tokens`",
  parameters: [ONE],
  ok: { 204: "Revoked" },
});

export const ADMIN: MountDescription = {
  paths: {
    [TOKENS_PATH]: {
      get: answering(LIST, 200, json("TokenList", "The oldest first")),
      post: answering(CREATE, 201, json("NewToken", "With the token, which is not stored")),
    },
    [`${TOKENS_PATH}/{token}`]: { delete: REVOKE },
    [`${TOKENS_PATH}/{token}/rotate`]: {
      post: answering(ROTATE, 201, json("NewToken", "With the token, which is not stored")),
    },
  },
  schemas: { Token: TOKEN_ITEM, TokenList: TOKEN_LIST, NewToken: NEW_TOKEN, TokenRequest: REQUEST },
};
