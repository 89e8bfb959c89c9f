/**
 * Lock: kernel locks on open files. The only place that uses the native package.
 *
 * On Linux these are open-file-description locks: they belong to the handle, exclude other handles
 * of this process too, and end with their holder (docs/decisions/0003).
 */

import { createRequire } from "node:module";
import type Native from "fs-native-extensions";

/** Loaded at the first lock: most commands only read, and take none. */
let loaded: typeof Native | null = null;

function native(): typeof Native {
  loaded ??= createRequire(import.meta.url)("fs-native-extensions") as typeof Native;
  return loaded;
}

const OPTIONS = { exclusive: { shared: false }, shared: { shared: true } } as const;

export function tryLockDescriptor(descriptor: number, kind: "exclusive" | "shared"): boolean {
  return native().tryLock(descriptor, 0, 0, OPTIONS[kind]);
}

export function unlockDescriptor(descriptor: number): void {
  native().unlock(descriptor);
}
