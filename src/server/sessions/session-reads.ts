/**
 * Session reads: what a request reads of one session. Its entries by range, each with its offset:
 *
 * ?from=N: from there on.
 * ?before=N: before it, or before the end.
 * ?around=N: the entry that starts there, with entries before and after it.
 * ?call=ID: only what the subagent of this call wrote, from its first entry or `from` on.
 * Without any of these: the last ones.
 *
 * The session as a document is Markdown source, sent in pieces as its reader takes them: no HTML of
 * an agent or a tool is ever served.
 *
 * A range of its log is sent unchanged, with the checkpoints that cover it: everything that a client
 * needs to verify the session itself without trusting this server.
 */

import { once } from "node:events";
import type { IncomingMessage, ServerResponse } from "node:http";
import { VerbatimError } from "../../core/base/errors.ts";
import { userPaths } from "../../core/base/node-paths.ts";
import {
  coveringCheckpoints,
  type RangeCover,
} from "../../evidence/verify/covering-checkpoints.ts";
import { documentOf } from "../../sessions/list/session-document.ts";
import {
  type PieceLimits,
  SessionWindow,
  type WindowEntry,
} from "../../sessions/list/session-window.ts";
import { renderEntry } from "../../sessions/render/entry-markdown.ts";
import { toBase64url } from "../../trust/proof/bytes.ts";
import { Trust, transcriptKeys } from "../../trust/trusted-keys/trust.ts";
import { answerBytes, badRequest } from "../http/answer.ts";
import { Query } from "./query.ts";
import type { ServedSession, SessionService } from "./service.ts";
import { entryFormOf, entryJson, sessionHeaders } from "./wire.ts";

export const BYTES_PARAMETERS = ["from", "to"] as const;
export const MARKDOWN_PARAMETERS = ["thinking", "tools", "metadata"] as const;
/** Small pieces are joined up to about this size. */
const WRITE_CHARS = 64 * 1024;

export const ENTRY_PARAMETERS = [
  "from",
  "before",
  "around",
  "limit",
  "native",
  "exact",
  "call",
] as const;

export async function entriesPage(
  service: SessionService,
  { session }: ServedSession,
  url: string,
): Promise<string> {
  const { limits, host } = service;
  const query = new Query(url, ENTRY_PARAMETERS);
  const limit = query.number("limit", 1, limits.entriesMax) ?? limits.entriesDefault;
  const form = entryFormOf(query);
  const range = rangeOf(query);
  const call = query.text("call");
  if (call !== null && range !== null && range.by !== "from") {
    throw badRequest(range.by, "cannot be combined with call");
  }
  const known = call === null ? null : await service.outlines.agentCalls(session);
  const window = await SessionWindow.open(host, session);
  try {
    const all = known?.agents.rowsOf(call ?? "") ?? null;
    const rows = all?.filter((start) => start >= (range?.offset ?? 0)) ?? null;
    const piece = { entriesMax: limit, bytesMax: limits.bytesMax };
    const entries = rows ? await window.at(rows, piece) : await take(window, range, piece);
    const items = entries.map((entry) => entryJson(entry, form, session));
    const isAll = rows !== null && entries.length === rows.length;
    return pageJson(entries, items, window, { place: range?.offset ?? window.end, isAll });
  } finally {
    window.close();
  }
}

type Range = { readonly by: "from" | "before" | "around"; readonly offset: number } | null;

function rangeOf(query: Query): Range {
  let range: Range = null;
  for (const by of ["from", "before", "around"] as const) {
    const offset = query.offset(by);
    if (offset === null) continue;
    if (range !== null) throw badRequest(by, `cannot be combined with ${range.by}`);
    range = { by, offset };
  }
  return range;
}

async function take(
  window: SessionWindow,
  range: Range,
  limits: PieceLimits,
): Promise<WindowEntry[]> {
  const { entriesMax, bytesMax } = limits;
  const offset = range?.offset ?? window.end;
  if (range === null || range.by === "before") return window.before(offset, limits);
  if (range.by === "from") return window.after(offset, limits);
  // Half before it, half after; if one side has fewer, the other gets the rest.
  const half = { entriesMax: Math.floor(entriesMax / 2), bytesMax: bytesMax / 2 };
  const before = await window.before(offset, half);
  const rest = { entriesMax: entriesMax - before.length, bytesMax: bytesMax / 2 };
  const after = await window.after(offset, rest);
  const missing = entriesMax - before.length - after.length;
  const isShort = missing > 0 && before.length === half.entriesMax;
  if (!isShort) return [...before, ...after];
  const more = { entriesMax: before.length + missing, bytesMax: bytesMax / 2 };
  return [...(await window.before(offset, more)), ...after];
}

/** `place`: the offsets of a page without entries. `isAll`: nothing comes after these. */
function pageJson(
  entries: readonly WindowEntry[],
  items: readonly string[],
  { end, log }: SessionWindow,
  { place, isAll }: { readonly place: number; readonly isAll: boolean },
): string {
  const from = entries[0]?.start ?? place;
  const next = entries.at(-1)?.end ?? place;
  const { tornBytes, unfinishedBytes } = log;
  const about = { from, next, end, isAtStart: from === 0, isAtEnd: isAll || next >= end };
  const tail = JSON.stringify({ ...about, tornBytes, unfinishedBytes });
  return `{"entries":[${items.join(",")}],${tail.slice(1)}`;
}

