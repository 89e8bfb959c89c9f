/**
 * Finds: what `verbatim scan` finds in a session (`/v1/sessions/ID/finds`), and its entries with that
 * masked (`/v1/sessions/ID/masked`). Both read the whole log each time, until their reader leaves.
 */

import type { ServerResponse } from "node:http";
import { FOUND_TEXT, SESSION_FINDS, type SessionFinds } from "../../client/find-shapes.ts";
import type { Schema } from "../../client/schema.ts";
import { answerBytes } from "../http/answer.ts";
import { content, get, json } from "../openapi/describe.ts";
import { Query } from "./query.ts";
import type { ServedSession, SessionService } from "./service.ts";
import { SESSION_LIMITS } from "./session-limits.ts";
import { answerJsonText, sessionHeaders } from "./wire.ts";

export async function answerFinds(
  { host, limits, room, wholeReads }: SessionService,
  { session }: ServedSession,
  url: string,
  response: ServerResponse,
): Promise<void> {
  new Query(url, []);
  // Rules are loaded when they are used.
  const { findsInLines } = await import("../../evidence/scan/finds-in-lines.ts");
  const finds: SessionFinds | null = await wholeReads.runFor(response, (signal) => {
    return findsInLines(host, session, limits.findsMax, signal);
  });
  if (finds !== null) answerJsonText(response, JSON.stringify(finds), room);
}

export async function answerMasked(
  { host, room, wholeReads }: SessionService,
  { session }: ServedSession,
  url: string,
  response: ServerResponse,
): Promise<void> {
  new Query(url, []);
  const { maskedPreview } = await import("../../evidence/share/create-share.ts");
  const copy = await wholeReads.runFor(response, (signal) => {
    return maskedPreview(host, session, signal);
  });
  if (copy === null) return;
  const headers = sessionHeaders();
  headers.push("Content-Type", "application/octet-stream");
  room.hold(response, copy.bytes);
  answerBytes(response, headers, copy.pieces);
}

export const FIND_SCHEMAS = { FoundText: FOUND_TEXT, SessionFinds: SESSION_FINDS };

/** Their part of the OpenAPI document; `one` is the path of a session. */
export function findPaths(one: string, alone: readonly Schema[]) {
  const binary: Schema = { type: "string", format: "binary" };
  return {
    [`${one}/finds`]: get("getFinds", {
      summary: "What `verbatim scan` finds in the lines of the session; nothing is stored",
      parameters: alone,
      ok: json("SessionFinds", `In the order of the log, up to ${SESSION_LIMITS.findsMax}`),
      refused: [],
    }),
    [`${one}/masked`]: get("getMasked", {
      summary: "The session's entries with what `verbatim scan` finds masked; nothing is stored",
      parameters: alone,
      ok: content("application/octet-stream", binary, "A masked copy (docs/formats/share.md)"),
      refused: [409],
    }),
  };
}
