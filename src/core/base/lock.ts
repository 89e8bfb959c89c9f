/**
 * Lock: kernel locks on open files. The only place that loads native code.
 *
 * On Linux these are open-file-description locks: they belong to the handle, exclude other handles
 * of this process too, and end with their holder (docs/decisions/0003). On macOS a package takes
 * flock(2) instead; programs there exclude each other just the same.
 *
 * The native code is ours (native/lock.c). It is in this library as text, so that it is there in
 * every bundle: its bytes are written to a file that has no name any more, and loaded from there.
 * So nothing is left behind, and no program can replace it. Where it cannot be loaded, there is no lock
 * of another kind: two kinds of lock on one log are none.
 */

import { randomUUID } from "node:crypto";
import { closeSync, constants, openSync, readlinkSync, unlinkSync, writeFileSync } from "node:fs";
import { homedir, tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { getSystemErrorName } from "node:util";
import { requirePackage } from "../package-file.ts";
import { errnoOf, VerbatimError } from "./errors.ts";
import { LOCK_BINARIES } from "./lock-binaries.ts";

/** The kernel's numbers. */
const TYPES = { shared: 0, exclusive: 1, none: 2 } as const;
const EAGAIN = 11;

type LockType = keyof typeof TYPES;

/** Returns false if another handle has the lock. */
type SetLock = (descriptor: number, type: LockType) => boolean;

/** What we use of the package on macOS. */
interface LockPackage {
  tryLock(descriptor: number, from: number, length: number, options: { shared: boolean }): boolean;
  unlock(descriptor: number): void;
}

/** A release installs the first, on macOS only; a clone has the package that it depends on. */
const PACKAGES = ["verbatim-log-lock-darwin", "fs-native-extensions"] as const;

/** Loaded at the first lock: most commands only read, and take none. */
let loaded: SetLock | null = null;

export function tryLockDescriptor(descriptor: number, kind: "exclusive" | "shared"): boolean {
  loaded ??= load(descriptor);
  return loaded(descriptor, kind);
}

export function unlockDescriptor(descriptor: number): void {
  loaded ??= load(descriptor);
  loaded(descriptor, "none");
}

function load(descriptor: number): SetLock {
  return process.platform === "darwin" ? loadPackage() : loadBinary(descriptor);
}

function loadPackage(): SetLock {
  let problem: unknown;
  for (const name of PACKAGES) {
    try {
      const { tryLock, unlock } = requirePackage(name) as LockPackage;
      return (handle, type) => {
        if (type !== "none") return tryLock(handle, 0, 0, { shared: type === "shared" });
        unlock(handle);
        return true;
      };
    } catch (cause) {
      problem ??= cause;
    }
  }
  throw unavailable(problem, "install verbatim-log with its optional packages, outside of bundles");
}

/** Tries several directories: some cannot be written to, or are mounted `noexec`. */
function loadBinary(descriptor: number): SetLock {
  const binary = LOCK_BINARIES[process.arch];
  if (binary === undefined) {
    const problem = `there is none for ${process.platform} on ${process.arch}`;
    throw unavailable(problem, "use Linux on x64 or arm64, or macOS");
  }
  const bytes = Buffer.from(binary, "base64");
  let problem: unknown;
  for (const directory of [tmpdir, () => directoryOf(descriptor), homedir]) {
    try {
      const setLock = loadFrom(directory(), bytes);
      return (handle, type) => isSet(setLock(handle, TYPES[type]));
    } catch (cause) {
      problem ??= cause;
    }
  }
  throw unavailable(problem, remedyOf(problem));
}

function directoryOf(descriptor: number): string {
  return dirname(readlinkSync(`/proc/self/fd/${descriptor}`));
}

function loadFrom(
  directory: string,
  bytes: Uint8Array,
): (descriptor: number, type: number) => number {
  const { O_RDWR, O_CREAT, O_EXCL, O_NOFOLLOW } = constants;
  const path = join(directory, `.verbatim-lock-${randomUUID()}`);
  const file = openSync(path, O_RDWR | O_CREAT | O_EXCL | O_NOFOLLOW, 0o600);
  try {
    unlinkSync(path);
    writeFileSync(file, bytes); // All of them, or it throws.
    const module: { exports: { setLock?: (descriptor: number, type: number) => number } } = {
      exports: {},
    };
    process.dlopen(module, `/proc/self/fd/${file}`);
    const { setLock } = module.exports;
    // The loader of the C library may take the name for that of a file it has loaded before.
    if (setLock === undefined) throw new Error("another addon was loaded instead");
    return setLock;
  } finally {
    closeSync(file);
  }
}

/** The errno as an exception, except that the lock is taken. */
function isSet(errno: number): boolean {
  if (errno === 0) return true;
  if (errno === EAGAIN) return false;
  const code = getSystemErrorName(-errno);
  throw Object.assign(new Error(`locking failed with ${code}`), { code });
}

function remedyOf(problem: unknown): string {
  if (errnoOf(problem) === "ERR_DLOPEN_DISABLED") {
    return "run Node with --allow-addons, and without --no-addons";
  }
  if ((problem as Error).name === "NotCapable") return "run Deno with -A";
  return "set TMPDIR to a directory that you can write to and that is not mounted `noexec`";
}

function unavailable(cause: unknown, remedy: string): VerbatimError {
  const reason = cause instanceof Error ? cause.message : String(cause);
  return new VerbatimError(
    "LOCK_UNAVAILABLE",
    `the code for kernel locks cannot be loaded (${reason}), so nothing is written; ${remedy}. ` +
      "Reading works",
    { reason },
    { cause },
  );
}
