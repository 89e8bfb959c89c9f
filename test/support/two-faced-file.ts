/**
 * Two-faced file: a file that a second program rewrites between any two calls of a reader. A schedule
 * determines which of its two contents a call sees, so that every order can be tried.
 */

import type { Directory, OpenFile } from "../../src/core/base/files.ts";
import type { Host } from "../../src/core/base/host.ts";
import { nodeHost } from "../../src/core/base/node-host.ts";

export interface TwoFaced {
  /** The file's name, in any directory. */
  readonly name: string;
  readonly contents: readonly [Uint8Array, Uint8Array];
  /** Which content the n-th call sees; after the last, from the beginning again. */
  readonly schedule: readonly (0 | 1)[];
}

/** The real disk, except for that one file. `calls` counts the calls on it. */
export function twoFacedHost(file: TwoFaced): { readonly host: Host; calls(): number } {
  let calls = 0;
  const now = (): Uint8Array => {
    return file.contents[file.schedule[calls++ % file.schedule.length] ?? 0];
  };
  const faced = (opened: OpenFile): OpenFile => {
    return Object.assign(Object.create(opened) as OpenFile, {
      read: async (into: Uint8Array, at: number) => {
        const bytes = now().subarray(at, at + into.length);
        into.set(bytes);
        return bytes.length;
      },
      size: () => now().length,
      identity: () => opened.identity(),
      close: () => opened.close(),
    });
  };
  const files = {
    ...nodeHost.files,
    async openDirectory(...args: Parameters<Host["files"]["openDirectory"]>) {
      const directory = await nodeHost.files.openDirectory(...args);
      const open: Directory["open"] = (name, mode) => {
        const opened = directory.open(name, mode);
        return name === file.name ? faced(opened) : opened;
      };
      return {
        path: directory.path,
        networkFileSystem: directory.networkFileSystem,
        open,
        remove: (name) => directory.remove(name),
        names: () => directory.names(),
        rename: (from, to) => directory.rename(from, to),
        sync: () => directory.sync(),
        syncAncestors: () => directory.syncAncestors(),
        watch: (name, onChange) => directory.watch(name, onChange),
        close: () => directory.close(),
      } satisfies Directory;
    },
  };
  return { host: { ...nodeHost, files }, calls: () => calls };
}

/** Every order of that many calls. */
export function* schedules(calls: number): Generator<readonly (0 | 1)[]> {
  for (let bits = 0; bits < 2 ** calls; bits++) {
    yield Array.from({ length: calls }, (_, n) => ((bits >> n) & 1) as 0 | 1);
  }
}
