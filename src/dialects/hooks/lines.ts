/**
 * Lines: reading and writing a line. Lines are Claude's transcript rows, which the entire dialect
 * reads too, and hook payloads.
 */

import type { Aside, Native, NewEntry } from "../../core/model/entry.ts";
import { invalidEntry } from "../../core/model/plain-json.ts";
import { asideOf as rowAsideOf } from "../entire/aside.ts";
import { express as expressRows } from "../entire/complete.ts";
import { rowEntry, timestampOf } from "../entire/decode.ts";
import type { DecodedValue } from "../facets/reading.ts";
import type { TakingBack } from "../facets/turns.ts";
import type { Once, WriterFacts } from "../facets/writing.ts";
import { get, getString, isObject, toJsonValue } from "../shared/fields.ts";
import { HOOK_TYPE, hookEntry, isShownHook, isSubagentHook } from "./hooks.ts";
import { parseSessionKey } from "./session-id.ts";

/** Refuses only what is not an entry at all. The parsed line is kept in `native`. */
export function decode(value: unknown): DecodedValue {
  if (!isObject(value)) return { entry: null, fault: "not an object" };
  const type = get(value, "type");
  if (typeof type !== "string") return { entry: null, fault: "type is not a string" };
  const isHook = type === HOOK_TYPE && isObject(get(value, "hook"));
  const entry = isHook
    ? hookEntry(value, timestampOf(get(value, "timestamp")))
    : rowEntry(value, type);
  return { entry, fault: null };
}

/**
 * Lines that are not part of the conversation. In a session's log these are its subagents'
 * rows. In a subagent's own log, its rows are the conversation.
 *
 * `id` is the session's id; null if unknown, then `isSubagents` or the rows decide.
 */
export function asideOf(native: Native, id: string | null, isSubagents = false): Aside | null {
  const isOwnLog = isSubagents || (id !== null && parseSessionKey(id)?.subpath !== undefined);
  if (isSubagentHook(native)) return isOwnLog ? null : "other_agent";
  if (isShownHook(native)) return "program";
  return rowAsideOf(native, id, isOwnLog);
}

/**
 * The line that marks a session as deleted. It erases nothing: loading or resuming the
 * session skips the lines before it; reading or verifying the log still returns them.
 */
export const DELETED_TYPE = "verbatim:deleted";

export function deletion(nowMs: number): Native {
  return { type: DELETED_TYPE, timestamp: new Date(nowMs).toISOString() };
}

export function isDeletion(value: unknown): boolean {
  return isObject(value) && get(value, "type") === DELETED_TYPE;
}

/** Takes back all lines before it. */
export const takingBack: TakingBack = {
  says: (native) => !isDeletion(native),
  takesBack: (native) => (isDeletion(native) ? Number.POSITIVE_INFINITY : null),
};

/**
 * Validates what a caller wants to write, and adds nothing.
 *
 * The entry is serialised once, so the JSON that is checked is the JSON that is written. An entry
 * is any JSON object with a string `type`: entries are Claude's own, and change with its versions.
 * Only the store may write a deletion.
 */
export function complete(given: Native): Native {
  if (!isObject(given)) throw invalidEntry("entry", "not an object");
  const entry = toJsonValue(given);
  if (!isObject(entry)) throw invalidEntry("entry", "not JSON");
  if (typeof get(entry, "type") !== "string") throw invalidEntry("type", "not a text");
  return entry;
}

/**
 * Maps a neutral entry to a row like Claude's own, for sessions that are continued or were
 * imported. Handles what a row cannot hold as the entire dialect does: refused or left out.
 */
export function express(entry: NewEntry, facts: WriterFacts): readonly Native[] {
  return expressRows(entry).map(({ type, message, ...rest }) => ({
    type,
    sessionId: parseSessionKey(facts.id)?.sessionId ?? facts.id,
    uuid: facts.newId(),
    parentUuid: null,
    timestamp: new Date(facts.nowMs).toISOString(),
    message: { role: type, ...(message as object) },
    ...rest,
  }));
}

/**
 * An entry with a `uuid` is written to a log once, because the SDK retries and replays. An
 * entry without one cannot be recognised, and is written each time.
 */
export const once: Once = {
  idOf(value: unknown): string | null {
    return (isObject(value) && getString(value, "uuid")) || null;
  },

  /** A deleted session can be written again. */
  forgets: isDeletion,
};
