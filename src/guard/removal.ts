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
import type { Removing, SessionFiles, SessionName } from "../evidence/removal/open-sessions.ts";
import { cachedAs, outsideRecords, removingIn } from "../evidence/removal/session-removal.ts";
import type { Removal } from "../evidence/removal/trash.ts";
import { GuardJournal } from "./journal.ts";
import { GUARD } from "./signatures.ts";

/** What follows the name of a session's file in the guard's store. */
const COPY = /^\.([1-9]\d{0,8}(\.gz|\.checkpoints)?|versions)(\.tmp)?$/;

function isCopyOf(path: string, name: string): boolean {
  return name.startsWith(basename(path)) && COPY.test(name.slice(basename(path).length));
}

/** Removing and restoring in a store: one of ours, or a guarded root. */
export async function removingAt(
  host: Host,
  root: string,
  onWarning: (warning: string) => void,
): Promise<Removing> {
  const guarded = guardedPlace(root) && readGuardedRoot(root);
  if (!guarded) return removingIn(host, root, onWarning);
  await loadDialects([guarded.agent]);
  return new GuardRemoving(host, guarded, onWarning);
}

class GuardRemoving implements Removing {
  readonly host: Host;
  readonly root: string;
  readonly sign: Removing["sign"];
  readonly #guarded: GuardedRoot;
  readonly #outside: Pick<Removing, "bury" | "exhume">;
  #journal: GuardJournal | null = null;
  #locks = 0;

  constructor(host: Host, guarded: GuardedRoot, onWarning: (warning: string) => void) {
    this.host = host;
    this.root = guarded.directory;
    this.#guarded = guarded;
    const { sign, ...outside } = outsideRecords(host, this.root, onWarning);
    this.sign = sign;
    this.#outside = outside;
  }

  agentFile = (id: string) => {
    const { agent, source } = this.#guarded;
    const dialect = dialectNamed(agent);
    const there = this.#records(id).find((each) => !isSourceGone(this.#guarded, each, dialect));
    return there ? join(source, there.path) : null;
  };

  /** The newest generation is first. */
  filesOf = ({ id }: SessionName) => {
    return this.#records(id).map(({ path, generation }): SessionFiles => {
      const names = namesIn(join(this.root, dirname(path)));
      const isOwn = (name: string) => isCopyOf(path, name);
      const newest = `${basename(path)}.${generation}`;
      const isNewest = (name: string) => name === newest || name === `${newest}.gz`;
      const logName = names.find(isNewest) ?? names.find(isOwn) ?? newest;
      const signed = Array.from({ length: generation }, (_, before) => {
        return { dialect: GUARD, id: `${this.#guarded.agent}/${id}/${before + 1}` };
      });
      return { folder: dirname(path), logName, isOwn, signed };
    });
  };

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

  bury = async (removals: readonly Removal[]) => {
    await this.#note("removed", removals);
    await this.#outside.bury(removals);
  };

  exhume = async (removal: Removal) => {
    await this.#note("restored", [removal]);
    await this.#outside.exhume(removal);
  };

  /** Also as sessions of the agent, which it has deleted since they were listed. */
  clean = async (removals: readonly Removal[]) => {
    const roots = [this.root, this.#guarded.source];
    await cleanCaches(removals.flatMap((each) => roots.map((root) => cachedAs(each, root))));
  };

  /** Of a session, removed or not: one for each file that the agent had of it. */
  #records(id: string): GuardRecord[] {
    const { sessions, removed } = this.#guarded;
    const all = this.#journal?.sessions.values() ?? [...sessions.values(), ...removed.values()];
    return [...all].filter((each) => each.id === id);
  }

  async #note(event: "removed" | "restored", removals: readonly Removal[]): Promise<void> {
    const records = removals.flatMap(({ folder, files, ...removal }) => {
      return this.#records(removal.id).filter(({ path, isRemoved }) => {
        const isMeant = dirname(path) === folder && files.some(({ name }) => isCopyOf(path, name));
        return isMeant && isRemoved !== (event === "removed");
      });
    });
    const events = records.map(({ path, id, generation }) => ({ event, path, id, generation }));
    await this.#journal?.add(events);
  }
}

function namesIn(directory: string): string[] {
  return statOf(directory)?.isDirectory() ? readdirSync(directory) : [];
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
