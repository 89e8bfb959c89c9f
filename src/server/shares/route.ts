/**
 * Shares: `/v1/share` for readers, `/v1/shares` for the owner of the sessions. The server has
 * checked who asks for the latter (docs/server.md).
 */

import type { IncomingMessage, ServerResponse } from "node:http";
import type { Schema } from "../../client/schema.ts";
import * as shared from "../../client/share-shapes.ts";
import { VerbatimError } from "../../core/base/errors.ts";
import { nodeHost } from "../../core/base/node-host.ts";
import {
  DEFAULT_REASON,
  type Share,
  type SharedSession,
  type Shares,
  shareState,
  type Withholding,
} from "../../evidence/share/share.ts";
import { FileShares } from "../../evidence/share/share-files.ts";
import type { ServerContext } from "../context.ts";
import {
  answer,
  answerBytes,
  answerJson,
  badRequest,
  type Headers,
  methodNotAllowed,
  newHeaders,
  refuseWriting,
} from "../http/answer.ts";
import { readJson } from "../http/body.ts";
import { json, refusals, text } from "../openapi/describe.ts";
import type { MountDescription, MountRequest, OpenMount, SharedParts } from "../router/mount.ts";
import { isBelow, SHARE_PATH, SHARES_PATH } from "../router/paths.ts";
import { SEES_ALL, sessionNotFound } from "../sessions/roots.ts";
import type { SessionService } from "../sessions/service.ts";
import type { ServeOptions } from "../settings/serve-options.ts";
import { SharedCopies } from "./shared-copies.ts";

const BODY_BYTES_MAX = 64 * 1024;
const TEXTS_MAX = 100;

interface Sharing {
  readonly shares: Shares;
  readonly copies: SharedCopies;
  readonly nowMs: () => number;
  /** What can be shared; null when the server has no sessions. */
  readonly sessions: SessionService | null;
}

export async function sharesMount(context: ServerContext, parts: SharedParts): Promise<OpenMount> {
  const { options, time, onFault } = context;
  const { nowMs } = time;
  const shares = await sharesOf(options, nowMs);
  const copies = new SharedCopies({ shares, time, onFault });
  const sharing = { shares, copies, nowMs, sessions: parts.sessions ?? null };
  return {
    async handle(asked) {
      if (asked.path === SHARE_PATH) await answerReader(sharing, asked);
      else if (isBelow(asked.path, SHARES_PATH)) await answerOwner(sharing, asked);
      else return false;
      return true;
    },
    stop: () => copies.stop(),
    close: () => shares.close(),
  };
}

/** Without a database, its code is not loaded. */
export async function sharesOf(
  { dataDirectory, store }: ServeOptions,
  nowMs: () => number,
): Promise<Shares> {
  if (store === undefined) return new FileShares(nodeHost, dataDirectory, nowMs);
  return (await import("../../evidence/share/share-tables.ts")).ShareTables.of(store, nowMs);
}

async function answerReader({ copies }: Sharing, asked: MountRequest): Promise<void> {
  const { request, response, track } = asked;
  track.route = "live";
  refuseWriting(request);
  await copies.answer(request, response, afterIn(request.url ?? ""));
}

async function answerOwner(sharing: Sharing, asked: MountRequest): Promise<void> {
  const { request, response, path, track } = asked;
  const { method = "" } = request;
  track.route = "sessions";
  const { shares, nowMs } = sharing;
  const headers = newHeaders();
  headers.push("Cache-Control", "no-store");
  if (path !== SHARES_PATH) {
    if (method !== "DELETE") throw methodNotAllowed("DELETE, OPTIONS");
    await shares.revoke(path.slice(SHARES_PATH.length + 1));
    answer(response, 204, headers);
  } else if (method === "GET" || method === "HEAD") {
    const listed = (await shares.list()).map((each) => wireOf(each, nowMs()));
    answerJson(response, 200, { shares: listed }, headers);
  } else if (method === "POST") {
    await answerCopy(sharing, await bodyIn(request), response, headers);
  } else {
    throw methodNotAllowed("GET, HEAD, POST, OPTIONS");
  }
}

