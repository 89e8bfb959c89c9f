/**
 * Find changed: the logs of a store that are not as they were when they were counted.
 *
 * Looks at each log, but asks for the id of a path only if it changed: most have not. A folder of
 * subagents is listed only if it changed after the last look, its session changed, or one of its
 * logs changed within a day before the last look: otherwise no agent is writing there.
 */

import { lstatSync, readdirSync, type Stats } from "node:fs";
import { dirname } from "node:path";
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
  if (
    listed !== null ||
    !("levels" in layout) ||
    layout.mark !== undefined ||
    layout.lookAt === undefined
  ) {
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

class Walk {
  readonly #look: Look;
  readonly #changed: Found[];
  /** Sessions that changed. */
  readonly #names = new Set<string>();
  /** The logs of each folder, as they were counted. */
  #folders: Map<string, LedgerFile[]> | null = null;

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
    if (this.#folders === null) {
      this.#folders = new Map();
      for (const file of ledger.files) {
        if (file.root !== root) continue;
        const folder = dirname(file.path);
        const inFolder = this.#folders.get(folder);
        if (inFolder) inFolder.push(file);
        else this.#folders.set(folder, [file]);
      }
    }
    const files = this.#folders.get(path) ?? [];
    return files.length > 0 && files.every((file) => this.#isAtRest(file, lookedAt));
  }

  #isAtRest({ mtimeMs, parent }: LedgerFile, lookedAt: number): boolean {
    return mtimeMs < lookedAt - QUIET_MS && !(parent !== null && this.#names.has(parent));
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
