/**
 * Aside: what stands beside the conversation of a log. What subagents said and did is beside that of
 * their session; in a log of its own, a subagent's rows are the conversation.
 */

import type { Aside } from "../../model/entry.ts";
import type { Native } from "../dialect.ts";
import { asideOf as rowAsideOf } from "../entire/aside.ts";
import { isShownHook, isSubagentHook } from "./hooks.ts";
import { keyOf } from "./session-id.ts";

/** `id` is the session's; null when nobody knows it, and the rows may tell (`isSubagents`). */
export function asideOf(native: Native, id: string | null, isSubagents = false): Aside | null {
  const isOwnLog = isSubagents || (id !== null && keyOf(id)?.subpath !== undefined);
  if (isSubagentHook(native)) return isOwnLog ? null : "other_agent";
  if (isShownHook(native)) return "program";
  return rowAsideOf(native, id, isOwnLog);
}
