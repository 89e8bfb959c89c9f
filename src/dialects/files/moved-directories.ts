/**
 * Moved directories: an agent's directory of sessions, such as `~/.claude/projects`, may be a link to
 * another disk. That link is followed. Below it, and in all other places, none is.
 */

import { lstatSync, realpathSync, statSync } from "node:fs";
import { basename, dirname, resolve } from "node:path";
import type { Host } from "../../core/base/host.ts";
import { surroundings } from "../../core/base/node-paths.ts";
import { programOf, READ_DIALECT_NAMES, registryEntry } from "../registry.ts";

/** Whether a link at this path is followed: it is an agent's own, and leads to a directory. */
export function isMovedDirectory(path: string): boolean {
  const [root, name] = [dirname(path), basename(path)];
  const isOwn = READ_DIALECT_NAMES.some((dialect) => {
    const program = programOf(dialect);
    if (!program?.under.includes(name)) return false;
    return program.roots(surroundings()).some((each) => each === root || realPath(each) === root);
  });
  return isOwn && (statSync(path, { throwIfNoEntry: false })?.isDirectory() ?? false);
}

/** The host for an agent's root: what is in a moved directory is opened below that. */
export function followingHost(host: Host, dialect: string, root: string): Host {
  const paths = registryEntry(dialect).under.map((name) => resolve(root, name));
  const moved = paths.filter((path) => isLink(path) && isMovedDirectory(path));
  if (moved.length === 0) return host;
  const { openDirectory } = host.files;
  const files: Host["files"] = {
    ...host.files,
    openDirectory: (path, options) => {
      const at = moved.find((each) => `${resolve(path)}/`.startsWith(`${each}/`));
      return openDirectory(path, at && options.root ? { ...options, root: at } : options);
    },
  };
  return { ...host, files };
}

function isLink(path: string): boolean {
  return lstatSync(path, { throwIfNoEntry: false })?.isSymbolicLink() ?? false;
}

/** The path itself if there is nothing. */
function realPath(path: string): string {
  try {
    return realpathSync(path);
  } catch {
    return path;
  }
}
