/**
 * Bring in hooks: moves recorded lines from inboxes into their sessions before a session is looked
 * for by name: a session may consist only of waiting lines.
 */

import { resolve, sep } from "node:path";
import type { Host } from "../base/host.ts";
import { DIALECT_NAMES, dialectNamed } from "../dialects/all.ts";
import { findStores, type Where } from "./find-stores.ts";

/**
 * Reports lines that still wait to `onWarning`; default: a process warning. `names` may be paths
 * into a store.
 */
export async function bringInHooks(
  host: Host,
  { cwd, root }: Where,
  names: readonly string[],
  onWarning?: (warning: string) => void,
): Promise<void> {
  const paths = names.map((name) => resolve(cwd, name));
  for (const { name: dialect, inbox, layout } of DIALECT_NAMES.map(dialectNamed)) {
    if (!inbox) continue;
    const inside = `${sep}${layout.under.join(sep)}${sep}`;
    const roots = new Set(rootsOf({ cwd, root, dialect }));
    for (const path of paths) {
      const at = `${path}${sep}`.indexOf(inside);
      if (at >= 0) roots.add(path.slice(0, at) || sep);
    }
    for (const each of roots) {
      if (!inbox.mayWait(each)) continue;
      const { Store } = await import("../store/store.ts");
      const reporting = onWarning === undefined ? {} : { onWarning };
      await new Store(host, { dialect, root: each, ...reporting }).drainInbox();
    }
  }
}

/** A root that is not a directory has none; the code that reads there reports it. */
function rootsOf(where: Where): string[] {
  try {
    return findStores(where).map(({ root }) => root);
  } catch {
    return [];
  }
}
