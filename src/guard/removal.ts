/**
 * Removal: removes the guard's copies of a session, all generations, to the trash of their guarded
 * root. The agent's own file is never touched.
 *
 * - The journal says that a copy was removed before the copy goes: a guard that starts then copies
 *   the session no more.
 * - The journal's lock is held meanwhile, which a guard at work has.
 */

import { readdirSync } from "node:fs";
import { basename, dirname, join } from "node:path";
import { VerbatimError } from "../core/base/errors.ts";
import type { Host } from "../core/base/host.ts";
import { dialectNamed, loadDialects } from "../dialects/all.ts";
import {
  type GuardedRoot,
  type GuardRecord,
  guardedPlace,
  readGuardedRoot,
  statOf,
} from "../dialects/files/guard-store.ts";
import { isSourceGone } from "../dialects/files/guarded.ts";
import { cleanCaches } from "../evidence/erase/clean-caches.ts";
import type { Removing } from "../evidence/removal/removals.ts";
import {
  cachedAs,
  outsideRecords,
  type RemovalRequest,
  removeNamed,
  removingIn,
} from "../evidence/removal/session-removal.ts";
import type { Removal, TrashEntry } from "../evidence/removal/trash.ts";
import { GuardJournal } from "./journal.ts";
import { GUARD } from "./signatures.ts";

/** The copies that the guard has of one session. */
export interface GuardCopies {
  readonly root: GuardedRoot;
  readonly id: string;
  /** One for each file that the agent had of it. */
  readonly records: readonly GuardRecord[];
  /** Null: it is gone. */
  readonly agentFile: string | null;
  readonly bytes: number;
}

/** What follows the name of a session's file in the guard's store. */
const COPY = /^\.([1-9]\d{0,8}(\.gz|\.checkpoints)?|versions)(\.tmp)?$/;

function isCopyOf(path: string, name: string): boolean {
  return name.startsWith(basename(path)) && COPY.test(name.slice(basename(path).length));
}

/** Names of the files of a copy, the newest generation first. */
function copyNames(root: GuardedRoot, { path, generation }: GuardRecord): string[] {
  const directory = join(root.directory, dirname(path));
  const names = statOf(directory)?.isDirectory() ? readdirSync(directory) : [];
  const own = names.filter((name) => isCopyOf(path, name));
  const newest = new RegExp(`\\.${generation}(\\.gz)?$`);
  return [...own.filter((name) => newest.test(name)), ...own.filter((name) => !newest.test(name))];
}

/** Null: the guard has none. */
export async function copiesOf(root: GuardedRoot, id: string): Promise<GuardCopies | null> {
  await loadDialects([root.agent]);
  const all = [...root.sessions.values()].filter((each) => each.id === id);
  const records = all.filter((each) => copyNames(root, each).length > 0);
  if (records.length === 0) return null;
  const paths = records.flatMap((each) => {
    return copyNames(root, each).map((name) => join(root.directory, dirname(each.path), name));
  });
  const bytes = paths.reduce((sum, path) => sum + (statOf(path)?.size ?? 0), 0);
  return { root, id, records, agentFile: agentFileOf(root, id), bytes };
}

/** The agent's own file of a session whose copy the guard has, had, or has in the trash. */
export function agentFileOf(root: GuardedRoot, id: string): string | null {
  const all = [...root.sessions.values(), ...root.removed.values()];
  const dialect = dialectNamed(root.agent);
  const there = all.find((each) => each.id === id && !isSourceGone(root, each, dialect));
  return there ? join(root.source, there.path) : null;
}

/** Removes the files of the copies; the caller has the lock of `removing`. */
export async function removeCopies(
  removing: Removing,
  { root, id, records }: GuardCopies,
  request: RemovalRequest,
): Promise<TrashEntry[]> {
  await request.begin();
  const entries: TrashEntry[] = [];
  for (const [n, record] of records.entries()) {
    const { path, generation } = record;
    const signed = Array.from({ length: generation }, (_, before) => {
      return { dialect: GUARD, id: `${root.agent}/${id}/${before + 1}` };
    });
    const names = copyNames(root, record);
    const files = { dialect: root.agent, id, folder: dirname(path), names, signed };
    const notes = n === 0 ? request.notes : [];
    entries.push(await removeNamed(removing, { ...request, notes }, files));
  }
  return entries;
}

