/**
 * Session write: lines that will be written to a session's log together, and the spill files that
 * are written before them (for values too long for a line).
 */

import { type ErrorCode, VerbatimError } from "../../core/base/errors.ts";
import type { Directory } from "../../core/base/files.ts";
import { LOG_LIMITS } from "../../core/base/limits.ts";
import { type ByteOffset, toByteOffset } from "../../core/base/offset.ts";
import type { QueuedAppend } from "../../core/log/companion.ts";
import type { LogWriter } from "../../core/log/writer.ts";
import type { Turns } from "../../core/model/turns.ts";
import type { SpillFile } from "../../dialects/facets/writing.ts";
import { removeSpills, writeSpills } from "../../dialects/files/spill-files.ts";
import type { LogSigner } from "../../trust/signer/log-signer.ts";
import type { LineIdsDraft, PreparedLine } from "./line-ids.ts";

/** Reserved in a write for links that make lines longer, and for checkpoints. */
const RESERVED_BYTES = 64 * 1024;
/** Limit for the lines of one write. A single line may be longer. */
export const WRITE_BYTES_MAX = LOG_LIMITS.batchBytesMax - RESERVED_BYTES;

const LF = Buffer.of(0x0a);

/** The entries of one append call. */
export interface Entries {
  readonly lines: readonly PreparedLine[];
  readonly lineBytes: number;
  /** With its spill files. */
  readonly bytes: number;
  readonly spills: readonly SpillFile[];
  /** Receives the offset after each line. */
  readonly ends: ByteOffset[];
}

export function entriesOf(lines: readonly PreparedLine[], ends: ByteOffset[]): Entries {
  const lineBytes = lines.reduce((sum, { line }) => sum + line.length + 1, 0);
  const spills = lines.flatMap((line) => line.spills);
  const bytes = spills.reduce((sum, file) => sum + file.bytes.length, lineBytes);
  return { lines, lineBytes, bytes, spills, ends };
}

/** How many of the waiting appends fit into one write. A checkpoint begins or ends a write. */
export function sharedCount(waiting: Iterable<QueuedAppend<Entries>>, turns: Turns): number {
  let length = 0;
  let count = 0;
  for (const { content } of waiting) {
    length += content.lineBytes;
    const [isFirstOfTurn = false] = content.lines.map(({ mark }) => turns.note(mark));
    if (count > 0 && (length > WRITE_BYTES_MAX || isFirstOfTurn)) break;
    count++;
    if (content.lines.at(-1)?.mark === "ends") break;
  }
  return count;
}

/** Lines to write; state changes only once they are in the log. */
export interface Write {
  readonly known: LineIdsDraft;
  /** Of the log: a checkpoint, or none, and the lines of entries. */
  readonly chunks: Uint8Array[];
  length: number;
  /** Length of the checkpoint. */
  dueLength: number;
  readonly added: PreparedLine[];
  /** Appends, and where in this write their entries end. */
  readonly ends: { readonly waiting: QueuedAppend<Entries>; readonly at: readonly number[] }[];
  readonly draft: LogSigner | null;
  readonly sidecar: Uint8Array[];
}

/** Tells the callers where their entries end, now that the write is at `start`. */
export function place({ ends }: Write, start: ByteOffset): void {
  for (const { waiting, at } of ends) {
    const after = at.map((end) => toByteOffset(start + end));
    waiting.content.ends.push(...after);
    waiting.end = after.at(-1) ?? waiting.end;
  }
}

/** The same lines for another draft: their checkpoint is not where it would count. */
export function withoutDue(write: Write, draft: LogSigner | null): Write {
  const skipped = write.dueLength > 0 ? 1 : 0;
  for (const chunk of write.chunks.slice(skipped, skipped + write.added.length))
    draft?.addLines(chunk);
  return { ...write, draft };
}

/** Adds an entry's line, without its LF. */
export function addLine(write: Write, line: Uint8Array, prepared: PreparedLine): void {
  const chunk = Buffer.concat([line, LF]);
  addChunk(write, chunk);
  write.draft?.addLines(chunk);
  write.added.push(prepared);
}

export function addChunk(write: Write, chunk: Uint8Array): void {
  write.chunks.push(chunk);
  write.length += chunk.length;
}

export function writtenBytes({ chunks, length }: Write): Uint8Array {
  const [only] = chunks;
  return only?.length === length ? only : Buffer.concat(chunks, length);
}

type Spilling = QueuedAppend<{ readonly spills: readonly SpillFile[] }>;
type OpenDirectory = () => Promise<Directory>;

/** After these errors the log is unchanged. */
const NOTHING_WRITTEN: readonly ErrorCode[] = [
  "NO_SPACE",
  "LOCK_UNAVAILABLE",
  "LOG_LOCKED",
  "LOG_CLOSED",
];

/**
 * Writes the files (spill-files.ts, SF1). Rejects entries whose files cannot be written; returns
 * the rest.
 */
export async function spillGroup<T extends Spilling>(
  group: readonly T[],
  openDirectory: OpenDirectory,
): Promise<readonly T[]> {
  const written: T[] = [];
  for (const waiting of group) {
    const { spills } = waiting.content;
    try {
      if (spills.length > 0) await inDirectory(openDirectory, (at) => writeSpills(at, spills));
      written.push(waiting);
    } catch (error) {
      waiting.reject(error);
    }
  }
  return written;
}

/**
 * Removes the spill files of a refused append if it left nothing in the log. After a failed sync
 * that is unknown: the line may be there when the log is reopened, and would need its files.
 */
export async function unspillGroup(
  group: readonly Spilling[],
  openDirectory: OpenDirectory,
  error: unknown,
): Promise<void> {
  await unspill(
    group.flatMap(({ content }) => content.spills),
    openDirectory,
    error,
  );
}

async function unspill(
  spills: readonly SpillFile[],
  openDirectory: OpenDirectory,
  error: unknown,
): Promise<void> {
  const isGone = error instanceof VerbatimError && NOTHING_WRITTEN.includes(error.code);
  if (spills.length === 0 || !isGone) return;
  try {
    await inDirectory(openDirectory, async (at) => removeSpills(at, spills));
  } catch {
    // The files stay, but nothing refers to them. The caller reports why the append failed.
  }
}

/**
 * Appends whole lines after their spill files, in one write. For sessions whose lines are finished
 * before they are queued; derived files do not hear of them.
 */
export async function appendSpilled(
  writer: LogWriter,
  { lines, spills }: { readonly lines: Uint8Array; readonly spills: readonly SpillFile[] },
  openDirectory: OpenDirectory,
): Promise<ByteOffset> {
  const bytes = spills.reduce((sum, file) => sum + file.bytes.length, lines.length);
  let end = writer.end;
  await writer.inTurn(async (turn) => {
    await inDirectory(openDirectory, (at) => writeSpills(at, spills));
    try {
      end = toByteOffset(turn.append(lines) + lines.length);
      await turn.settle();
    } catch (error) {
      await unspill(spills, openDirectory, error);
      throw error;
    }
  }, bytes);
  return end;
}

async function inDirectory(
  openDirectory: OpenDirectory,
  work: (directory: Directory) => Promise<void>,
): Promise<void> {
  const directory = await openDirectory();
  try {
    await work(directory);
  } finally {
    directory.close();
  }
}
