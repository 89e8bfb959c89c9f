/**
 * Node user files: reads small files that people and other programs put there, with care.
 *
 * UF1  No link is followed in the last part of a path unless that was asked for, nothing that is no regular file is read, and
 *      never more than was allowed, even of a file that grows meanwhile.
 * UF2  Who may read or change a file is asked of the very file that is read, not of its path.
 */

import { closeSync, constants, fstatSync, openSync, readSync, type Stats, statSync } from "node:fs";
import { errnoOf, ioError } from "./errors.ts";

const { O_RDONLY, O_NOFOLLOW, O_NONBLOCK } = constants;

/** Bits of a file's mode that let others in. */
const OTHERS_READ_OR_WRITE = 0o077;
const OTHERS_WRITE = 0o022;

export interface UserFileRules {
  readonly bytesMax: number;
  /**
   * `secret`: nobody else may read it. `own`: nobody else may change it. `anyone`: whoever it
   * belongs to, such as a file of a project.
   */
  readonly access: "secret" | "own" | "anyone";
  /** The path may end in a link: it was given by the user, and names what is behind it. */
  readonly followsLinks?: boolean;
}

/** The file's text, or why it is not to be used: what is wrong, and what to do. */
export type UserFile =
  | { readonly text: string; readonly fault: null }
  | { readonly text: null; readonly fault: string };

/** Reads a small file of text; null when there is none. */
export function readUserFile(path: string, rules: UserFileRules): UserFile | null {
  let descriptor: number;
  try {
    const noLink = rules.followsLinks === true ? 0 : O_NOFOLLOW;
    descriptor = openSync(path, O_RDONLY | noLink | O_NONBLOCK);
  } catch (cause) {
    if (["ENOENT", "ENOTDIR"].includes(errnoOf(cause))) return null;
    if (errnoOf(cause) === "ELOOP") {
      return refused("it is a symbolic link; put the file itself there");
    }
    throw ioError(path, "opening", cause);
  }
  try {
    const stats = fstatSync(descriptor);
    if (!stats.isFile()) return refused("it is no regular file; put one there");
    const fault = accessFault(path, stats, rules.access);
    return fault === null ? readText(descriptor, rules.bytesMax) : refused(fault);
  } catch (cause) {
    throw ioError(path, "reading", cause);
  } finally {
    closeSync(descriptor);
  }
}

/** Differs when the file may have changed; null when there is none. */
export function userFileMark(path: string): string | null {
  try {
    const stats = statSync(path, { bigint: true, throwIfNoEntry: false });
    return stats ? `${stats.ino} ${stats.size} ${stats.mtimeNs} ${stats.ctimeNs}` : null;
  } catch (cause) {
    throw ioError(path, "looking", cause);
  }
}

/** Why what lies in this directory is not to be used: others could change it. Null: it may. */
export function userDirectoryFault(path: string): string | null {
  const stats = statIfThere(path);
  if (stats === undefined) return null; // It will be made, and will be ours alone.
  if (!stats.isDirectory()) return "it is no directory; move it away";
  return accessFault(path, stats, "own");
}

/** Why this file is not to be relied on: others could change it. Null: it may be, or is not there. */
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
    return `others than you can read it (mode ${octal(stats.mode)}); chmod ${closed} '${path}'`;
  }
  if ((stats.mode & OTHERS_WRITE) !== 0) {
    return `others than you can change it (mode ${octal(stats.mode)}); chmod ${closed} '${path}'`;
  }
  return null;
}

function readText(descriptor: number, bytesMax: number): UserFile {
  const bytes = Buffer.alloc(bytesMax + 1);
  let length = 0;
  for (let count = -1; count !== 0 && length < bytes.length; length += count) {
    count = readSync(descriptor, bytes, length, bytes.length - length, null);
  }
  if (length > bytesMax) return refused(`it is larger than ${bytesMax} bytes`);
  try {
    const text = new TextDecoder("utf-8", { fatal: true }).decode(bytes.subarray(0, length));
    return { text, fault: null };
  } catch {
    return refused("it is not UTF-8");
  }
}

function refused(fault: string): UserFile {
  return { text: null, fault };
}

function octal(mode: number): string {
  return (mode & 0o777).toString(8).padStart(3, "0");
}
