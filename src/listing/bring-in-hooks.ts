/**
 * Bring in hooks: puts recorded hooks into the sessions that a person may mean, before one is looked for:
 * a session may have nothing but hooks that wait.
 */

import { resolve, sep } from "node:path";
import type { Host } from "../base/host.ts";
import { hooksMayWait } from "../dialects/claude/files/hooks-waiting.ts";
import { SESSIONS_PATH } from "../dialects/claude/session-id.ts";
import { findStores, type Where } from "./find-stores.ts";

/** Reports what still waits to `onWarning`; default: a process warning. `names` may be paths into a store. */
export async function bringInHooks(
  host: Host,
  { cwd, root }: Where,
  names: readonly string[],
  onWarning?: (warning: string) => void,
): Promise<void> {
  const inside = `${sep}${SESSIONS_PATH.join(sep)}${sep}`;
  const roots = new Set(rootsOf({ cwd, root }));
  for (const path of names.map((name) => resolve(cwd, name))) {
    const at = `${path}${sep}`.indexOf(inside);
    if (at >= 0) roots.add(path.slice(0, at) || sep);
  }
  for (const each of roots) {
    if (!hooksMayWait(each)) continue;
    const { Store } = await import("../store/store.ts");
    const reporting = onWarning === undefined ? {} : { onWarning };
    await new Store(host, { dialect: "claude", root: each, ...reporting }).drainHooks();
  }
}

/** A root that is not a directory has none: whoever looks there says so. */
function rootsOf(where: Where): string[] {
  try {
    return findStores({ ...where, dialect: "claude" }).map(({ root }) => root);
  } catch {
    return [];
  }
}
