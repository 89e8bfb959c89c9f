/**
 * Find stores: which stores a user means, from the current directory and the options given. Without
 * a root: those of the programs, those above the directory, and those that are remembered.
 *
 * Checks only whether directories exist. `findStores` also loads the dialects of what it finds, so
 * that its callers can read there.
 */

import { type Stats, statSync } from "node:fs";
import { basename, dirname, join, resolve } from "node:path";
import { checkChoice } from "../../core/base/choice.ts";
import { VerbatimError } from "../../core/base/errors.ts";
import { surroundings } from "../../core/base/node-paths.ts";
import { loadDialects } from "../../dialects/all.ts";
import { guardedPlace, guardedRoots } from "../../dialects/files/guard-store.ts";
import { programOf, READ_DIALECT_NAMES, registryEntry } from "../../dialects/registry.ts";
import { receivedStores } from "./received-stores.ts";
import { rememberedStores } from "./remembered-stores.ts";

/** The user's current directory, and the options on where to look. */
export interface StoreLookup {
  readonly cwd: string;
  /** Look in this store instead of those found from `cwd`. */
  readonly root?: string | undefined;
  readonly dialect?: string | undefined;
  /** Of a server's data directory as the root also what it received, which is only for reading. */
  readonly hasReceived?: boolean;
}

export interface FoundStore {
  readonly dialect: string;
  readonly root: string;
}

/** One place to look in, or several. */
export type StoreLookups = StoreLookup | readonly StoreLookup[];

/** The stores that `where` names, or that are found from there. Their dialects are loaded. */
export async function findStores(where: StoreLookups): Promise<FoundStore[]> {
  const storesByPlace = new Map<string, FoundStore>();
  for (const store of [where].flat().flatMap(storesAt)) {
    storesByPlace.set(`${store.dialect}\0${store.root}`, store);
  }
  const stores = [...storesByPlace.values()];
  await loadDialects(stores.map(({ dialect }) => dialect));
  return stores;
}

/** The same for code that only needs their names, or that has loaded all dialects. */
export function storesAt({ cwd, root, dialect, hasReceived = false }: StoreLookup): FoundStore[] {
  checkChoice("dialect", dialect, READ_DIALECT_NAMES);
  const wanted = dialect === undefined ? READ_DIALECT_NAMES : [dialect];
  if (root === undefined) {
    const guarded = guardedRoots(); // Once: there are many programs.
    const remembered = rememberedStores();
    return wanted.flatMap((name) => {
      const program = programOf(name);
      if (program) return programStores(name, program.roots(surroundings()), guarded);
      const nearest = registryEntry(name).usersRoot?.() ?? projectAbove(cwd, name);
      const others = remembered.filter(({ dialect: written, root: at }) => {
        return written === name && at !== nearest && isStore(name, at);
      });
      // A dialect given by name has its default place; otherwise the store must exist.
      if (dialect !== undefined) return [{ dialect: name, root: nearest ?? cwd }, ...others];
      const isThere = nearest !== null && isStore(name, nearest);
      return isThere ? [{ dialect: name, root: nearest }, ...others] : others;
    });
  }
  const at = resolve(cwd, root);
  if (!statOf(at)?.isDirectory()) {
    throw new VerbatimError("IO_ERROR", `there is no directory ${at}; check --root`, {
      path: at,
      operation: "opening",
      errno: "ENOENT",
    });
  }
  const names = dialect === undefined ? wanted.filter((name) => isStore(name, at)) : wanted;
  const received = hasReceived ? receivedStores(at) : [];
  return names
    .map((name): FoundStore => ({ dialect: name, root: at }))
    .concat(received.filter((store) => dialect === undefined || store.dialect === dialect));
}

/**
 * Where the program keeps sessions: in the user's home, wherever the user is. And where the guard
 * keeps those that the program no longer has.
 */
function programStores(
  dialect: string,
  roots: readonly string[],
  guarded: readonly string[],
): FoundStore[] {
  const ownRoots = [...new Set(roots)].filter((root) => hasSessions(dialect, root));
  const kept = guarded.filter((root) => basename(root).startsWith(`${dialect}@`));
  return [...ownRoots, ...kept].map((root) => ({ dialect, root }));
}

/** Whether a store has copies of sessions that their program no longer has. */
export function isGuarded({ root }: FoundStore): boolean {
  return guardedPlace(root) !== null;
}

/** The stat of a path, links followed; undefined if there is nothing that we can see. */
export function statOf(path: string): Stats | undefined {
  try {
    return statSync(path, { throwIfNoEntry: false });
  } catch {
    return undefined; // Below a file, or not permitted: treated as missing.
  }
}

/** The nearest directory, from here upwards, that has sessions of the dialect. */
function projectAbove(directory: string, dialect: string): string | null {
  for (let at = resolve(directory); ; at = dirname(at)) {
    if (isStore(dialect, at)) return at;
    if (at === dirname(at)) return null;
  }
}

export function isStore(dialect: string, root: string): boolean {
  // By its name first: the guard's directory would be read for each dialect.
  const mayBeGuarded = basename(root).startsWith(`${dialect}@`);
  if (mayBeGuarded && guardedRoots(dialect).includes(root)) return true;
  return isProgramRoot(dialect, root) && hasSessions(dialect, root);
}

/**
 * Whether a program's directory is named as the program names it. Its layout alone says little:
 * many programs have a directory `sessions`.
 */
export function isProgramRoot(dialect: string, root: string): boolean {
  const roots = programOf(dialect)?.roots(surroundings());
  return roots === undefined || roots.some((each) => each === root || sameName(each, root));
}

function sameName(one: string, other: string): boolean {
  return basename(one) === basename(other);
}

function hasSessions(dialect: string, root: string): boolean {
  const { under, mark, usersRoot } = registryEntry(dialect);
  if (mark !== undefined && !statOf(join(root, mark))?.isFile()) return false;
  return under.some((path) => {
    try {
      return statSync(join(root, path), { throwIfNoEntry: false })?.isDirectory() ?? false;
    } catch {
      // An unreadable directory of the dialect's own is a store: reading it reports the error.
      const segments = path.split("/");
      if (segments.length === 1 && root !== usersRoot?.()) return false;
      return statOf(join(root, ...segments.slice(0, -1)))?.isDirectory() ?? false;
    }
  });
}
