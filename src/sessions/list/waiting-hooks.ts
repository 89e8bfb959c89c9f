/**
 * Waiting hooks: moves recorded hooks from the spool into their sessions: before sessions are listed
 * or searched and regularly while the server runs; and, for a command, before a session is looked
 * for by name, since it may consist only of waiting lines. (Opening one session does it too:
 * sessions/store/store.ts.) If none wait, it costs one directory listing.
 *
 * Hook records: sessions of a program that are there twice: in the program's own file, and as the
 * hooks that a store of ours recorded. The program's file says more, the record may be signed. Lists
 * show the program's.
 */

import { resolve, sep } from "node:path";
import type { Host } from "../../core/base/host.ts";
import { dialectNamed, loadDialects } from "../../dialects/all.ts";
import { DIALECT_NAMES, registryEntry } from "../../dialects/registry.ts";
import { type FoundStore, isStore, type StoreLookup, storesAt } from "./find-stores.ts";
import { programIdOf } from "./whose.ts";

const AGAIN_AFTER_MS = 500;

export interface WaitingHooksOptions {
  readonly host: Host;
  readonly stores: () => readonly FoundStore[];
  /** Called for hooks that cannot be moved, once for each fault. */
  readonly onFault: (what: string, cause: unknown) => void;
}

export class WaitingHooks {
  readonly #options: WaitingHooksOptions;
  readonly #timer: NodeJS.Timeout;
  #draining: Promise<void> | null = null;
  /** A run after the current one, for hooks that it may have missed. */
  #next: Promise<void> | null = null;
  #reported = "";

  constructor(options: WaitingHooksOptions) {
    this.#options = options;
    this.#timer = setInterval(() => {
      if (this.#draining === null) void this.drain();
    }, AGAIN_AFTER_MS);
    this.#timer.unref();
    void this.drain();
  }

  /** Resolves when all waiting hooks were moved or have failed. Never throws. */
  drain(): Promise<void> {
    if (this.#draining === null) {
      this.#draining = this.#drainAll().finally(() => {
        this.#draining = null;
      });
      return this.#draining;
    }
    this.#next ??= this.#draining.then(() => {
      this.#next = null;
      return this.drain();
    });
    return this.#next;
  }

  async close(): Promise<void> {
    clearInterval(this.#timer);
    await (this.#next ?? this.#draining);
  }

  async #drainAll(): Promise<void> {
    const { host, stores } = this.#options;
    const onWarning = (warning: string) => this.#report(new Error(warning));
    try {
      for (const { dialect, root } of stores()) {
        if (!dialectNamed(dialect).files?.inbox) continue;
        const { Store } = await import("../store/store.ts");
        await new Store(host, { dialect, root, onWarning }).drainInbox();
      }
    } catch (cause) {
      this.#report(cause);
    }
  }

  #report(cause: unknown): void {
    const text = String(cause);
    if (text === this.#reported) return;
    this.#reported = text;
    this.#options.onFault("putting recorded hooks into their sessions", cause);
  }
}

/**
 * Moves the recorded lines that may be of the named sessions, and loads a store only if some wait.
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
      if (!dialectNamed(dialect).files?.inbox?.mayWait(each)) continue;
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

interface Place {
  readonly id: string | null;
  readonly place: Pick<FoundStore, "dialect">;
}

/** The program's own session of each record among these. */
export function programSessions<Found extends Place>(all: readonly Found[]): Map<Found, Found> {
  /** A project that moved has two records of a session. */
  const records = new Map<string, Found[]>();
  const dialects = new Set<string>();
  for (const each of all) {
    const of = each.id === null ? null : dialectNamed(each.place.dialect).naming.hooksOf?.(each.id);
    if (!of) continue;
    const key = keyOf(of.dialect, of.name);
    records.set(key, [...(records.get(key) ?? []), each]);
    dialects.add(of.dialect);
  }
  const ownRecords = new Map<Found, Found>();
  if (records.size === 0) return ownRecords;
  for (const each of all) {
    const { id, place } = each;
    if (id === null || !dialects.has(place.dialect)) continue;
    const matches = records.get(keyOf(place.dialect, programIdOf(place.dialect, id))) ?? [];
    for (const record of matches) ownRecords.set(record, each);
  }
  return ownRecords;
}

/** The records among the sessions of some places, found without all of their ids. */
export class HookRecords<P extends Pick<FoundStore, "dialect">> {
  readonly #places: readonly P[];
  readonly #idsIn: (place: P) => readonly string[];
  /** By dialect: the names of the programs' own sessions, read when a record is met. */
  readonly #names = new Map<string, ReadonlySet<string>>();

  constructor(places: readonly P[], idsIn: (place: P) => readonly string[]) {
    this.#places = places;
    this.#idsIn = idsIn;
  }

  /** Whether it is a record of hooks whose program has its own file of the session. */
  has(place: P, id: string): boolean {
    const program = dialectNamed(place.dialect).naming.hooksOf?.(id);
    return program ? this.#namesIn(program.dialect).has(program.name) : false;
  }

  #namesIn(dialect: string): ReadonlySet<string> {
    const names =
      this.#names.get(dialect) ??
      new Set(
        this.#places
          .filter((place) => place.dialect === dialect)
          .flatMap((place) => this.#idsIn(place).map((id) => programIdOf(dialect, id))),
      );
    this.#names.set(dialect, names);
    return names;
  }
}

function keyOf(dialect: string, name: string): string {
  return `${dialect}\0${name}`;
}