/** Refuses an offset inside a line, as reading would. One past the end is left to the reading. */
export async function checkOffset(
  { host }: SessionService,
  { session }: ServedSession,
  offset: number | "end",
): Promise<number> {
  const window = await SessionWindow.open(host, session);
  try {
    if (offset === "end") return window.end;
    await window.log.check(offset);
    return offset;
  } catch (cause) {
    const isPast = cause instanceof VerbatimError && cause.code === "LOG_REWOUND";
    if (isPast && offset !== "end") return offset;
    throw cause;
  } finally {
    window.close();
  }
}

export async function answerMarkdown(
  { session }: ServedSession,
  request: IncomingMessage,
  response: ServerResponse,
): Promise<void> {
  const query = new Query(request.url ?? "/", MARKDOWN_PARAMETERS);
  const thinking = query.flag("thinking", false);
  const toolDetails = query.flag("tools", true);
  const assistantMetadata = query.flag("metadata", true);
  const headers = sessionHeaders();
  headers.push("Content-Type", "text/markdown; charset=utf-8");
  response.writeHead(200, headers);
  if (request.method === "HEAD") return void response.end();
  const left = new AbortController();
  response.once("close", () => left.abort());
  let badLines = 0;
  const pieces = documentOf(session, {
    thinking,
    toolDetails,
    assistantMetadata,
    renderEntry: (entry) => renderEntry(entry, { thinking, tools: toolDetails }),
    onBadLine: ({ reason }) => {
      if (reason !== "blank") badLines++;
    },
    signal: left.signal,
  });
  await send(pieces, response, left.signal);
  if (!left.signal.aborted) response.end(badLines === 0 ? "" : unreadable(badLines));
}

async function send(
  pieces: AsyncIterable<string>,
  response: ServerResponse,
  signal: AbortSignal,
): Promise<void> {
  let text = "";
  const flush = async () => {
    const hasRoom = response.write(text);
    text = "";
    if (!hasRoom) await once(response, "drain", { signal });
  };
  try {
    for await (const piece of pieces) {
      text += piece;
      if (text.length >= WRITE_CHARS) await flush();
    }
    if (text !== "") await flush();
  } catch (cause) {
    if (!signal.aborted) throw cause; // Otherwise the reader has left.
  }
}

/** The head was sent before, so the document itself reports it. */
function unreadable(badLines: number): string {
  const lines = badLines === 1 ? "1 line" : `${badLines} lines`;
  return `\n> ${lines} of this session could not be read and ${badLines === 1 ? "is" : "are"} not shown.\n`;
}

/** Complete lines only; fewer than requested when there are fewer. */
export async function answerSessionBytes(
  { host, limits, room }: SessionService,
  { session }: ServedSession,
  url: string,
  response: ServerResponse,
): Promise<void> {
  const query = new Query(url, BYTES_PARAMETERS);
  const { from, to } = stretchOf(query);
  const window = await SessionWindow.open(host, session);
  let bytes: Uint8Array;
  try {
    window.log.checkReached(from);
    bytes = await window.log.bytes(from, Math.min(to, from + limits.bytesMax));
  } finally {
    window.close();
  }
  const headers = sessionHeaders();
  headers.push("Content-Type", "application/octet-stream");
  headers.push("Session-From", String(from), "Session-To", String(from + bytes.length));
  headers.push("Session-End", String(window.log.bytesEnd));
  room.hold(response, bytes.length);
  answerBytes(response, headers, [bytes]);
}

export async function checkpointsPage(
  { host, limits }: SessionService,
  { session }: ServedSession,
  url: string,
): Promise<string> {
  const query = new Query(url, BYTES_PARAMETERS);
  const asked = stretchOf(query);
  const window = await SessionWindow.open(host, session);
  try {
    window.log.checkReached(asked.from);
    const end = window.log.bytesEnd;
    const stretch = { from: asked.from, to: Math.max(asked.from, Math.min(asked.to, end)) };
    const covering = await coveringCheckpoints(host, session, window.log, stretch, limits);
    const keys = await keysOf(covering, session.id);
    const { tornBytes, unfinishedBytes } = window.log;
    return JSON.stringify({ ...stretch, end, tornBytes, unfinishedBytes, ...covering, keys });
  } finally {
    window.close();
  }
}

/** The keys that these checkpoints name, with the trust of the user who runs the server. */
async function keysOf({ genesis, checkpoints }: RangeCover, id: string) {
  const known = transcriptKeys(await Trust.load(userPaths()), id);
  const keys = new Map<string, unknown>();
  for (const { keyId, line } of [...(genesis ? [genesis] : []), ...checkpoints]) {
    const { ts } = JSON.parse(line).payload;
    const { publicKey, owner, refusal } = known.byKid(keyId, ts);
    const text = publicKey && toBase64url(publicKey);
    // The newest checkpoint of a key decides: the key may have been revoked while it was used.
    keys.set(keyId, { keyId, publicKey: text, owner, refusal });
  }
  return [...keys.values()];
}

function stretchOf(query: Query): { from: number; to: number } {
  const from = query.offset("from") ?? 0;
  const to = query.offset("to") ?? Number.MAX_SAFE_INTEGER;
  if (to < from) throw badRequest("to", "is before from");
  return { from, to };
}
