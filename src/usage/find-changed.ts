/**
 * Find changed: the logs of a store that are not as they were when they were counted.
 *
 * Looks at each log, but asks for the id of a path only if it changed: most have not. A folder of
 * subagents is listed only if it changed after the last look, its session changed, or one of its
 * logs changed within a day before the last look: otherwise no agent is writing there.
 */

import { lstatSync, readdirSync, type Stats } from "node:fs";
import { eachLog, type FindOptions, type LevelLayout, type Unreadable } from "../catalog/find.ts";
import type { Dialect } from "../dialects/dialect.ts";
import type { Found } from "./describe.ts";
import type { Ledger } from "./ledger/ledger.ts";
import type { LedgerFile } from "./ledger/pack.ts";

const QUIET_MS = 86_400_000;
/** File systems may keep times in whole seconds. */
const COARSE_MS = 2_000;

export interface Look {
  readonly ledger: Ledger;
  readonly dialect: Dialect;
  readonly root: string;
  /** When all was looked at the last time; 0: never. */
  readonly lookedAt: number;
  readonly onUnreadable: (unreadable: Unreadable) => void;
}

export function findChanged(look: Look): Found[] {
  const { dialect, root, ledger, onUnreadable } = look;
  const { layout } = dialect;
  const options: FindOptions = { onUnreadable };
  const changed: Found[] = [];
  const listed = layout.logsIn?.(root, options) ?? null;
  if (listed !== null || dialect.usageIn === undefined || !("levels" in layout)) {
    for (const log of listed ?? eachLog(root, layout, options)) {
      const known = ledger.known(root, log.path);
      if (known?.size === log.size && known.mtimeMs === log.mtimeMs) continue;
      changed.push({ dialect, root, log, known });
    }
    return changed;
  }
  const walk = new Walk(look, changed);
  walk.layout(layout, false);
  for (const other of layout.others ?? []) walk.layout(other, true);
  return changed;
}

/** The log at a path, if it is one of the store's and has changed. */
export function changedAt({ dialect, root, ledger }: Look, full: string): Found[] {
  if (!full.startsWith(`${root}/`) || dialect.usageIn === undefined) return [];
  const path = full.slice(root.length + 1);
  const id = dialect.idAt(path.split("/"));
  const stats = lstatSync(full, { throwIfNoEntry: false });
  if (id === null || !stats?.isFile()) return [];
  const { size, mtimeMs } = stats;
  const known = ledger.known(root, path);
  if (known?.size === size && known.mtimeMs === mtimeMs) return [];
  return [{ dialect, root, log: { id, path, size, mtimeMs }, known }];
}

interface Folder {
  changed: number;
  readonly parents: Set<string>;
}

class Walk {
  readonly #look: Look;
  readonly #changed: Found[];
  /** Sessions that changed. */
  readonly #names = new Set<string>();
  /** When a log of each folder changed last, and whose subagents they are. */
  #folders: Map<string, Folder> | null = null;

  constructor(look: Look, changed: Found[]) {
    this.#look = look;
    this.#changed = changed;
  }

  layout({ under, levels, isLog }: LevelLayout, isOther: boolean): void {
    this.#descend(under.join("/"), levels, isLog, isOther);
  }

  #descend(
    directory: string,
    levels: LevelLayout["levels"],
    isLog: LevelLayout["isLog"],
    isOther: boolean,
  ): void {
    const [level, ...deeper] = levels;
    if (level === undefined) {
      this.#leaf(directory, isLog);
      return;
    }
    if (level !== null) {
      const path = `${directory}/${level}`;
      const stats = this.#stat(path);
      if (!stats?.isDirectory()) return;
      const isQuiet = isOther && deeper.length === 0 && this.#isQuiet(path, stats);
      if (!isQuiet) this.#descend(path, deeper, isLog, isOther);
      return;
    }
    for (const each of this.#list(directory)) {
      if (each.isDirectory()) this.#descend(`${directory}/${each.name}`, deeper, isLog, isOther);
    }
  }

  #leaf(directory: string, isLog: LevelLayout["isLog"]): void {
    const { root, ledger } = this.#look;
    for (const { name } of this.#list(directory)) {
      if (!isLog(name)) continue;
      const path = `${directory}/${name}`;
      const stats = this.#stat(path);
      const known = ledger.known(root, path);
      if (known?.size === stats?.size && known?.mtimeMs === stats?.mtimeMs && known) continue;
      if (stats?.isFile()) this.#add(path, stats, known);
    }
  }

  #add(path: string, { size, mtimeMs }: Stats, known: LedgerFile | undefined): void {
    const { dialect, root } = this.#look;
    const id = dialect.idAt(path.split("/"));
    if (id === null) return;
    if (known) this.#names.add(known.name);
    this.#changed.push({ dialect, root, log: { id, path, size, mtimeMs }, known });
  }

  #isQuiet(path: string, { mtimeMs }: Stats): boolean {
    const { lookedAt, ledger, root } = this.#look;
    if (mtimeMs > lookedAt - COARSE_MS) return false;
    this.#folders ??= this.#foldersOf(ledger.files, root);
    const folder = this.#folders.get(path);
    if (folder === undefined || folder.changed >= lookedAt - QUIET_MS) return false;
    for (const name of this.#names) if (folder.parents.has(name)) return false;
    return true;
  }

  #foldersOf(files: readonly LedgerFile[], root: string) {
    const folders = new Map<string, Folder>();
    for (const file of files) {
      if (file.root !== root || file.parent === null) continue;
      const path = file.path.slice(0, file.path.lastIndexOf("/"));
      const folder = folders.get(path);
      if (folder === undefined) {
        folders.set(path, { changed: file.mtimeMs, parents: new Set([file.parent]) });
      } else {
        folder.changed = Math.max(folder.changed, file.mtimeMs);
        folder.parents.add(file.parent);
      }
    }
    return folders;
  }

  #stat(path: string): Stats | undefined {
    try {
      return lstatSync(`${this.#look.root}/${path}`, { throwIfNoEntry: false });
    } catch {
      return undefined;
    }
  }

  #list(path: string) {
    try {
      return readdirSync(`${this.#look.root}/${path}`, { withFileTypes: true });
    } catch {
      return []; // Deleted meanwhile, or not ours to read.
    }
  }
}
