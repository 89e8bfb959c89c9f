/**
 * Project: what a session is about, for every list, filter and report: the git repository of the
 * directory that its agent worked in, or else the directory.
 *
 * Repository: `owner/name` from `.git/config` of the directory or of one above; the home directory's
 * own is for files of the user, not for the projects in it. Reads small regular files only: any
 * session can name any directory.
 */

import { lstatSync, readFileSync } from "node:fs";
import { homedir } from "node:os";
import { dirname, isAbsolute, resolve } from "node:path";
import { oneLine } from "../../core/base/one-line.ts";
import type { Summary } from "../../core/model/summary.ts";
import { programOf, registryEntry } from "../../dialects/registry.ts";

export type ProjectFacts = Pick<Summary, "project" | "repository" | "directory">;

const DIRECTORY_CHARS_MAX = 200;

/** By what lines say; `store` is the project that has the store of a session that names none. */
export function projectFacts(
  { cwd = "", remote = "" }: { readonly cwd?: string; readonly remote?: string },
  store: string | null = null,
  repositoryIn: (directory: string) => string | null = repositoryOf,
): ProjectFacts {
  const directory = oneLine(cwd, DIRECTORY_CHARS_MAX) || store;
  const repository =
    repositoryName(remote) ?? (directory === null ? null : repositoryIn(directory));
  return { project: repository ?? directory, repository, directory };
}

/** The root of a store that is in a project; null: it has sessions of many. */
export function projectOfStore(dialect: string, root: string): string | null {
  const { usersRoot, mark } = registryEntry(dialect);
  return programOf(dialect) || usersRoot || mark !== undefined ? null : root;
}

const LEVELS_MAX = 32;
const CONFIG_BYTES_MAX = 65_536;

/** Null without a repository, or without a remote named origin. */
export function repositoryOf(directory: string): string | null {
  if (!isAbsolute(directory)) return null;
  let at = resolve(directory);
  const home = homedir();
  for (let level = 0; level < LEVELS_MAX; level++) {
    const git = gitDirectory(`${at}/.git`);
    if (git !== null) return originIn(git);
    if (dirname(at) === at || dirname(at) === home) return null;
    at = dirname(at);
  }
  return null;
}

/** The directory with `config`; a worktree names its own in a file, next to which is the common one. */
function gitDirectory(path: string): string | null {
  const stats = statOf(path);
  if (stats?.isDirectory()) return path;
  const [, named] = /^gitdir: ([^\n]+)/.exec(smallText(path) ?? "") ?? [];
  if (named === undefined) return null;
  const own = resolve(dirname(path), named);
  const common = smallText(`${own}/commondir`)?.trim();
  return common ? resolve(own, common) : own;
}

function originIn(git: string): string | null {
  const config = smallText(`${git}/config`) ?? "";
  const [, section = ""] = /^\[remote "origin"\]([^[]*)/m.exec(config) ?? [];
  const [, url] = /^\s*url\s*=\s*(\S+)/m.exec(section) ?? [];
  return url === undefined ? null : repositoryName(url);
}

function smallText(path: string): string | null {
  const stats = statOf(path);
  if (!stats?.isFile() || stats.size > CONFIG_BYTES_MAX) return null;
  try {
    return readFileSync(path, "utf8");
  } catch {
    return null; // Not permitted, or removed since.
  }
}

function statOf(path: string) {
  try {
    return lstatSync(path, { throwIfNoEntry: false });
  } catch {
    return undefined; // Below a file, or not permitted.
  }
}

/** Longer names do not occur. */
const NAME_MAX = 100;

/**
 * `owner/name` of a git remote's URL. Nothing else of the URL is kept: it may hold a password.
 *
 *     git@example.org:acme/shop.git          acme/shop
 *     https://me:token@example.org/acme/shop  acme/shop
 *     /srv/git/shop.git                       shop
 */
export function repositoryName(url: string): string | null {
  const path = pathOf(url.trim());
  if (path === null) return null;
  const names = path.text
    .replace(/\/+$/, "")
    .replace(/\.git$/, "")
    .split("/");
  const name = names.slice(path.isRemote ? -2 : -1).join("/");
  return /^[\w.+~-]+(?:\/[\w.+~-]+)?$/.test(name) && name.length <= NAME_MAX ? name : null;
}

function pathOf(url: string): { readonly text: string; readonly isRemote: boolean } | null {
  const [, scheme, rest = ""] = /^([a-z][a-z0-9+.-]*):\/\/(.*)$/i.exec(url) ?? [];
  if (scheme !== undefined) {
    const slash = rest.indexOf("/");
    const isRemote = scheme.toLowerCase() !== "file";
    return slash < 0 ? null : { text: rest.slice(slash + 1).split(/[?#]/)[0] ?? "", isRemote };
  }
  const [, short] = /^[^/:]+:(.+)$/.exec(url) ?? []; // user@host:path
  if (short !== undefined) return { text: short.replace(/^\/+/, ""), isRemote: true };
  return url.startsWith("/") ? { text: url, isRemote: false } : null;
}
