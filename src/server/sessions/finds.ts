/** Finds: `/v1/sessions/ID/finds`, what `verbatim scan` finds in its lines. Scans each time. */

import { FOUND_TEXT, SESSION_FINDS, type SessionFinds } from "../../client/find-shapes.ts";
import type { Schema } from "../../client/schema.ts";
import { get, json } from "../openapi/describe.ts";
import { Query } from "./query.ts";
import type { ServedSession, SessionService } from "./service.ts";
import { SESSION_LIMITS } from "./session-limits.ts";

/** Its JSON. */
export async function findsAnswer(
  { host, limits, wholeReads }: SessionService,
  { session }: ServedSession,
  url: string,
): Promise<string> {
  new Query(url, []);
  // Rules are loaded when they are used.
  const { findsInLines } = await import("../../evidence/scan/finds-in-lines.ts");
  const finds: SessionFinds = await wholeReads.run(() => {
    return findsInLines(host, session, limits.findsMax);
  });
  return JSON.stringify(finds);
}

export const FIND_SCHEMAS = { FoundText: FOUND_TEXT, SessionFinds: SESSION_FINDS };

/** Its part of the OpenAPI document. */
export function findsPath(alone: readonly Schema[]): Schema {
  return get("getFinds", {
    summary: "What `verbatim scan` finds in the lines of the session; nothing is stored",
    parameters: alone,
    ok: json("SessionFinds", `In the order of the log, up to ${SESSION_LIMITS.findsMax}`),
    refused: [],
  });
}
