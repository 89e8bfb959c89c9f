/** Read-only files in memory: verifying a hundred thousand of them needs no disk. */

import type { Directory, OpenFile } from "../../src/core/base/files.ts";
import type { Host } from "../../src/core/base/host.ts";
import { nodeHost } from "../../src/core/base/node-host.ts";
import { errno } from "./refusal.ts";

/** Paths and their contents; may be changed between two reads. */
export type MemoryFiles = Map<string, Uint8Array>;

/** A host whose disk has only these files. `onRead` gets the number of bytes of each read. */
export function memoryHost(files: MemoryFiles, onRead: (bytes: number) => void = () => {}): Host {
  return {
    ...nodeHost,
    files: {
      makeDirectory: async () => readOnly(),
      openDirectory: async (path) => directory(path, files, onRead),
    },
  };
}

function directory(path: string, files: MemoryFiles, onRead: (bytes: number) => void): Directory {
  return {
    path,
    networkFileSystem: null,
    open: (name, mode) => {
      const bytes = files.get(`${path}/${name}`);
      if (mode !== "read") return readOnly();
      if (!bytes) throw errno("ENOENT");
      return openFile(bytes, `${path}/${name}`, onRead);
    },
    remove: readOnly,
    names: () => namesBelow(path, files),
    rename: readOnly,
    sync: async () => {},
    syncAncestors: async () => {},
    watch: () => () => {},
    close: () => {},
  };
}

function namesBelow(path: string, files: MemoryFiles): string[] {
  const names = [...files.keys()].filter((file) => file.startsWith(`${path}/`));
  return names.map((file) => file.slice(path.length + 1)).filter((name) => !name.includes("/"));
}

function openFile(bytes: Uint8Array, identity: string, onRead: (bytes: number) => void): OpenFile {
  return {
    read: async (into, at) => {
      const taken = bytes.subarray(at, at + into.length);
      into.set(taken);
      onRead(taken.length);
      return taken.length;
    },
    write: readOnly,
    landing: readOnly,
    writeAt: readOnly,
    sync: async () => {},
    truncate: readOnly,
    size: () => bytes.length,
    endsAt: (size) => size === bytes.length,
    identity: () => identity,
    isLinked: () => true,
    narrow: () => null,
    tryLock: () => true,
    unlock: () => {},
    close: () => {},
  };
}

function readOnly(): never {
  throw errno("EROFS");
}
