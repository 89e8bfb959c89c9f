/**
 * Bring in hooks: moves recorded lines from inboxes into their sessions before a session is looked
 * for by name: a session may consist only of waiting lines.
 */

import { resolve, sep } from "node:path";
import type { Host } from "../../core/base/host.ts";
import { dialectNamed, loadDialects } from "../../dialects/all.ts";
import { DIALECT_NAMES, registryEntry } from "../../dialects/registry.ts";
import { isStore, type StoreLookup, storesAt } from "./find-stores.ts";

/**
 * Reports lines that still wait to `onWarning`; default: a process warning. `names` may be paths
 * into a store.
 */
export async function bringInHooks(
  host: Host,
  { cwd, root }: StoreLookup,
  names: readonly string[],
  onWarning?: (warning: string) => void,
): Promise<void> {
  const paths = names.map((name) => resolve(cwd, name));
  for (const dialect of DIALECT_NAMES) {
    const { hasInbox, under } = registryEntry(dialect);
    if (!hasInbox) continue;
    const inside = `${sep}${under[0]}${sep}`;
    const roots = new Set(rootsOf({ cwd, root, dialect }));
    for (const path of paths) {
      const at = `${path}${sep}`.indexOf(inside);
      if (at >= 0) roots.add(path.slice(0, at) || sep);
    }
    for (const each of roots) {
      if (!isStore(dialect, each)) continue;
      await loadDialects([dialect]);
      if (!dialectNamed(dialect).inbox?.mayWait(each)) continue;
      const { Store } = await import("../store/store.ts");
      const reporting = onWarning === undefined ? {} : { onWarning };
      await new Store(host, { dialect, root: each, ...reporting }).drainInbox();
    }
  }
}

/** A root that is not a directory has none; the code that reads there reports it. */
function rootsOf(where: StoreLookup): string[] {
  try {
    return storesAt(where).map(({ root }) => root);
  } catch {
    return [];
  }
}
