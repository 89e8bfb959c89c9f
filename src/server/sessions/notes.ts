/** Notes: `/v1/sessions/ID/notes`, the notes of the user who runs the server. */

import type { IncomingMessage } from "node:http";
import { ENTRY_NOTES, NOTE_CHANGES, SESSION_NOTES } from "../../client/note-shapes.ts";
import { count, type Schema, string } from "../../client/schema.ts";
import { annotate, sessionNotes } from "../../sessions/notes/session-notes.ts";
import { methodNotAllowed } from "../http/answer.ts";
import { readJson } from "../http/body.ts";
import { flag, get, json, parameter, refusals } from "../openapi/describe.ts";
import { Query } from "./query.ts";
import type { ServedSession, SessionService } from "./service.ts";

const BODY_BYTES_MAX = 64 * 1024;
export const NOTES_PARAMETERS = ["entry"] as const;

/** All of a session as JSON; with PATCH, after those on it or on one entry were changed. */
export async function notesAnswer(
  { host, nowMs, notes, reads }: SessionService,
  { session }: ServedSession,
  request: IncomingMessage,
): Promise<string> {
  const { method = "", url = "/" } = request;
  if (method === "PATCH") {
    const start = new Query(url, NOTES_PARAMETERS).offset("entry");
    await annotate(host, session, start, await readJson(request, BODY_BYTES_MAX), nowMs);
  } else if (method === "GET" || method === "HEAD") new Query(url, []);
  else throw methodNotAllowed("GET, HEAD, PATCH, OPTIONS");
  return JSON.stringify(await reads.run(() => sessionNotes(host, notes.book, session)));
}

export const NOTE_SCHEMAS = { EntryNotes: ENTRY_NOTES, SessionNotes: SESSION_NOTES };
export const NOTE_FILTERS = [
  parameter("tag", "Only with this tag: the user's, or its own", string),
  parameter("starred", "Only those that the user starred", flag(false)),
];
const ALL = json("SessionNotes", "All of them, as they are now");

/** Its part of the OpenAPI document; `alone`: the parameters of every part of a session. */
export function notesPath(alone: readonly Schema[]): Schema {
  const summary = "The notes of the user who runs the server, on the session and its entries";
  return {
    ...get("getNotes", { summary, parameters: alone, ok: ALL, refused: [503] }),
    patch: {
      operationId: "annotate",
      summary: "Change the notes on the session, or on an entry; needs `admin` where tokens are",
      tags: ["sessions"],
      parameters: [...alone, parameter("entry", "The entry that begins at this offset", count)],
      requestBody: { required: true, content: { "application/json": { schema: NOTE_CHANGES } } },
      responses: { 200: ALL, ...refusals(400, 401, 403, 404, 503) },
    },
  };
}
