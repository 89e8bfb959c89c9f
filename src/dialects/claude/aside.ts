/**
 * Aside: what stands beside the conversation of a log. What subagents said and did is beside that of
 * their session; in a log of its own, a subagent's rows are the conversation.
 */

import type { Aside } from "../../model/entry.ts";
import type { Native } from "../dialect.ts";
import { isProgramsOwn, asideOf as rowAsideOf } from "../entire/aside.ts";
import { isSubagentHook } from "./hooks.ts";
import { keyOf } from "./session-id.ts";

/** `id` is the session's; null when nobody knows it. */
export function asideOf(native: Native, id: string | null): Aside | null {
  const aside = isSubagentHook(native) ? "other_agent" : rowAsideOf(native);
  if (aside !== "other_agent" || id === null || keyOf(id)?.subpath === undefined) return aside;
  return isProgramsOwn(native) ? "program" : null;
}
