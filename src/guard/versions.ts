/**
 * Versions: every content of a file that its program writes again as a whole, each as its difference
 * from the one before (docs/formats/guard.md, "Versions").
 */

import { createHash } from "node:crypto";
import { deflateRawSync, inflateRawSync } from "node:zlib";
import { openIfThere, writeAtOnce } from "../core/base/file-steps.ts";
import type { Directory } from "../core/base/files.ts";
import { readStretch } from "../core/log/bytes.ts";
import { wholeLines } from "../dialects/files/guard-rows.ts";
import { commonLength } from "./compare.ts";

/** Larger files have no versions. */
export const VERSION_BYTES_MAX = 64 * 1024 * 1024;
/** Each version of this number is stored as a whole. */
export const WHOLE_EVERY = 64;

export interface Version {
  readonly v: 1;
  readonly version: number;
  readonly at: string;
  readonly generation: number;
  readonly size: number;
  readonly sha256: string;
  readonly mtime_ms: number;
  readonly mode: number;
  readonly head: number;
  readonly tail: number;
  readonly add: string;
}

export function versionsName(name: string): string {
  return `${name}.versions`;
}

/** The lines of a versions file, and where its last whole line ends. */
export async function readVersions(
  directory: Directory,
  name: string,
): Promise<{ versions: Version[]; end: number }> {
  const file = openIfThere(directory, versionsName(name));
  if (file === null) return { versions: [], end: 0 };
  try {
    const bytes = await readStretch(file, 0, file.size());
    const lines = wholeLines(bytes);
    return {
      versions: lines.map((line) => JSON.parse(line) as Version),
      end: bytes.lastIndexOf(0x0a) + 1,
    };
  } finally {
    file.close();
  }
}

/** The bytes of a version; null if they are not those that its hash names. */
export function versionBytes(versions: readonly Version[], number: number): Buffer | null {
  const at = versions.findIndex(({ version }) => version === number);
  const until = versions.slice(0, at + 1);
  const from = until.findLastIndex(({ head, tail }) => head === 0 && tail === 0);
  if (at === -1 || from === -1) return null;
  let bytes: Buffer = Buffer.alloc(0);
  for (const each of until.slice(from)) {
    const add = inflateRawSync(Buffer.from(each.add, "base64"), {
      maxOutputLength: VERSION_BYTES_MAX,
    });
    const tail = bytes.subarray(bytes.length - each.tail);
    bytes = Buffer.concat([bytes.subarray(0, each.head), add, tail]);
  }
  return sha256(bytes) === until.at(-1)?.sha256 ? bytes : null;
}

/** Adds a version durably, unless the newest one has the same bytes. */
export async function addVersion(
  directory: Directory,
  name: string,
  bytes: Buffer,
  facts: Pick<Version, "at" | "generation" | "mtime_ms" | "mode">,
): Promise<void> {
  const { versions, end } = await readVersions(directory, name);
  const newest = versions.at(-1);
  const hash = sha256(bytes);
  if (newest?.sha256 === hash) return;
  const number = (newest?.version ?? 0) + 1;
  const isWhole = newest === undefined || number % WHOLE_EVERY === 0;
  const before = isWhole ? null : versionBytes(versions, newest.version);
  const head = before === null ? 0 : commonLength(before, bytes);
  const tail = before === null ? 0 : commonTail(before.subarray(head), bytes.subarray(head));
  const add = deflateRawSync(bytes.subarray(head, bytes.length - tail)).toString("base64");
  const { at, generation, mtime_ms, mode } = facts;
  const size = bytes.length;
  const version: Version = {
    v: 1,
    version: number,
    at,
    generation,
    size,
    sha256: hash,
    mtime_ms,
    mode,
    head,
    tail,
    add,
  };
  const file = directory.open(versionsName(name), "append");
  try {
    if (file.size() > end) file.truncate(end); // A crash left part of a line.
    try {
      writeAtOnce(file, Buffer.from(`${JSON.stringify(version)}\n`));
    } catch (cause) {
      file.truncate(end);
      throw cause;
    }
    await file.sync();
  } finally {
    file.close();
  }
  if (newest === undefined) await directory.sync();
}

function commonTail(a: Buffer, b: Buffer): number {
  const length = Math.min(a.length, b.length);
  let same = 0;
  while (same < length && a[a.length - 1 - same] === b[b.length - 1 - same]) same++;
  return same;
}

function sha256(bytes: Uint8Array): string {
  return createHash("sha256").update(bytes).digest("hex");
}
