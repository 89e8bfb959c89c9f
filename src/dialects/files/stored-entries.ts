/** Stored entries: reads the lines of a session's log as entries, and handles bad lines. */

import { checkOptions, type OptionKinds } from "../../core/base/choice.ts";
import { VerbatimError } from "../../core/base/errors.ts";
import type { ByteOffset } from "../../core/base/offset.ts";
import type { OnBadLine } from "../../core/log/bad-line-warning.ts";
import type { BadLine, LogReader, ReadOptions, ReadRange } from "../../core/log/reader.ts";
import type { Entry } from "../../core/model/entry.ts";
import type { Dialect } from "../dialect.ts";
import { decodeWhole, type UnderstoodLog } from "./spill-files.ts";

/** An entry and its position. */
export interface StoredEntry extends Entry {
  readonly start: ByteOffset;
  readonly end: ByteOffset;
  /** From 1; null if reading did not begin at the start of the log. */
  readonly line: number | null;
}

/** A line that is not an entry: not JSON, or JSON that its dialect does not know. */
export interface BadEntry {
  readonly line: number | null;
  readonly offset: ByteOffset;
  readonly reason: string;
}

export interface EntryOptions extends ReadRange {
  /** Default: throws BAD_LINE. */
  readonly onBadLine?: OnBadLine<BadEntry, [end: ByteOffset]>;
  /**
   * Restores strings that were too long for their line and are in spill files; a line whose files
   * are missing or changed is a bad line. Default: a short marker replaces each string.
   */
  readonly restoresSpilled?: boolean;
  /**
   * Following: entries already returned, from `to` on, are no longer in the log. Their writer could
   * not make them durable, or the log was cut or replaced. The lines now in their place come next.
   * Default: throws LOG_REWOUND.
   */
  readonly onRewound?: ((rewound: { from: ByteOffset; to: ByteOffset }) => void) | undefined;
  readonly signal?: AbortSignal;
}

const OPTIONS: OptionKinds<EntryOptions> = {
  from: "count",
  to: "count",
  onBadLine: "any",
  restoresSpilled: "boolean",
  onRewound: "function",
  signal: "object",
};

/** A line of the log, parsed. */
export interface ReadLine {
  readonly value: unknown;
  readonly start: ByteOffset;
  readonly end: ByteOffset;
  readonly number: number | null;
}

/** The options for reading a log in the requested way. */
export function readOptions(root: string, options: EntryOptions): ReadOptions {
  checkOptions("entries", options, OPTIONS);
  const { onBadLine = "throw", signal } = options;
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

/** The range that the options name. */
export function rangeIn({ from, to }: EntryOptions): ReadRange {
  return { ...(from === undefined ? {} : { from }), ...(to === undefined ? {} : { to }) };
}

export interface ForEachEntryOptions {
  readonly onBadLine: (bad: BadEntry) => void;
  /** Hears the offset of each line. */
  readonly onOffset?: (offset: number) => void;
  readonly signal?: AbortSignal;
}

/** Passes the entries of a whole log to a function, without a promise for each. */
export async function forEachEntry(
  dialect: Dialect,
  reader: LogReader,
  onEntry: (entry: Entry) => void,
  { onBadLine, onOffset }: ForEachEntryOptions,
): Promise<void> {
  const memory = dialect.reading.remembers?.();
  await reader.each(({ value, start, number }) => {
    onOffset?.(start);
    const { entry, fault } = dialect.reading.decode(value);
    if (entry !== null) onEntry(memory ? memory.read(entry) : entry);
    else onBadLine({ line: number === null ? null : number + 1, offset: start, reason: fault });
  });
}

export async function* understand(
  lines: AsyncIterable<ReadLine>,
  log: UnderstoodLog,
  { onBadLine = "throw", restoresSpilled = false }: EntryOptions,
): AsyncGenerator<StoredEntry> {
  const { dialect, path } = log;
  for await (const { value, start, end, number } of lines) {
    const line = number === null ? null : number + 1;
    const { entry, fault } = restoresSpilled
      ? await decodeWhole(log, value)
      : dialect.reading.decode(value);
    if (entry) {
      yield Object.assign(entry, { start, end, line }); // Not copied: copying is measurably slower.
    } else if (onBadLine === "throw") {
      throw badEntry(path, { line, offset: start, reason: fault });
    } else if (typeof onBadLine === "function") {
      onBadLine({ line, offset: start, reason: fault }, end);
    }
  }
}

/** Entries in order, adjusted by the entries before them. */
export async function* adjustedEntries<Read extends Entry>(
  { reading: { remembers } }: Dialect,
  entries: AsyncIterable<Read>,
): AsyncGenerator<Read> {
  const memory = remembers?.();
  if (!memory) yield* entries;
  else for await (const entry of entries) yield memory.read(entry);
}

/** The last entries of a log that is read backward, in order. */
export async function lastInOrder(
  { reading: { remembers } }: Dialect,
  backward: AsyncIterable<StoredEntry>,
  count: number,
): Promise<StoredEntry[]> {
  const entries: StoredEntry[] = [];
  for await (const entry of backward) if (entries.push(entry) === count) break;
  const memory = remembers?.();
  return entries.reverse().map((entry) => memory?.read(entry) ?? entry);
}

/** The BAD_LINE error for a reader that throws. */
export function badEntry(path: string, { line, offset, reason }: BadEntry): VerbatimError {
  const where = line === null ? `the line at byte ${offset}` : `line ${line}`;
  return new VerbatimError(
    "BAD_LINE",
    `${where} of ${path} is bad: ${reason}; read with onBadLine: "skip" to pass over it`,
    { path, line, offset, reason },
  );
}
