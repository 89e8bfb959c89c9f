/**
 * Node user files: safely reads small files written by people and other programs, and writes files
 * where people want them.
 *
 * - Unless asked to, no link is followed in the last part of a path. Only regular files are read,
 *   and never more than the limit, even if the file grows meanwhile.
 * - Permissions are checked on the open file that is read, not on its path.
 */

import { randomUUID } from "node:crypto";
import { closeSync, constants, fstatSync, openSync, readSync, type Stats, statSync } from "node:fs";
import { basename, dirname } from "node:path";
import { errnoOf, ioError } from "./errors.ts";
import type { Files, OpenFile, OpenMode } from "./files.ts";

const { O_RDONLY, O_NOFOLLOW, O_NONBLOCK } = constants;

/** Mode bits that give others access. */
const OTHERS_READ_OR_WRITE = 0o077;
const OTHERS_WRITE = 0o022;

export interface UserFileRules {
  readonly bytesMax: number;
  /**
   * `secret`: only the user may read it. `own`: only the user may change it. `anyone`: it may
   * belong to any user, such as a file of a project.
   */
  readonly access: "secret" | "own" | "anyone";
  /** The path may end in a link, because the user named it. */
  readonly followsLinks?: boolean;
}

/** The file's text, or its bytes, or why it is refused and what to do. */
export type UserFile<Content = string> =
  | { readonly text: Content; readonly fault: null }
  | { readonly text: null; readonly fault: string };

/** Reads a small text file; null when it is missing. */
export function readUserFile(path: string, rules: UserFileRules): UserFile | null {
  const file = readUserBytes(path, rules);
  if (file === null || file.text === null) return file;
  try {
    return { text: new TextDecoder("utf-8", { fatal: true }).decode(file.text), fault: null };
  } catch {
    return refused("it is not UTF-8");
  }
}

/** The same of a file in which some bytes may be no text. */
export function readUserBytes(path: string, rules: UserFileRules): UserFile<Buffer> | null {
  let descriptor: number;
  try {
    const noLink = rules.followsLinks === true ? 0 : O_NOFOLLOW;
    descriptor = openSync(path, O_RDONLY | noLink | O_NONBLOCK);
  } catch (cause) {
    if (["ENOENT", "ENOTDIR"].includes(errnoOf(cause))) return null;
    if (errnoOf(cause) === "ELOOP") {
      return refused("it is a symbolic link; replace it with the file itself");
    }
    throw ioError(path, "opening", cause);
  }
  try {
    const stats = fstatSync(descriptor);
    if (!stats.isFile()) return refused("it is not a regular file; replace it with one");
    const fault = accessFault(path, stats, rules.access);
    if (fault !== null) return refused(fault);
    // Before any byte of it takes memory.
    if (stats.size > rules.bytesMax) return refused(tooLarge(rules.bytesMax));
    return readBytes(descriptor, rules.bytesMax);
  } catch (cause) {
    throw ioError(path, "reading", cause);
  } finally {
    closeSync(descriptor);
  }
}

/** Changes when the file may have changed; null when it is missing. */
export function userFileMark(path: string): string | null {
  try {
    const stats = statSync(path, { bigint: true, throwIfNoEntry: false });
    return stats ? `${stats.ino} ${stats.size} ${stats.mtimeNs} ${stats.ctimeNs}` : null;
  } catch (cause) {
    throw ioError(path, "looking", cause);
  }
}

/** Why files in this directory are refused: others could change them. Null when they are not. */
export function userDirectoryFault(path: string): string | null {
  const stats = statIfThere(path);
  if (stats === undefined) return null; // It will be created private.
  if (!stats.isDirectory()) return "it is not a directory; move it away";
  return accessFault(path, stats, "own");
}

/** Why this file is refused: others could change it. Null when they cannot, or it is missing. */
export function userFileFault(path: string): string | null {
  const stats = statIfThere(path);
  return stats === undefined ? null : accessFault(path, stats, "own");
}

function statIfThere(path: string): Stats | undefined {
  try {
    return statSync(path, { throwIfNoEntry: false });
  } catch (cause) {
    throw ioError(path, "opening", cause);
  }
}

function accessFault(path: string, stats: Stats, access: UserFileRules["access"]): string | null {
  if (access === "anyone") return null;
  const ours = process.geteuid?.();
  if (stats.uid !== ours && stats.uid !== 0) {
    return `it belongs to another user (${stats.uid}); make it yours: chown ${ours} '${path}'`;
  }
  const closed = stats.isDirectory() ? 700 : 600;
  if (access === "secret" && (stats.mode & OTHERS_READ_OR_WRITE) !== 0) {
    return `other users can read it (mode ${octal(stats.mode)}); chmod ${closed} '${path}'`;
  }
  if ((stats.mode & OTHERS_WRITE) !== 0) {
    return `other users can change it (mode ${octal(stats.mode)}); chmod ${closed} '${path}'`;
  }
  return null;
}

/** How much is read at first; doubled while there is more. */
const FIRST_BYTES = 4096;

function tooLarge(bytesMax: number): string {
  return `it is larger than ${bytesMax} bytes`;
}

function readBytes(descriptor: number, bytesMax: number): UserFile<Buffer> {
  // Most files are far smaller than their limit, and may be read often.
  let bytes = Buffer.allocUnsafe(Math.min(bytesMax + 1, FIRST_BYTES));
  let length = 0;
  for (let count = -1; count !== 0 && length <= bytesMax; length += count) {
    if (length === bytes.length) {
      const larger = Buffer.allocUnsafe(Math.min(bytesMax + 1, 2 * length));
      bytes.copy(larger);
      bytes = larger;
    }
    count = readSync(descriptor, bytes, length, bytes.length - length, null);
  }
  if (length > bytesMax) return refused(tooLarge(bytesMax));
  return { text: bytes.subarray(0, length), fault: null };
}

function refused(fault: string) {
  return { text: null, fault };
}

function octal(mode: number): string {
  return (mode & 0o777).toString(8).padStart(3, "0");
}

/**
 * Puts a file at `path` once `write` has filled it and it is durable. Until then an existing file
 * stays; after a failure too.
 */
export async function writeUserFile<T>(
  files: Files,
  path: string,
  mode: Extract<OpenMode, "new" | "update">,
  write: (file: OpenFile) => Promise<T>,
): Promise<T> {
  const temporary = `.${basename(path).slice(0, 100)}.${randomUUID()}.tmp`;
  const directory = await files.openDirectory(dirname(path), { create: false });
  try {
    const file = directory.open(temporary, mode);
    try {
      const result = await write(file);
      await file.sync();
      directory.rename(temporary, basename(path));
      await directory.sync();
      return result;
    } catch (cause) {
      directory.remove(temporary);
      throw cause;
    } finally {
      file.close();
    }
  } finally {
    directory.close();
  }
}
