/** Log path: the directory and file name of a log. */

import { basename, dirname, join, resolve } from "node:path";
import { errnoOf, ioError, VerbatimError } from "../base/errors.ts";
import type { Directory, OpenFile } from "../base/files.ts";
import type { Host } from "../base/host.ts";
import { logSegments } from "../base/ids.ts";

export interface LogPath {
  readonly directory: Directory;
  readonly name: string;
  readonly path: string;
}

export interface LogPathOptions {
  readonly create: boolean;
  /** `path` is an id below this directory, and nothing outside it is ever opened. */
  readonly root?: string | undefined;
}

export async function openLogPath(
  host: Host,
  path: string,
  { create, root }: LogPathOptions,
): Promise<LogPath> {
  const full = root === undefined ? resolve(path) : join(resolve(root), ...logSegments(path));
  try {
    const directory = await host.files.openDirectory(dirname(full), { create, root });
    return { directory, name: basename(full), path: full };
  } catch (cause) {
    throw notFoundOr(full, "opening", cause);
  }
}

/** Opens the log at a place for reading. */
export function openToRead({ directory, name, path }: LogPath): OpenFile {
  try {
    return directory.open(name, "read");
  } catch (cause) {
    throw notFoundOr(path, "opening", cause);
  }
}

function notFoundOr(path: string, operation: string, cause: unknown): VerbatimError {
  if (errnoOf(cause) !== "ENOENT") return ioError(path, operation, cause);
  return new VerbatimError(
    "LOG_NOT_FOUND",
    `there is no log at ${path}; check the path, or open it to append, which creates it`,
    { path },
    { cause },
  );
}