/** Removing and restoring in a store: one of ours, or a guarded root. */
export function removingAt(
  host: Host,
  root: string,
  onWarning: (warning: string) => void,
): Removing {
  const guarded = guardedPlace(root) && readGuardedRoot(root);
  return guarded ? new GuardRemoving(host, guarded, onWarning) : removingIn(host, root, onWarning);
}

class GuardRemoving implements Removing {
  readonly host: Host;
  readonly root: string;
  readonly #guarded: GuardedRoot;
  readonly #outside: Pick<Removing, "bury" | "exhume">;
  #journal: GuardJournal | null = null;
  #locks = 0;

  constructor(host: Host, guarded: GuardedRoot, onWarning: (warning: string) => void) {
    this.host = host;
    this.root = guarded.directory;
    this.#guarded = guarded;
    this.#outside = outsideRecords(host, onWarning);
  }

  /** Of the whole root: several sessions are removed with the journal open. */
  lock = async () => {
    this.#journal ??= await openJournal(this.host, this.#guarded);
    this.#locks++;
    return {
      close: async () => {
        if (--this.#locks > 0) return;
        await this.#journal?.close();
        this.#journal = null;
      },
    };
  };

  bury = async (removal: Removal) => {
    await this.#note("removed", (record) => !record.isRemoved && isOf(record, removal));
    await this.#outside.bury(removal);
  };

  exhume = async (removal: Removal) => {
    await this.#note("restored", (record) => record.isRemoved && isOf(record, removal));
    await this.#outside.exhume(removal);
  };

  isOwn = async (removal: Removal, name: string) => {
    const { sessions = [], removed = [] } = readGuardedRoot(this.root) ?? {};
    const records = [...sessions, ...removed].map(([, record]) => record);
    return records.some((each) => isOf(each, removal, [name]));
  };

  /** Also as sessions of the agent, which it has deleted since they were listed. */
  clean = async (removals: readonly Removal[]) => {
    const { agent, source } = this.#guarded;
    await loadDialects([agent]);
    const roots = [this.root, source];
    await cleanCaches(removals.flatMap((each) => roots.map((root) => cachedAs(each, root))));
  };

  async #note(event: string, isMeant: (record: GuardRecord) => boolean): Promise<void> {
    const records = [...(this.#journal?.sessions.values() ?? [])].filter(isMeant);
    const events = records.map(({ path, id, generation }) => ({ event, path, id, generation }));
    await this.#journal?.add(events);
  }
}

function isOf(
  { path, id }: GuardRecord,
  { folder, files, ...removal }: Removal,
  names = files.map(({ name }) => name),
): boolean {
  if (id !== removal.id || dirname(path) !== folder) return false;
  return names.some((name) => isCopyOf(path, name));
}

async function openJournal(host: Host, { directory, agent, source }: GuardedRoot) {
  try {
    return await GuardJournal.open(host, directory, { agent, root: source }, Date.now);
  } catch (cause) {
    if (!(cause instanceof VerbatimError) || cause.code !== "LOG_LOCKED") throw cause;
    const why = `a guard is at work on ${source}, and would copy it again`;
    const next = "stop it, or its service with `verbatim guard uninstall`, and try again";
    throw new VerbatimError("LOG_LOCKED", `${why}: ${next}`, cause.details as never);
  }
}

/** Lets the guard copy a session again whose copy was removed for good; false: it may already. */
export async function releaseCopy(host: Host, root: GuardedRoot, id: string): Promise<boolean> {
  const records = [...root.removed.values()].filter((each) => each.id === id);
  if (records.length === 0) return false;
  const journal = await openJournal(host, root);
  try {
    const events = records.map(({ path, generation }) => ({ path, id, generation }));
    await journal.add(events.map((each) => ({ event: "released", ...each })));
  } finally {
    await journal.close();
  }
  return true;
}
