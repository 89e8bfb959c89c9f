/** OpenAPI: the routes of shares. */

import type { Schema } from "../../client/schema.ts";
import * as shared from "../../client/share-shapes.ts";
import { json, refusals, text } from "../openapi/describe.ts";
import type { MountDescription } from "../router/mount.ts";
import { SHARE_PATH, SHARES_PATH } from "../router/paths.ts";

const texts: Schema = { type: "array", items: text, maxItems: 100 };
const header = (description: string): Schema => ({ description, schema: text });

const VERSION = {
  "Share-Version": header("How many copies were published"),
  "Share-Live": header("`yes`: newer copies follow; wait for one with `after`"),
};

const PATHS = {
  [SHARE_PATH]: {
    get: {
      operationId: "getShared",
      summary: "The disclosed copy of a share, by the share's token as bearer",
      tags: ["shares"],
      security: [{ share: [] }],
      parameters: [
        {
          name: "after",
          in: "query",
          schema: { type: "integer", minimum: 0 },
          description: "Wait for a newer copy than this version",
        },
      ],
      responses: {
        200: {
          description: "The copy (docs/formats/disclosure.md)",
          headers: VERSION,
          content: { "application/octet-stream": { schema: { type: "string", format: "binary" } } },
        },
        204: { description: "No copy yet, or no newer one for a while", headers: VERSION },
        ...refusals(400, 404, 429),
      },
    },
  },
  [SHARES_PATH]: {
    get: {
      operationId: "listShares",
      summary: "The shares of this server; needs `admin` where tokens are required",
      tags: ["shares"],
      responses: { 200: json("ShareList", "The oldest first"), ...refusals(401) },
    },
    post: {
      operationId: "createShare",
      summary: "Share part of a session; needs `admin` where tokens are required",
      tags: ["shares"],
      requestBody: {
        required: true,
        content: {
          "application/json": {
            schema: {
              type: "object",
              properties: {
                session: text,
                redact: texts,
                match: texts,
                reason: text,
                expiresInSeconds: { type: "integer", minimum: 1, default: 86_400 },
              },
              required: ["session"],
              additionalProperties: false,
            },
          },
        },
      },
      responses: {
        201: json("NewShare", "With its token, which is not stored"),
        ...refusals(400, 401, 404, 409),
      },
    },
  },
  [`${SHARES_PATH}/{share}`]: {
    delete: {
      operationId: "revokeShare",
      summary: "Revoke a share for good; open connections end within a second",
      tags: ["shares"],
      parameters: [
        { name: "share", in: "path", required: true, description: "Its id", schema: text },
      ],
      responses: { 204: { description: "Revoked" }, ...refusals(401, 404) },
    },
  },
};

export const SHARES: MountDescription = {
  paths: PATHS,
  schemas: { ShareList: shared.SHARE_LIST, NewShare: shared.NEW_SHARE },
  securitySchemes: {
    share: { type: "http", scheme: "bearer", description: "The token of a share" },
  },
};
