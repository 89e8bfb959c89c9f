/**
 * Find stores: which stores a person means by where they stand and what they said of it.
 *
 * Asks only whether directories are there. Nothing that reads or writes sessions is loaded for it.
 */

import { type Stats, statSync } from "node:fs";
import { dirname, join, resolve } from "node:path";
import { checkChoice } from "../base/choice.ts";
import { VerbatimError } from "../base/errors.ts";
import { dialectNamed, READ_DIALECT_NAMES } from "../dialects/all.ts";

/** Where a person stands, and what they said about where to look. */
export interface Where {
  readonly cwd: string;
  /** Look in this store instead of those found from `cwd`. */
  readonly root?: string | undefined;
  readonly dialect?: string | undefined;
}

export interface FoundStore {
  readonly dialect: string;
  readonly root: string;
}

/** The stores that `where` names, or that are found from there. */
export function findStores({ cwd, root, dialect }: Where): FoundStore[] {
  checkChoice("dialect", dialect, READ_DIALECT_NAMES);
  const wanted = dialect === undefined ? READ_DIALECT_NAMES : [dialect];
  if (root === undefined) {
    return wanted.flatMap((name) => {
      const found = dialectNamed(name).usersRoot?.() ?? projectAbove(cwd, name);
      // Asked for by name, it is where it would be; otherwise it must be there.
      if (dialect !== undefined) return [{ dialect: name, root: found ?? cwd }];
      return found !== null && isStore(name, found) ? [{ dialect: name, root: found }] : [];
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
  return names.map((name) => ({ dialect: name, root: at }));
}

/** What is at a path, links followed; undefined when nothing is that we can see. */
export function statOf(path: string): Stats | undefined {
  try {
    return statSync(path, { throwIfNoEntry: false });
  } catch {
    return undefined; // Below a file, or not ours to see: for us it is not there.
  }
}

/** The nearest directory, from here upwards, that has sessions of the dialect in it. */
function projectAbove(directory: string, dialect: string): string | null {
  for (let at = resolve(directory); ; at = dirname(at)) {
    if (isStore(dialect, at)) return at;
    if (at === dirname(at)) return null;
  }
}

/** Whether a store of that dialect is there. */
export function isStore(dialect: string, root: string): boolean {
  const { layout, usersRoot } = dialectNamed(dialect);
  const { under, mark } = layout;
  if (mark !== undefined && !statOf(join(root, mark))?.isFile()) return false;
  try {
    return statSync(join(root, ...under), { throwIfNoEntry: false })?.isDirectory() ?? false;
  } catch {
    // A directory of the dialect's own that we may not look into is a store: who looks says so.
    if (under.length === 1 && root !== usersRoot?.()) return false;
    return statOf(join(root, ...under.slice(0, -1)))?.isDirectory() ?? false;
  }
}
