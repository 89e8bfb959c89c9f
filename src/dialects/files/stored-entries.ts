/**
 * Stored entries: the lines of a session's log as the entries that they are, and what becomes of
 * those that are none.
 */

import { VerbatimError } from "../../base/errors.ts";
import type { Directory } from "../../base/files.ts";
import type { ByteOffset } from "../../base/offset.ts";
import type { OnBadLine } from "../../log/bad-line-warning.ts";
import type { BadLine, FollowOptions, ReadOptions, ReadRange } from "../../log/reader.ts";
import type { Entry } from "../../model/entry.ts";
import type { Dialect } from "../dialect.ts";
import { decodeWhole } from "./spill-files.ts";

/** An entry and where it stands. */
export interface StoredEntry extends Entry {
  readonly start: ByteOffset;
  readonly end: ByteOffset;
  /** Counted from 1; null when the reading did not begin at the start of the log. */
  readonly line: number | null;
}

/** A line that is no entry: not JSON, or JSON that its dialect does not know. */
export interface BadEntry {
  readonly line: number | null;
  readonly offset: ByteOffset;
  readonly reason: string;
}

export interface EntryOptions extends ReadRange {
  /** Default: throws BAD_LINE. */
  readonly onBadLine?: OnBadLine<BadEntry, [end: ByteOffset]>;
  /**
   * Puts strings back that were too long for their line and are kept beside the log; a line whose
   * strings are not there as they were is a bad line. Default: a short text stands for each.
   */
  readonly restoresSpilled?: boolean;
  /**
   * Following: entries that were given, from `to` on, no longer stand. Their writer could not make
   * them durable, or somebody cut or replaced the log. What stands in their place is given next.
   * Default: throws LOG_REWOUND.
   */
  readonly onRewound?: FollowOptions["onRewound"];
  readonly signal?: AbortSignal;
}

/** A line of the log, parsed. */
export interface ReadLine {
  readonly value: unknown;
  readonly start: ByteOffset;
  readonly end: ByteOffset;
  readonly number: number | null;
}

/** Whose lines they are. */
export interface UnderstoodLog {
  readonly dialect: Dialect;
  readonly path: string;
  /** Where its spill files lie. */
  readonly openDirectory: () => Promise<Directory>;
}

/** How a log is read so that its lines can be understood as was asked. */
export function readOptions(
  root: string,
  { onBadLine = "throw", signal }: EntryOptions,
): ReadOptions {
  return {
    root,
    // Files of other programs often lack their last LF.
    takesUnterminated: true,
    onBadLine:
      typeof onBadLine === "function"
        ? (bad: BadLine, end: ByteOffset) => onBadLine(bad, end)
        : onBadLine,
    ...(signal ? { signal } : {}),
  };
}

export async function* understand(
  lines: AsyncIterable<ReadLine>,
  { dialect, path, openDirectory }: UnderstoodLog,
  { onBadLine = "throw", restoresSpilled = false }: EntryOptions,
): AsyncGenerator<StoredEntry> {
  for await (const { value, start, end, number } of lines) {
    const line = number === null ? null : number + 1;
    const { entry, fault } = restoresSpilled
      ? await decodeWhole(dialect, value, openDirectory)
      : dialect.decode(value);
    if (entry) {
      yield Object.assign(entry, { start, end, line }); // Not a copy: it would show.
    } else if (onBadLine === "throw") {
      throw badEntry(path, { line, offset: start, reason: fault });
    } else if (typeof onBadLine === "function") {
      onBadLine({ line, offset: start, reason: fault }, end);
    }
  }
}

/** Entries in their order, as they count after those before them. */
export async function* inOrder<Read extends Entry>(
  { remembers }: Dialect,
  entries: AsyncIterable<Read>,
): AsyncGenerator<Read> {
  const memory = remembers?.();
  if (!memory) yield* entries;
  else for await (const entry of entries) yield memory.read(entry);
}

/** BAD_LINE, for a reader that throws at one. */
export function badEntry(path: string, { line, offset, reason }: BadEntry): VerbatimError {
  const where = line === null ? `the line at byte ${offset}` : `line ${line}`;
  return new VerbatimError(
    "BAD_LINE",
    `${where} of ${path} is bad: ${reason}; read with onBadLine: "skip" to pass over it`,
    { path, line, offset, reason },
  );
}
