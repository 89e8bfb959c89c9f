/**
 * Routes: `/v1/share` for readers, `/v1/shares` for the owner of the sessions. The server has
 * checked who asks for the latter (docs/server.md).
 */

import type { IncomingMessage, ServerResponse } from "node:http";
import { VerbatimError } from "../base/errors.ts";
import type { Host } from "../base/host.ts";
import type { Time } from "../base/time.ts";
import type { CreateShare, SharedSession } from "./asked.ts";
import { DEFAULT_REASON, type Share, shareState } from "./share.ts";
import { FileShares } from "./share-files.ts";
import { SharedCopies } from "./shared-copies.ts";
import type { Shares } from "./shares.ts";

export const SHARE_PATH = "/v1/share";
export const SHARES_PATH = "/v1/shares";
const BODY_BYTES_MAX = 64 * 1024;
const TEXTS_MAX = 100;

export interface SharingOptions {
  readonly host: Host;
  readonly dataDirectory: string;
  /** The URL of the database that has the shares; null: they are files in the data directory. */
  readonly database: string | null;
  readonly time: Time;
  readonly onFault: (what: string, cause: unknown) => void;
  /** Null: only the command line makes shares. */
  readonly create: CreateShare | null;
  /** The session that the API names so; throws SESSION_NOT_FOUND. */
  readonly session: (urlId: string) => Promise<SharedSession>;
  readonly readBody: (request: IncomingMessage, bytesMax: number) => Promise<Uint8Array>;
  /** Limits how many sessions are read at once. */
  readonly run: <T>(work: () => Promise<T>) => Promise<T>;
}

export interface Sharing extends SharingOptions {
  readonly shares: Shares;
  readonly copies: SharedCopies;
}

export async function newSharing(options: SharingOptions): Promise<Sharing> {
  const { time, onFault } = options;
  const shares = await sharesOf(options);
  return { ...options, shares, copies: new SharedCopies({ shares, time, onFault }) };
}

/** Without a database, its code is not loaded. */
async function sharesOf(options: SharingOptions): Promise<Shares> {
  const { host, dataDirectory, database } = options;
  const { nowMs } = options.time;
  if (database === null) return new FileShares(host, dataDirectory, nowMs);
  return (await import("./share-tables.ts")).ShareTables.of(database, nowMs);
}

export function isShareRoute(path: string): boolean {
  return path === SHARE_PATH || path === SHARES_PATH || path.startsWith(`${SHARES_PATH}/`);
}

/** Null when it was answered, else the methods that the path takes. */
export async function handleShares(
  sharing: Sharing,
  path: string,
  request: IncomingMessage,
  response: ServerResponse,
): Promise<string | null> {
  const { method = "", url = "" } = request;
  const isRead = method === "GET" || method === "HEAD";
  if (path === SHARE_PATH) {
    if (!isRead) return "GET, HEAD, OPTIONS";
    await sharing.copies.answer(request, response, afterIn(url));
    return null;
  }
  response.setHeader("Cache-Control", "no-store");
  const id = path.slice(SHARES_PATH.length + 1);
  if (path === SHARES_PATH && isRead) {
    const shares = (await sharing.shares.list()).map((each) => wireOf(each, sharing.time.nowMs()));
    answer(response, 200, { shares });
  } else if (path === SHARES_PATH && method === "POST") {
    answer(response, 201, await made(sharing, request));
  } else if (path !== SHARES_PATH && method === "DELETE") {
    await sharing.shares.revoke(id);
    answer(response, 204, null);
  } else {
    return path === SHARES_PATH ? "GET, HEAD, POST, OPTIONS" : "DELETE, OPTIONS";
  }
  return null;
}

async function made(sharing: Sharing, request: IncomingMessage) {
  const { host, shares, run, create } = sharing;
  const { nowMs } = sharing.time;
  const { session, redact, match, reason, expiresInSeconds } = bodyOf(
    await sharing.readBody(request, BODY_BYTES_MAX),
  );
  if (create === null) {
    const message = "this server makes no shares; use `verbatim share`, or `verbatim serve`";
    throw new VerbatimError("NOT_IMPLEMENTED", message, { part: SHARES_PATH });
  }
  const asked = {
    session: await sharing.session(session),
    withholding: { rules: redact, texts: match, reason: reason ?? DEFAULT_REASON },
    expiresAtMs: nowMs() + expiresInSeconds * 1000,
  };
  const options = { nowMs, onWarning: () => {} };
  const created = await run(() => create(host, shares, asked, options)).catch((cause) => {
    if (!(cause instanceof VerbatimError) || cause.code !== "BAD_SETTING") throw cause;
    throw badRequest("the body", `is wrong: ${cause.message}`);
  });
  const { full, lines, withheld } = created.redacted;
  const strings = withheld.reduce((sum, each) => sum + each.strings, 0);
  return { token: created.token, ...wireOf(created.share, nowMs()), lines, full, strings };
}

const DAY_SECONDS = 86_400;

function bodyOf(bytes: Uint8Array) {
  let body: Readonly<Record<string, unknown>>;
  try {
    body = Object(JSON.parse(new TextDecoder("utf-8", { fatal: true }).decode(bytes)));
  } catch {
    throw badRequest("the body", "is not JSON");
  }
  const { session, redact = ["default"], match = [], reason, ...more } = body;
  const { expiresInSeconds = DAY_SECONDS, ...unknown } = more;
  const [other] = Object.keys(unknown);
  if (other !== undefined) throw badRequest("the body", "has an unknown field");
  if (typeof session !== "string") throw badRequest("session", "must be a session's id");
  if (!areTexts(redact)) throw badRequest("redact", "must be a list of rules");
  if (!areTexts(match)) throw badRequest("match", "must be a list of texts");
  if (reason !== undefined && (typeof reason !== "string" || reason.length > 2000)) {
    throw badRequest("reason", "must be a text of at most 2000 characters");
  }
  if (!Number.isSafeInteger(expiresInSeconds) || Number(expiresInSeconds) < 1) {
    throw badRequest("expiresInSeconds", "must be a whole number of seconds");
  }
  return { session, redact, match, reason, expiresInSeconds: Number(expiresInSeconds) };
}

function areTexts(value: unknown): value is string[] {
  return (
    Array.isArray(value) &&
    value.length <= TEXTS_MAX &&
    value.every((each) => typeof each === "string" && each !== "")
  );
}

/** Without the token's hash. */
export function wireOf({ sha256: _, ...share }: Share, nowMs: number) {
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

function answer(response: ServerResponse, status: number, value: unknown): void {
  const body = value === null ? "" : JSON.stringify(value);
  response.setHeader("X-Content-Type-Options", "nosniff");
  if (value !== null) response.setHeader("Content-Type", "application/json");
  response.writeHead(status, value === null ? {} : { "Content-Length": Buffer.byteLength(body) });
  response.end(body);
}

function badRequest(part: string, reason: string): VerbatimError {
  const message = `the request is refused: ${part} ${reason}`;
  return new VerbatimError("BAD_REQUEST", message, { part, reason });
}
