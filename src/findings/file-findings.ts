/**
 * File findings: what names, file types and permissions show, without opening anything.
 *
 * Files are judged if their names are ours. The directory that holds logs is judged, those above it
 * are not: they belong to a project or an agent, and may be open to others.
 */

import type { Seen } from "../base/node-surroundings.ts";
import { type Finding, type FoundAt, finding } from "./finding.ts";

export const FILE_MODE = 0o600;
export const DIRECTORY_MODE = 0o700;

/**
 * What is wrong with a log and the files next to it, in `directory`. Permissions are checked only
 * on files that we made (`isOurOwn`); other programs choose their own.
 */
export function* fileFindings(
  directory: string,
  session: string | null,
  files: readonly Seen[],
  isOurOwn = true,
): Generator<Finding> {
  for (const { name, kind, mode } of files) {
    const at = { session, path: `${directory}/${name}` };
    if (kind === "file") {
      if (isOurOwn) yield* modeFinding(at, name, mode, FILE_MODE);
    } else if (kind === "link") yield finding("SYMLINK_REFUSED", at, `${name} is a symbolic link`);
    else yield finding("SYMLINK_REFUSED", at, `${name} is no plain file`);
  }
}

export function* directoryFindings(at: FoundAt, directory: Seen | null): Generator<Finding> {
  if (directory) yield* modeFinding(at, "the directory", directory.mode, DIRECTORY_MODE);
}

function* modeFinding(at: FoundAt, what: string, mode: number, right: number): Generator<Finding> {
  if (mode === right) return;
  const whose = (mode & 0o077) !== 0 ? "others get at it" : "its owner cannot use it";
  yield finding("WRONG_MODE", at, `${what} is ${octal(mode)}, not ${octal(right)}: ${whose}`);
}

function octal(mode: number): string {
  return mode.toString(8).padStart(4, "0");
}
