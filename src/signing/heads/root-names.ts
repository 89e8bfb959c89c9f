/**
 * Root names: what a store may be called in pins. They are written under the real path of its root;
 * but who replaces the root by a link to another store changes the real path, and every pin would be
 * out of sight. So pins count under each name by which the root is reached.
 *
 * RN1  The names are the path as it was given, with its first parts resolved or not: a link anywhere
 *      on the way is seen through, and what was pinned before it was put there is found.
 */

import { basename, dirname, isAbsolute, join, relative, resolve } from "node:path";
import type { Host } from "../../base/host.ts";
import { placeThatWas, type RootNames } from "./heads.ts";

/** The names of a store's root, which may be gone. */
export async function rootNames(
  host: Host,
  { dialect, root }: { readonly dialect: string; readonly root: string },
): Promise<RootNames> {
  const real = (path: string) => placeThatWas(host, { dialect, root: path });
  const given = resolve(root);
  const place = await real(given);
  const path = place.slice(dialect.length + 1);
  const others = new Set<string>();
  const typed = await typedName(path, async (name) => (await real(name)) === place);
  if (path === given && typed === null) return { place, others: [], leadsTo: null }; // No link.
  for (const name of typed === null ? [given] : [given, typed]) {
    for (let [at, below] = [name, ""]; ; [at, below] = [dirname(at), join(basename(at), below)]) {
      others.add(join(await real(at), below));
      if (at === dirname(at)) break;
    }
  }
  others.delete(place);
  const own = typed ?? given;
  const isLink = join(await real(dirname(own)), basename(own)) !== place && own !== dirname(own);
  return { place, others: [...others], leadsTo: isLink ? path : null };
}

/**
 * What a person calls the directory `path` when they are in it or below, and came there by a link:
 * the kernel knows only the real path, the shell says what was typed.
 */
async function typedName(
  path: string,
  isSame: (name: string) => Promise<boolean>,
): Promise<string | null> {
  const { PWD: shell } = process.env;
  const below = relative(path, process.cwd());
  if (shell === undefined || !isAbsolute(shell) || below.startsWith("..")) return null;
  const name = resolve(shell, ...below.split("/").map((part) => (part === "" ? "." : "..")));
  return name !== path && (await isSame(name)) ? name : null;
}
