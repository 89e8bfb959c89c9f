/**
 * Agents: the agent programs whose sessions are on this machine, by the names, sizes and times of
 * their files. Reads no session.
 */

import { dirname, join } from "node:path";
import { surroundings } from "../../core/base/node-paths.ts";
import { dialectNamed } from "../../dialects/all.ts";
import { iterateLogs } from "../../dialects/find.ts";
import { programOf, READ_DIALECT_NAMES } from "../../dialects/registry.ts";
import type { FoundLog } from "../../dialects/session-row.ts";
import { type FoundStore, findStores, isGuarded, statOf } from "./find-stores.ts";

export interface FoundAgent extends FoundStore {
  /** As its users call it. */
  readonly label: string;
  /** Subagents' sessions included. */
  readonly sessions: number;
  /** Of sessions that are files, and rows of those in a database. */
  readonly bytes: number;
  readonly rows: number;
  /** When its oldest and its newest session last changed; null if there is none. */
  readonly firstMs: number | null;
  readonly lastMs: number | null;
  /** It has the guard's copies of sessions that the program no longer has. */
  readonly isGuarded: boolean;
  /** Null: nothing is deleted by age. */
  readonly retention: {
    readonly days: number;
    readonly setting: string;
    /** Sessions that the program removes at its next start. */
    readonly due: number;
    readonly dueBytes: number;
  } | null;
  /** Directories and files that could not be read. */
  readonly unreadable: number;
  /** Databases with sessions that are not read yet: not listed here, and not guarded. */
  readonly unreadDatabases: readonly string[];
}

const DAY_MS = 86_400_000;

/** `onLog` gets every log, so that a caller need not look for them again. */
export async function findAgents(
  cwd: string,
  nowMs: number,
  onLog: (log: FoundLog, store: FoundStore) => void = () => {},
): Promise<FoundAgent[]> {
  const stores = (await findStores({ cwd })).filter(({ dialect }) => programOf(dialect));
  return stores
    .map((store) => lookAt(store, nowMs, (log) => onLog(log, store)))
    .filter(({ isGuarded, sessions }) => !isGuarded || sessions > 0)
    .sort((a, b) => (b.lastMs ?? 0) - (a.lastMs ?? 0));
}

/** Where programs would keep sessions, for a message. */
export function lookedInFor(): { readonly label: string; readonly roots: readonly string[] }[] {
  return READ_DIALECT_NAMES.flatMap((name) => {
    const program = programOf(name);
    return program ? [{ label: program.label, roots: program.roots(surroundings()) }] : [];
  });
}

function lookAt(store: FoundStore, nowMs: number, onLog: (log: FoundLog) => void): FoundAgent {
  const {
    naming: { layout },
    program,
  } = dialectNamed(store.dialect);
  const guarded = isGuarded(store);
  const retention = guarded ? null : (program?.retention?.(store.root) ?? null);
  const dueBefore = retention === null ? -Infinity : nowMs - retention.days * DAY_MS;
  const sums = { sessions: 0, bytes: 0, rows: 0, due: 0, dueBytes: 0, unreadable: 0 };
  const isInDatabase = databasesIn(store);
  let [firstMs, lastMs] = [Infinity, -Infinity];
  const onUnreadable = () => {
    sums.unreadable++;
  };
  for (const log of iterateLogs(store.root, layout, { onUnreadable })) {
    onLog(log);
    sums.sessions++;
    if (isInDatabase(log)) sums.rows += log.size;
    else sums.bytes += log.size;
    firstMs = Math.min(firstMs, log.mtimeMs);
    lastMs = Math.max(lastMs, log.mtimeMs);
    if (log.mtimeMs >= dueBefore) continue;
    sums.due++;
    sums.dueBytes += log.size;
  }
  const { due, dueBytes, ...counted } = sums;
  return {
    ...store,
    label: program?.label ?? store.dialect,
    ...counted,
    isGuarded: guarded,
    firstMs: sums.sessions === 0 ? null : firstMs,
    lastMs: sums.sessions === 0 ? null : lastMs,
    retention: retention === null ? null : { ...retention, due, dueBytes },
    unreadDatabases: guarded ? [] : (program?.unreadDatabases?.(store.root) ?? []),
  };
}

/** For each program with such a database, a line that says so. `agent`: only of this one. */
export async function unreadDatabaseNotes(cwd: string, agent?: string): Promise<string[]> {
  const stores = await findStores({ cwd, ...(agent !== undefined && { dialect: agent }) });
  return stores
    .filter((store) => !isGuarded(store))
    .flatMap(({ dialect, root }) => {
      const program = dialectNamed(dialect).program;
      const paths = program?.unreadDatabases?.(root) ?? [];
      return paths.map((path) => unreadDatabaseNote(program?.label ?? dialect, path));
    });
}

export function unreadDatabaseNote(label: string, path: string): string {
  return `${label} keeps sessions in ${path}, a database that Verbatim does not read yet: they are not guarded`;
}

/** Whether a session is in a database: its path is as if that were a directory. */
function databasesIn({ dialect, root }: FoundStore): (log: FoundLog) => boolean {
  if (dialectNamed(dialect).program?.changes !== "rows") return () => false;
  const answers = new Map<string, boolean>();
  return ({ path }) => {
    const above = dirname(join(root, path));
    const isFile = answers.get(above) ?? statOf(above)?.isFile() === true;
    answers.set(above, isFile);
    return isFile;
  };
}
