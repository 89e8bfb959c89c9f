/**
 * Changed logs: those of a store that are not as they were when they were counted.
 *
 * Looks at each log, but asks for the id of a path only if it changed: most have not. A folder of
 * subagents is listed if it changed after the last look, its session changed, or one of its logs
 * changed within a day before the last look: otherwise no agent is writing there. If its session
 * has been at rest for a day at the last look, not even the folder itself is looked at, except once
 * a day (`isSearch`).
 */

import { type Dirent, lstatSync, readdirSync, type Stats } from "node:fs";
import type { Dialect } from "../dialects/dialect.ts";
import { generationFile, guardedPlace, readGuardedRoot } from "../dialects/files/guard-store.ts";
import {
  type FindLogsOptions,
  iterateLogs,
  type LevelLayout,
  type Unreadable,
} from "../dialects/find.ts";
import { registryEntry } from "../dialects/registry.ts";
import type { CountableLog } from "./entry-rows.ts";
import type { UsageLedger } from "./ledger/ledger.ts";
import type { LedgerFile } from "./ledger/pack.ts";

const QUIET_MS = 86_400_000;
/** File systems may keep times in whole seconds. */
const COARSE_MS = 2_000;
const LOGS_AT_ONCE = 64;

export interface LookOptions {
  readonly ledger: UsageLedger;
  readonly dialect: Dialect;
  readonly root: string;
  /** When all was looked at the last time; 0: never. */
  readonly lookedAt: number;
  /** Look at folders whose sessions are at rest, too; and when that was done last, 0: never. */
  readonly isSearch: boolean;
  readonly searchedAt: number;
  readonly onUnreadable: (unreadable: Unreadable) => void;
}

/** Stops after some logs, so that the caller can do other work. */
export function* findChanged(look: LookOptions): Generator<void, CountableLog[]> {
  const { dialect, root, ledger, onUnreadable } = look;
  const { layout } = dialect.naming;
  const options: FindLogsOptions = { onUnreadable };
  const changed: CountableLog[] = [];
  const listed = layout.logsIn?.(root, options) ?? null;
  if (
    listed !== null ||
    registryEntry(dialect.name).usageIn === undefined ||
    !("levels" in layout)
  ) {
    let looked = 0;
    for (const log of listed ?? iterateLogs(root, layout, options)) {
      if (++looked % LOGS_AT_ONCE === 0) yield;
      if (ledger.list.isSame(root, log.path, log.size, log.mtimeMs)) continue;
      changed.push({ dialect, root, log, known: ledger.known(root, log.path) });
    }
    return changed;
  }
  const walk = new Walk(look, changed);
  yield* walk.layout(layout, false);
  for (const other of layout.others ?? []) yield* walk.layout(other, true);
  return changed;
}

/** The log at a path, if it is one of the store's and has changed. */
export function changedAt({ dialect, root, ledger }: LookOptions, full: string): CountableLog[] {
  if (!full.startsWith(`${root}/`) || registryEntry(dialect.name).usageIn === undefined) return [];
  const path = full.slice(root.length + 1);
  const id = dialect.naming.idAt(path.split("/"));
  const stats = lstatSync(full, { throwIfNoEntry: false });
  if (id === null || !stats?.isFile()) return [];
  const { size, mtimeMs } = stats;
  if (ledger.list.isSame(root, path, size, mtimeMs)) return [];
  return [{ dialect, root, log: { id, path, size, mtimeMs }, known: ledger.known(root, path) }];
}

/**
 * What the guard keeps of logs that were rewritten: earlier generations with lines that later ones
 * lack, each as a log of its own. Responses that are in both count once.
 */
export function changedGenerations({ dialect, root, ledger }: LookOptions): CountableLog[] {
  const place = guardedPlace(root);
  if (place === null || place.generation !== null) return [];
  const kept = [...(readGuardedRoot(place.at)?.sessions.values() ?? [])];
  return kept.flatMap(({ id, path, losses }) => {
    return losses.flatMap(({ generation, lost }) => {
      const found = lost === 0 ? null : generationFile(place.at, path, generation);
      if (found === null) return [];
      const { size, mtimeMs } = found.stats;
      const at = `${place.at}/@${generation}`;
      if (ledger.list.isSame(at, path, size, mtimeMs)) return [];
      const log = { id, path, size, mtimeMs };
      return [{ dialect, root: at, log, known: ledger.known(at, path) }];
    });
  });
}

