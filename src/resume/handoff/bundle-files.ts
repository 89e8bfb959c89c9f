/**
 * Bundle files: the members of a bundle as a read-only file system. So a session is judged, and its
 * entries read, inside the bundle, by the code that judges stores, before a byte of it is written
 * anywhere.
 */

import type { Directory, Files, OpenFile } from "../../base/files.ts";
import type { SessionLog } from "../../signing/session-log.ts";
import { sidecarOf } from "../../signing/session-log.ts";
import type { Member, OpenBundle } from "./bundle-reader.ts";
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
    return members.get(name === sidecarOf(logName) ? CHECKPOINTS : spillMember(name));
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
