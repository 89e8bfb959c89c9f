/**
 * Copy bytes: continues the copy of a file that grows, or begins the next generation if the file no
 * longer begins with its copy.
 *
 * - A copy is always a beginning of what the source was: bytes are appended after the source was
 *   read and its beginning compared, in that order. So the copy's length is the progress, and a
 *   guard that is killed at any point continues there.
 * - A generation is closed in the journal before a later one is reported as begun.
 */

import { diskFull } from "../core/base/file-steps.ts";
import type { Directory, OpenFile } from "../core/base/files.ts";
import type { GuardRecord } from "../dialects/files/guard-store.ts";
import { commonBytes, lostLines, seemSame, sha256Of } from "./compare.ts";
import { openPlain } from "./generation.ts";

/** Read and written at once: small enough for the processor's cache. */
const CHUNK_BYTES = 256 * 1024;

/** For one copy at a time: bytes are read into one while those in the other are written. */
export type Buffers = readonly [Buffer, Buffer];

export function makeBuffers(): Buffers {
  return [Buffer.allocUnsafeSlow(CHUNK_BYTES), Buffer.allocUnsafeSlow(CHUNK_BYTES)];
}

export interface BytesToCopy {
  readonly source: OpenFile;
  /** The directory of the copy. */
  readonly directory: Directory;
  /** The source's file name. */
  readonly name: string;
  readonly path: string;
  readonly id: string;
  readonly kept: GuardRecord | undefined;
  readonly mode: number;
  /** All bytes are compared, whatever the size. */
  readonly isThorough: boolean;
  readonly buffers: Buffers;
  /** Called for appended bytes, to sign them. */
  readonly onAppend?: (generation: number, bytes: Uint8Array) => void;
}

export interface CopiedBytes {
  /** Not synced yet; the caller syncs and closes it. */
  readonly file: OpenFile;
  readonly name: string;
  /** The length of the copy before, which was durable. */
  readonly before: number;
  readonly end: number;
  readonly generation: number;
  /** The journal does not have this generation yet, so its name may not be durable. */
  readonly isNew: boolean;
  readonly events: readonly Readonly<Record<string, unknown>>[];
  /** Some stretches were not compared. */
  readonly owesCompare: boolean;
  /** The source changed while it was read. */
  readonly isMoving: boolean;
  /** Why not everything was copied; null: all was. */
  readonly cause: unknown;
}

export async function copyBytes(work: BytesToCopy): Promise<CopiedBytes> {
  const { source, directory, name, path, id, kept, mode, isThorough, buffers } = work;
  const events: Record<string, unknown>[] = [];
  let generation = kept === undefined ? 1 : kept.generation + (kept.isClosed ? 1 : 0);
  for (let isBegun = kept !== undefined && !kept.isClosed; ; isBegun = false, generation++) {
    const file = await openPlain(directory, name, generation);
    try {
      const before = file.size();
      const next = await readNext(source, before, buffers[0]);
      const isSame = await beginsWith(source, file, before, isThorough || next.length === 0);
      if (isSame) {
        if (!isBegun) {
          events.push({ event: "began", path, id, generation, kind: "bytes", mode });
        } else if (kept?.deletedAt) {
          events.push({ event: "source_back", path, id, generation });
        }
        const written = await appendRest(work, file, generation, next);
        const owesCompare = !isThorough && before > 0;
        const isMoving = source.size() < written.end || !source.isLinked();
        const rest = { before, generation, isNew: !isBegun, events, owesCompare, isMoving };
        return { file, name: `${name}.${generation}`, ...written, ...rest };
      }
      if (!isBegun) events.push({ event: "began", path, id, generation, kind: "bytes", mode });
      events.push({ path, id, generation, ...(await closing(file, source, before)) });
    } catch (cause) {
      file.close();
      throw cause;
    }
    await file.sync();
    file.close();
  }
}

async function readNext(source: OpenFile, at: number, into: Buffer): Promise<Buffer> {
  const left = Math.max(0, source.size() - at);
  const bytes = into.subarray(0, Math.min(left, into.length));
  return bytes.subarray(0, await source.read(bytes, at));
}

async function beginsWith(
  source: OpenFile,
  copy: OpenFile,
  length: number,
  isThorough: boolean,
): Promise<boolean> {
  if (source.size() < length) return false;
  if (!isThorough) return seemSame(copy, source, length);
  return (await commonBytes(copy, source, length)) === length;
}

/** Appends what the source has and the copy has not, as far as the disk takes it. */
async function appendRest(
  { source, onAppend, buffers }: BytesToCopy,
  file: OpenFile,
  generation: number,
  first: Buffer,
): Promise<{ end: number; cause: unknown }> {
  let end = file.size();
  let bytes = first;
  let next = Promise.resolve(first);
  try {
    for (let turn = 1; bytes.length > 0; turn++) {
      next = readNext(source, end + bytes.length, buffers[turn % 2 === 0 ? 0 : 1]);
      next.catch(() => {}); // Thrown when awaited.
      const taken = file.write(bytes);
      end += taken;
      onAppend?.(generation, bytes.subarray(0, taken));
      if (taken < bytes.length) throw diskFull(); // What was taken is a beginning, too.
      bytes = await next;
    }
    return { end, cause: null };
  } catch (cause) {
    await Promise.allSettled([next]); // The caller closes the source.
    return { end, cause };
  }
}

/** The event that closes a generation, without its session. */
async function closing(copy: OpenFile, source: OpenFile, bytes: number): Promise<object> {
  const common = await commonBytes(copy, source, Math.min(bytes, source.size()));
  const [sha256, lost] = [await sha256Of(copy, bytes), await lostLines(copy, source, common)];
  return { event: "source_rewritten", bytes, sha256, common, lost };
}