class Walk {
  readonly #look: LookOptions;
  readonly #changed: CountableLog[];
  /** Sessions that have been at rest since a day before the last look: their paths without `.jsonl`. */
  readonly #atRest = new Set<string>();
  /** Sessions that changed, in the same way. */
  readonly #active = new Set<string>();
  /** Folders with a log that changed within a day before the last look. */
  readonly #busy: ReadonlySet<string>;
  /** Both layouts begin with the same folders. */
  readonly #listed = new Map<string, Dirent[]>();
  #looked = 0;

  constructor(look: LookOptions, changed: CountableLog[]) {
    this.#look = look;
    this.#changed = changed;
    const recent = look.ledger.list.changedSince(look.lookedAt - QUIET_MS);
    const ours = recent.filter(({ root }) => root === look.root);
    this.#busy = new Set(ours.map(({ path }) => path.slice(0, path.lastIndexOf("/"))));
  }

  *layout({ under, levels, isLog }: LevelLayout, isOther: boolean): Generator<void, void> {
    yield* this.#descend(under.join("/"), levels, isLog, isOther);
  }

  *#descend(
    directory: string,
    levels: LevelLayout["levels"],
    isLog: LevelLayout["isLog"],
    isOther: boolean,
  ): Generator<void, void> {
    const [level, ...deeper] = levels;
    if (level === undefined) {
      yield* this.#leaf(directory, isLog);
      return;
    }
    if (level !== null) {
      const path = `${directory}/${level}`;
      const mayRest = isOther && deeper.length === 0 && !this.#busy.has(path);
      if (mayRest && !this.#look.isSearch && this.#atRest.has(directory)) return;
      const stats = this.#stat(path);
      if (!stats?.isDirectory()) return;
      if (mayRest && this.#isQuiet(directory, path, stats)) return;
      yield* this.#descend(path, deeper, isLog, isOther);
      return;
    }
    for (const each of this.#list(directory)) {
      if (!each.isDirectory()) continue;
      yield* this.#descend(`${directory}/${each.name}`, deeper, isLog, isOther);
    }
  }

  *#leaf(directory: string, isLog: LevelLayout["isLog"]): Generator<void, void> {
    const { root, ledger, lookedAt } = this.#look;
    for (const { name } of this.#list(directory)) {
      if (!isLog(name)) continue;
      if (++this.#looked % LOGS_AT_ONCE === 0) yield;
      const path = `${directory}/${name}`;
      const stats = this.#stat(path);
      if (stats === undefined) continue;
      const isSame = ledger.list.isSame(root, path, stats.size, stats.mtimeMs);
      if (!isSame && stats.isFile()) this.#add(path, stats, ledger.known(root, path));
      const session = path.slice(0, path.lastIndexOf("."));
      if (!isSame) this.#active.add(session);
      else if (stats.mtimeMs < lookedAt - QUIET_MS) this.#atRest.add(session);
    }
  }

  #add(path: string, { size, mtimeMs }: Stats, known: LedgerFile | undefined): void {
    const { dialect, root } = this.#look;
    const id = dialect.naming.idAt(path.split("/"));
    if (id === null) return;
    this.#changed.push({ dialect, root, log: { id, path, size, mtimeMs }, known });
  }

  /** Whether a folder whose logs are at rest, and its session, are as they were. */
  #isQuiet(session: string, path: string, { mtimeMs }: Stats): boolean {
    const { searchedAt, ledger, root } = this.#look;
    if (mtimeMs > searchedAt - COARSE_MS || this.#active.has(session)) return false;
    return ledger.list.hasFolder(root, path);
  }

  #stat(path: string): Stats | undefined {
    try {
      return lstatSync(`${this.#look.root}/${path}`, { throwIfNoEntry: false });
    } catch {
      return undefined;
    }
  }

  #list(path: string): Dirent[] {
    const known = this.#listed.get(path);
    if (known !== undefined) return known;
    let found: Dirent[] = [];
    try {
      found = readdirSync(`${this.#look.root}/${path}`, { withFileTypes: true });
    } catch {
      // Deleted meanwhile, or not ours to read.
    }
    this.#listed.set(path, found);
    return found;
  }
}
