/**
 * Repair: makes the end of a log fit to append to. Its caller holds the lock.
 *
 * `tail.ts` only looks; this writes. Format: docs/formats/log.md, "Torn tails".
 *
 * R1  Bytes to be cut are first copied to `<log>.torn-<n>`, durably. Nothing is ever thrown away.
 * R2  No cached page is trusted. After a failed sync the kernel may show pages it will never write,
 *     and a later sync succeeds without them. So before an end is reported, the bytes that may be
 *     on such pages are rewritten in place, and synced.
 * R3  Repairing a repaired log changes nothing.
 * R4  Programs that ignore the lock may append at any time. The size is looked at directly before a
 *     cut, and only what was copied aside is cut.
 */

import { basename } from "node:path";

import { errnoOf, ioError, isNoSpace, VerbatimError } from "../base/errors.ts";
import type { OpenFile } from "../base/files.ts";
import { DOUBTFUL_BYTES } from "../base/limits.ts";
import { type ByteOffset, toByteOffset } from "../base/offset.ts";
import { LF, readChunks } from "./bytes.ts";
import type { LogPath } from "./log-path.ts";
import { findTail, type Tail } from "./tail.ts";

export interface TailRepair {
  /** Where the log ends now. */
  readonly end: ByteOffset;
  /** Torn bytes that were cut off, and the file that keeps them. */
  readonly cutBytes: number;
  readonly cutKeptAt: string | null;
  /** The last line lacked only its LF, which was added. */
  readonly addedLf: boolean;
}

/** What opening a log to append found and did. */
export interface Recovery extends TailRepair {
  /** Bytes before the end that were rewritten because they may not be on disk (R2). */
  readonly rewrittenBytes: number;
}

/** Repairs the tail, then makes everything before the end durable. */
export async function recover(
  place: LogPath,
  file: OpenFile,
  synced: number | null,
): Promise<Recovery> {
  const repair = await repairTail(place, file);
  const { end } = repair;
  const from = synced !== null && synced <= end ? synced : Math.max(0, end - DOUBTFUL_BYTES);
  await rewrite(place, file, from, end);
  return { ...repair, rewrittenBytes: end - from };
}

/**
 * Adds the missing LF to a whole last line, or copies a torn tail aside and cuts it. Does not sync.
 */
export async function repairTail(place: LogPath, file: OpenFile): Promise<TailRepair> {
  for (;;) {
    const tail = await findTail(file);
    if (tail.tornBytes === 0) {
      return { end: tail.end, cutBytes: 0, cutKeptAt: null, addedLf: false };
    }
    const repair = await repairTorn(place, file, tail);
    if (repair) return repair;
  }
}

/** Null if another program appended meanwhile: it may have finished the line (R4). */
async function repairTorn(place: LogPath, file: OpenFile, tail: Tail): Promise<TailRepair | null> {
  const { end, tornBytes, lacksOnlyLf } = tail;
  const size = end + tornBytes;
  try {
    if (lacksOnlyLf) {
      if (!file.endsAt(size)) return null;
      mustTakeAll(file.write(Buffer.of(LF)), 1);
      return { end: repairedEnd(tail), cutBytes: 0, cutKeptAt: null, addedLf: true };
    }
    const cutKeptAt = await keepAside(place, file, end, size);
    if (!file.endsAt(size)) {
      place.directory.remove(basename(cutKeptAt));
      return null;
    }
    file.truncate(end);
    return { end, cutBytes: tornBytes, cutKeptAt, addedLf: false };
  } catch (cause) {
    if (!isNoSpace(cause)) throw ioError(place.path, "repair of the torn tail", cause);
    throw new VerbatimError(
      "NO_SPACE",
      `no room to keep the torn tail of ${place.path} aside; nothing was cut: make room, then ` +
        "open the log again",
      { path: place.path, end, bytes: tornBytes },
      { cause },
    );
  }
}

/** Where a log with such a tail ends after repair. */
export function repairedEnd({ end, tornBytes, lacksOnlyLf }: Tail): ByteOffset {
  return lacksOnlyLf ? toByteOffset(end + tornBytes + 1) : end;
}

/** Copies `[from, to)` of the log into a new file next to it, durably. Returns its path. */
export async function keepAside(
  { directory, name }: LogPath,
  file: OpenFile,
  from: number,
  to: number,
): Promise<string> {
  const { keptName, kept } = openUnused((n) => {
    const keptName = `${name}.torn-${n}`;
    return { keptName, kept: directory.open(keptName, "new") };
  });
  try {
    for await (const chunk of readChunks(file, from, to)) {
      mustTakeAll(kept.write(chunk), chunk.length);
    }
    await kept.sync();
    await directory.sync();
  } catch (cause) {
    try {
      directory.remove(keptName); // The log still has these bytes; half a copy would mislead.
    } catch {
      // It stays; the first failure is what matters.
    }
    throw cause;
  } finally {
    kept.close();
  }
  return `${directory.path}/${keptName}`;
}

function openUnused<T>(open: (n: number) => T): T {
  for (let n = 0; ; n++) {
    try {
      return open(n);
    } catch (cause) {
      if (errnoOf(cause) !== "EEXIST") throw cause;
    }
  }
}

/** Rewrites `[from, to)` in place and syncs (R2). */
async function rewrite(place: LogPath, file: OpenFile, from: number, to: number): Promise<void> {
  try {
    // O_APPEND would send every write to the end, so this needs its own handle.
    const inPlace = place.directory.open(place.name, "update");
    try {
      if (inPlace.identity() !== file.identity()) throw new Error("the log was replaced");
      let at = from;
      for await (const chunk of readChunks(file, from, to)) {
        mustTakeAll(inPlace.writeAt(chunk, at), chunk.length);
        at += chunk.length;
      }
      if (at !== to) throw new Error(`the log can be read only up to byte ${at}`);
      await inPlace.sync();
    } finally {
      inPlace.close();
    }
  } catch (cause) {
    throw new VerbatimError(
      "LOG_SUSPECT",
      `bytes ${from} to ${to} of ${place.path} could not be made durable; the disk cannot be ` +
        "trusted: copy the file elsewhere, then open the copy",
      { path: place.path, from, to },
      { cause },
    );
  }
}

function mustTakeAll(taken: number, bytes: number): void {
  if (taken === bytes) return;
  throw Object.assign(new Error(`only ${taken} of ${bytes} bytes were taken`), { code: "ENOSPC" });
}
