/** Notes: `/v1/sessions/ID/notes`, the notes of the user who runs the server. */

import type { IncomingMessage } from "node:http";
import { ENTRY_NOTES, SESSION_NOTES, type SessionNotesItem } from "../../client/note-shapes.ts";
import { boolean, list, orNull, type Schema, string } from "../../client/schema.ts";
import { NO_NOTES } from "../../sessions/notes/note-state.ts";
import { findNoted, notedEntry } from "../../sessions/notes/noted-entries.ts";
import { NOTHING_NOTED, subjectOf } from "../../sessions/notes/notes-book.ts";
import { changeNotes } from "../../sessions/notes/notes-file.ts";
import { badRequest, methodNotAllowed } from "../http/answer.ts";
import { readBody } from "../http/body.ts";
import { flag, get, json, parameter, refusals } from "../openapi/describe.ts";
import { Query } from "./query.ts";
import type { ServedSession, SessionService } from "./service.ts";

const BODY_BYTES_MAX = 64 * 1024;
export const NOTES_PARAMETERS = ["entry"] as const;

/** Its JSON; with PUT, after the notes of the session or of one entry were replaced. */
export async function notesAnswer(
  service: SessionService,
  served: ServedSession,
  request: IncomingMessage,
): Promise<string> {
  const { method = "", url = "/" } = request;
  if (method === "PUT") await replace(service, served, request);
  else if (method === "GET" || method === "HEAD") new Query(url, []);
  else throw methodNotAllowed("GET, HEAD, PUT, OPTIONS");
  const { store, session } = served;
  const { starred, title, tags, note, at, ...notes } =
    service.notes.book.of(store, session.id) ?? NOTHING_NOTED;
  const found = await service.reads.run(() => findNoted(service.host, session, notes.entries));
  const entries = found.map(({ line: _, ...entry }) => entry);
  const item: SessionNotesItem = { starred, title, tags: [...tags], note, at, entries: [] };
  return JSON.stringify({ ...item, entries });
}

async function replace(
  { host, nowMs }: SessionService,
  { store, session }: ServedSession,
  request: IncomingMessage,
): Promise<void> {
  const start = new Query(request.url ?? "/", NOTES_PARAMETERS).offset("entry");
  const bytes = await readBody(request, BODY_BYTES_MAX);
  let body: unknown;
  try {
    body = JSON.parse(new TextDecoder("utf-8", { fatal: true }).decode(bytes));
  } catch {
    throw badRequest("the body", "is not JSON");
  }
  if (typeof body !== "object" || body === null || Array.isArray(body)) {
    throw badRequest("the body", "must be an object");
  }
  const entry = start === null ? null : await notedEntry(host, session, start);
  const changes = { ...NO_NOTES, ...body };
  await changeNotes(host, subjectOf(store, session.id), entry, changes, { nowMs });
}

export const NOTE_SCHEMAS = { EntryNotes: ENTRY_NOTES, SessionNotes: SESSION_NOTES };
export const NOTE_FILTERS = [
  parameter("tag", "Only with this tag: the user's, or its own", string),
  parameter("starred", "Only those that the user starred", flag(false)),
];
const ALL = json("SessionNotes", "All of them, as they are now");
const STATE = { starred: boolean, title: orNull(string), tags: list(string), note: orNull(string) };

/** Its part of the OpenAPI document; `alone`: the parameters of every part of a session. */
export function notesPath(alone: readonly Schema[]): Schema {
  const schema = { type: "object", properties: STATE, additionalProperties: false };
  const start = { type: "integer", minimum: 0 };
  const summary = "The notes of the user who runs the server, on the session and its entries";
  return {
    ...get("getNotes", { summary, parameters: alone, ok: ALL, refused: [503] }),
    put: {
      operationId: "setNotes",
      summary: "Replace the notes on the session, or on an entry; needs `admin` where tokens are",
      tags: ["sessions"],
      parameters: [...alone, parameter("entry", "The entry that begins at this offset", start)],
      requestBody: { required: true, content: { "application/json": { schema } } },
      responses: { 200: ALL, ...refusals(400, 401, 403, 404, 503) },
    },
  };
}
