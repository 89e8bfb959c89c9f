/**
 * Lock: kernel locks on open files. The only place that uses the native package.
 *
 * On Linux these are open-file-description locks: they belong to the handle, exclude other handles
 * of this process too, and end with their holder (docs/decisions/0003).
 */

import native from "fs-native-extensions";

const OPTIONS = { exclusive: { shared: false }, shared: { shared: true } } as const;

export function tryLockDescriptor(descriptor: number, kind: "exclusive" | "shared"): boolean {
  return native.tryLock(descriptor, 0, 0, OPTIONS[kind]);
}

export function unlockDescriptor(descriptor: number): void {
  native.unlock(descriptor);
}
