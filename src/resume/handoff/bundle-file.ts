/** Bundle file: the output file of a bundle, written whole or not at all. */

import { randomUUID } from "node:crypto";
import { statSync } from "node:fs";
import { basename, dirname } from "node:path";
import { ioError, isNoSpace, VerbatimError } from "../../base/errors.ts";
import type { OpenFile } from "../../base/files.ts";
import type { Host } from "../../base/host.ts";
import { isLogPlace } from "../../listing/log-places.ts";

/**
 * Refuses to replace the log itself, by any name or link, another log, or something that is not a
 * file.
 */
export function refuseOutput(path: string, logPath: string): void {
  if (isLogPlace(path)) {
    throw new VerbatimError(
      "IO_ERROR",
      `${path} belongs to a log or is next to one; choose another file`,
      { path, operation: "writing a bundle", errno: "EEXIST" },
    );
  }
  const [there, log] = [path, logPath].map((each) => statSync(each, { throwIfNoEntry: false }));
  if (!there || (there.isFile() && (there.ino !== log?.ino || there.dev !== log.dev))) return;
  const errno = there.isFile() ? "EEXIST" : "EISDIR";
  throw ioError(path, "writing a bundle", Object.assign(new Error(errno), { code: errno }));
}

/** Puts what `pack` writes there, once it is durable; an existing file stays until then. */
export async function writeWhole<T>(
  host: Host,
  path: string,
  pack: (file: OpenFile) => Promise<T>,
): Promise<T> {
  const temporary = `.${basename(path).slice(0, 100)}.${randomUUID()}.tmp`;
  try {
    const directory = await host.files.openDirectory(dirname(path), { create: false });
    try {
      const file = directory.open(temporary, "update");
      try {
        const packed = await pack(file);
        await file.sync();
        directory.rename(temporary, basename(path));
        await directory.sync();
        return packed;
      } catch (cause) {
        directory.remove(temporary);
        throw cause;
      } finally {
        file.close();
      }
    } finally {
      directory.close();
    }
  } catch (cause) {
    throw handoffError(path, cause);
  }
}

function handoffError(path: string, cause: unknown): VerbatimError {
  if (!isNoSpace(cause)) return ioError(path, "writing a bundle", cause);
  return new VerbatimError(
    "NO_SPACE",
    `there is no room for ${path}; nothing was written`,
    { path, end: 0, bytes: 0 },
    { cause },
  );
}
