/**
 * Bundle files: the members of a bundle as a read-only file system. So a session is judged, and its
 * entries read, inside the bundle, by the code that judges stores, before a byte of it is written
 * anywhere.
 */

import { ioError, isNoSpace, VerbatimError } from "../../core/base/errors.ts";
import type { Directory, Files, OpenFile } from "../../core/base/files.ts";
import type { Host } from "../../core/base/host.ts";
import { writeUserFile } from "../../core/base/node-user-files.ts";
import { statOf } from "../../sessions/list/find-stores.ts";
import { isLogPlace } from "../../sessions/list/log-places.ts";
import { type SessionLog, sidecarOf } from "../../trust/session-log.ts";
import type { Member, OpenBundle } from "./bundle-archive.ts";
import { CHECKPOINTS, LOG, spillMember } from "./member-names.ts";

/** A disk with one session, `log`, whose root is the bundle itself. */
export function bundleFiles(
  bundle: OpenBundle,
  members: ReadonlyMap<string, Member>,
  { logId }: Pick<SessionLog, "logId">,
): Files {
  const logName = logId.slice(logId.lastIndexOf("/") + 1);
  const memberAt = (name: string): Member | undefined => {
    if (name === logName) return members.get(LOG);
    if (name === sidecarOf(logName)) return members.get(CHECKPOINTS);
    const isShared = name.startsWith(`${logName}.`);
    return members.get(spillMember(isShared ? name.slice(logName.length + 1) : name));
  };
  return {
    makeDirectory: async () => refuse("EROFS"),
    openDirectory: async (path) => directoryAt(path, bundle, memberAt),
  };
}

function directoryAt(
  path: string,
  bundle: OpenBundle,
  memberAt: (name: string) => Member | undefined,
): Directory {
  return {
    path,
    networkFileSystem: null,
    open: (name, mode) => {
      const member = memberAt(name);
      if (mode !== "read") return refuse("EROFS");
      return member ? memberFile(bundle, member) : refuse("ENOENT");
    },
    remove: () => refuse("EROFS"),
    names: () => [],
    rename: () => refuse("EROFS"),
    sync: async () => {},
    syncAncestors: async () => {},
    watch: () => () => {},
    close: () => {},
  };
}

function memberFile({ file }: OpenBundle, { name, start, bytes }: Member): OpenFile {
  return {
    read: (into, at) => {
      const length = Math.max(0, Math.min(into.length, bytes - at));
      return length === 0 ? Promise.resolve(0) : file.read(into.subarray(0, length), start + at);
    },
    write: () => refuse("EROFS"),
    landing: () => refuse("EROFS"),
    writeAt: () => refuse("EROFS"),
    sync: async () => {},
    truncate: () => refuse("EROFS"),
    size: () => bytes,
    endsAt: (size) => size === bytes,
    identity: () => `${file.identity()}:${name}`,
    isLinked: () => true,
    narrow: () => null,
    tryLock: () => true,
    unlock: () => {},
    close: () => {}, // The bundle stays open: all members share one descriptor.
  };
}

/** Throws like an operating system. */
function refuse(errno: "EROFS" | "ENOENT"): never {
  throw Object.assign(new Error(`${errno}, in a bundle`), { code: errno });
}

/**
 * The output file of a bundle, written whole or not at all.
 *
 * Refuses to replace the log itself, by any name or link, another log, or something that is not a
 * file.
 */
export async function refuseOutput(path: string, logPath: string): Promise<void> {
  if (await isLogPlace(path)) {
    throw new VerbatimError(
      "IO_ERROR",
      `${path} belongs to a log or is next to one; choose another file`,
      { path, operation: "writing a bundle", errno: "EEXIST" },
    );
  }
  const [there, log] = [path, logPath].map(statOf);
  if (!there || (there.isFile() && (there.ino !== log?.ino || there.dev !== log.dev))) return;
  const errno = there.isFile() ? "EEXIST" : "EISDIR";
  throw ioError(path, "writing a bundle", Object.assign(new Error(errno), { code: errno }));
}

/** Puts what `pack` writes there, once it is durable; an existing file stays until then. */
export async function writeBundle<T>(
  { files }: Host,
  path: string,
  pack: (file: OpenFile) => Promise<T>,
): Promise<T> {
  try {
    return await writeUserFile(files, path, "update", pack);
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
