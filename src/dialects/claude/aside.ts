/**
 * Aside: lines that are not part of the conversation. In a session's log these are its subagents'
 * rows. In a subagent's own log, its rows are the conversation.
 */

import type { Aside } from "../../model/entry.ts";
import type { Native } from "../dialect.ts";
import { asideOf as rowAsideOf } from "../entire/aside.ts";
import { isShownHook, isSubagentHook } from "./hooks.ts";
import { keyOf } from "./session-id.ts";

/** `id` is the session's id; null if unknown, then `isSubagents` or the rows decide. */
export function asideOf(native: Native, id: string | null, isSubagents = false): Aside | null {
  const isOwnLog = isSubagents || (id !== null && keyOf(id)?.subpath !== undefined);
  if (isSubagentHook(native)) return isOwnLog ? null : "other_agent";
  if (isShownHook(native)) return "program";
  return rowAsideOf(native, id, isOwnLog);
}
