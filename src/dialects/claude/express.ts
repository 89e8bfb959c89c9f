/**
 * Express: maps a neutral entry to a row like Claude's own, for sessions that are continued or were
 * imported. Handles what a row cannot hold as the entire dialect does: refused or left out.
 */

import type { NewEntry } from "../../model/entry.ts";
import type { Native, WriterFacts } from "../dialect.ts";
import { express as expressRows } from "../entire/express.ts";
import { keyOf } from "./session-id.ts";

export function express(entry: NewEntry, facts: WriterFacts): readonly Native[] {
  return expressRows(entry).map(({ type, message, ...rest }) => ({
    type,
    sessionId: keyOf(facts.id)?.sessionId ?? facts.id,
    uuid: facts.newId(),
    parentUuid: null,
    timestamp: new Date(facts.nowMs).toISOString(),
    message: { role: type, ...(message as object) },
    ...rest,
  }));
}
