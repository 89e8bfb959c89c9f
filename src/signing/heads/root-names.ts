/**
 * Root names: the names a store may have in pins. Pins are written under the real path of its root.
 * Replacing the root by a link to another store changes the real path, and would hide every pin. So
 * pins count under each name by which the root is reached: the path as given, with its first
 * components resolved or not. This sees through a link anywhere in the path, and finds what was
 * pinned before the link was created.
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
  // No link in the path.
  if (path === given && typed === null) return { place, others: [], leadsTo: null };
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
 * The name of the directory `path` if the user is in it or below, and came there by a link: the
 * kernel knows only the real path, the shell has the path that was typed.
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