/** Makes a share, or only the copy that it would show. */
async function answerCopy(
  { shares, sessions, nowMs }: Sharing,
  { session: urlId, withholding, expiresInSeconds, isPreview }: ShareBody,
  response: ServerResponse,
  headers: Headers,
): Promise<void> {
  if (sessions === null) throw sessionNotFound();
  const session = await sessionNamed(sessions, urlId);
  const expiresAtMs = nowMs() + expiresInSeconds * 1000;
  // Rules are loaded when they are used.
  const { createShare, previewCopy } = await import("../../evidence/share/create-share.ts");
  const made = await sessions.wholeReads
    .runFor(response, async (signal) => {
      const options = { nowMs, signal, onWarning: () => {} };
      if (isPreview) return previewCopy(sessions.host, session, withholding, options);
      return createShare(sessions.host, shares, { session, withholding, expiresAtMs }, options);
    })
    .catch((cause) => {
      if (!(cause instanceof VerbatimError) || cause.code !== "BAD_SETTING") throw cause;
      throw badRequest("the body", `is wrong: ${cause.message}`);
    });
  if (made === null) return;
  if ("pieces" in made) {
    headers.push("Content-Type", "application/octet-stream");
    sessions.room.hold(response, made.bytes);
    answerBytes(response, headers, made.pieces);
    return;
  }
  const { kind, full, lines, withheld } = made.redacted;
  const strings = withheld.reduce((sum, each) => sum + each.strings, 0);
  const share = { token: made.token, ...wireOf(made.share, nowMs()) };
  answerJson(response, 201, { ...share, kind, lines, full, strings }, headers);
}

async function sessionNamed(sessions: SessionService, urlId: string): Promise<SharedSession> {
  const { store, session } = await sessions.open(urlId, SEES_ALL);
  return { dialect: store.dialect, root: store.root, id: session.id, logId: session.logId };
}

const DAY_SECONDS = 86_400;

interface ShareBody {
  readonly session: string;
  readonly withholding: Withholding;
  readonly expiresInSeconds: number;
  readonly isPreview: boolean;
}

async function bodyIn(request: IncomingMessage): Promise<ShareBody> {
  const body: Readonly<Record<string, unknown>> = Object(await readJson(request, BODY_BYTES_MAX));
  const { session, redact = ["default"], match = [], reason = DEFAULT_REASON, ...more } = body;
  const { expiresInSeconds = DAY_SECONDS, preview = false, ...unknown } = more;
  const [other] = Object.keys(unknown);
  if (other !== undefined) throw badRequest("the body", "has an unknown field");
  if (typeof session !== "string") throw badRequest("session", "must be a session's id");
  if (!areTexts(redact)) throw badRequest("redact", "must be a list of rules");
  if (!areTexts(match)) throw badRequest("match", "must be a list of texts");
  if (typeof reason !== "string" || reason.length > 2000) {
    throw badRequest("reason", "must be a text of at most 2000 characters");
  }
  if (typeof preview !== "boolean") throw badRequest("preview", "must be true or false");
  if (!Number.isSafeInteger(expiresInSeconds) || Number(expiresInSeconds) < 1) {
    throw badRequest("expiresInSeconds", "must be a whole number of seconds");
  }
  const withholding = { rules: redact, texts: match, reason };
  const seconds = Number(expiresInSeconds);
  return { session, withholding, expiresInSeconds: seconds, isPreview: preview };
}

function areTexts(value: unknown): value is string[] {
  return (
    Array.isArray(value) &&
    value.length <= TEXTS_MAX &&
    value.every((each) => typeof each === "string" && each !== "")
  );
}

/** Without the token's hash. */
function wireOf({ sha256: _, log: __, ...share }: Share, nowMs: number) {
  return { ...share, state: shareState({ ...share, sha256: "" }, nowMs) };
}

function afterIn(url: string): number | null {
  const mark = url.indexOf("?");
  const query = new URLSearchParams(mark === -1 ? "" : url.slice(mark + 1));
  const text = query.get("after");
  if (query.size > (text === null ? 0 : 1)) throw badRequest("the query", "knows only after");
  if (text === null) return null;
  if (!/^\d{1,9}$/.test(text)) throw badRequest("after", "must be a version");
  return Number(text);
}

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
          description: "The copy (docs/formats/disclosure.md, or share.md if it is masked)",
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
                preview: {
                  type: "boolean",
                  default: false,
                  description: "Only answer with the copy that would be shared",
                },
              },
              required: ["session"],
              additionalProperties: false,
            },
          },
        },
      },
      responses: {
        200: {
          description: "The copy, with `preview`; nothing is shared or stored",
          content: { "application/octet-stream": { schema: { type: "string", format: "binary" } } },
        },
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
