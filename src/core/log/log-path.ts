/** Log path: the directory and file name of a log. */

import { basename, dirname, join, resolve } from "node:path";
import { errnoOf, ioError, VerbatimError } from "../base/errors.ts";
import { openIfThere } from "../base/file-steps.ts";
import type { Directory, OpenFile } from "../base/files.ts";
import type { Host } from "../base/host.ts";
import { logSegments } from "../base/ids.ts";

/** Next to a log: an erasure that is only half carried out (src/evidence/erase). Nothing reads the log. */
export const INTENT_ENDING = ".erase";

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
  name: string,
  { create, root }: LogPathOptions,
): Promise<LogPath> {
  const path = root === undefined ? resolve(name) : join(resolve(root), ...logSegments(name));
  try {
    const directory = await host.files.openDirectory(dirname(path), { create, root });
    const place = { directory, name: basename(path), path };
    let isClear = false;
    try {
      const intent = openIfThere(directory, place.name + INTENT_ENDING);
      intent?.close();
      isClear = intent === null;
      if (isClear) return place;
    } finally {
      if (!isClear) directory.close();
    }
  } catch (cause) {
    throw notFoundOr(path, "opening", cause);
  }
  const message = `${path}: an erasure was interrupted; \`verbatim doctor --fix\` finishes it`;
  throw new VerbatimError("NEEDS_RECOVERY", message, { path });
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
