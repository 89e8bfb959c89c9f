/**
 * Session window: a session in pieces, for viewers: entries around an offset, raw bytes, and new
 * entries as they are appended. Reads only.
 *
 * No line is left out: a line that is not an entry is returned in its place, with its fault. The
 * cost of a piece does not depend on the length of the session (core/log/window.ts, WI1).
 */

import { createHash } from "node:crypto";
import { VerbatimError } from "../../core/base/errors.ts";
import type { Mutable } from "../../core/base/files.ts";
import type { Host } from "../../core/base/host.ts";
import type { ByteOffset } from "../../core/base/offset.ts";
import { LogWindow, type WindowLine } from "../../core/log/window.ts";
import type { Entry } from "../../core/model/entry.ts";
import { hostOf } from "../../dialects/all.ts";
import type { Dialect } from "../../dialects/dialect.ts";
import type { LineMemory } from "../../dialects/facets/reading.ts";
import type { Session } from "../store/session.ts";

/** A line of a session: its entry, or why it is not one. */
export interface WindowEntry {
  readonly start: number;
  /** The offset after its line. */
  readonly end: number;
  readonly entry: Entry | null;
  readonly fault: string | null;
}

/** Limits of a piece; it has at least one entry, however long its line. */
export interface PieceLimits {
  readonly entriesMax: number;
  /** Bytes of lines, as they are in the log. */
  readonly bytesMax: number;
  /** Ends reading, also inside a long line; `before` ignores it. */
  readonly signal?: AbortSignal | undefined;
}

export class SessionWindow {
  readonly log: LogWindow;
  readonly #dialect: Dialect;

  private constructor(log: LogWindow, dialect: Dialect) {
    this.log = log;
    this.#dialect = dialect;
  }

  /** Refuses with LOG_NOT_FOUND. Must be closed: it holds files open. */
  static async open(
    host: Host,
    { logId, root, dialect }: Pick<Session, "logId" | "root" | "dialect">,
  ): Promise<SessionWindow> {
    const disk = hostOf(host, { dialect: dialect.name, root });
    return new SessionWindow(await LogWindow.open(disk, logId, root), dialect);
  }

  get end(): number {
    return this.log.end;
  }

  /** The entries from `offset` on; `memory` is the decoder's state before them, if known. */
  async after(
    offset: number,
    limits: PieceLimits,
    memory = this.#dialect.reading.remembers?.(),
  ): Promise<WindowEntry[]> {
    await this.log.check(offset);
    const piece = new Piece(this.#dialect, limits);
    if (piece.hasRoom) await this.log.each(offset, (line) => piece.add(line), limits.signal);
    return remembered(piece.entries, memory);
  }

  /** The entries that end at or before `offset`, in order. */
  async before(offset: number, limits: PieceLimits): Promise<WindowEntry[]> {
    await this.log.check(offset);
    const piece = new Piece(this.#dialect, limits);
    if (piece.hasRoom) {
      for await (const line of this.log.backward(offset)) if (!piece.add(line)) break;
    }
    return remembered(piece.entries.reverse(), this.#dialect.reading.remembers?.());
  }

  /** The entries at these offsets, as far as there is room. */
  async at(
    starts: readonly number[],
    { entriesMax, bytesMax }: PieceLimits,
  ): Promise<WindowEntry[]> {
    const entries: WindowEntry[] = [];
    let bytes = 0;
    for (const start of starts.slice(0, entriesMax)) {
      const [entry] = await this.after(start, { entriesMax: 1, bytesMax: 1 });
      bytes += entry === undefined ? 0 : entry.end - entry.start;
      if (entry === undefined || (bytes > bytesMax && entries.length > 0)) break;
      entries.push(entry);
    }
    return entries;
  }

  close(): void {
    this.log.close();
  }
}

/** The entries of a piece, up to its limits. */
class Piece {
  readonly entries: Mutable<WindowEntry>[] = [];
  readonly #dialect: Dialect;
  readonly #limits: PieceLimits;
  #bytes = 0;

  constructor(dialect: Dialect, limits: PieceLimits) {
    this.#dialect = dialect;
    this.#limits = limits;
  }

  get hasRoom(): boolean {
    return this.entries.length < this.#limits.entriesMax;
  }

  /** Returns whether there is room for more. */
  add({ value, fault, start, end }: WindowLine): boolean {
    // A line too long to be held in memory does not count toward the limit.
    this.#bytes += fault === null ? end - start : 0;
    if (this.#bytes > this.#limits.bytesMax && this.entries.length > 0) return false;
    this.entries.push(placed(this.#dialect, value, fault, start, end));
    return this.hasRoom;
  }
}

function remembered(
  entries: Mutable<WindowEntry>[],
  memory: LineMemory | undefined,
): WindowEntry[] {
  if (!memory) return entries;
  for (const placed of entries) {
    if (placed.entry !== null) placed.entry = memory.read(placed.entry);
  }
  return entries;
}

export interface SessionFollower {
  /** Each line once and in order; the next one is read when this has resolved. */
  entry(entry: WindowEntry): Promise<void>;
  /** A line that is not JSON, in its place. Not awaited: it carries only offsets and a reason. */
  badLine(line: WindowEntry): void;
  /** Entries passed before, from offset `to` on, are no longer in the log. */
  rewound(to: number): void;
}

/** Passes the entries from `from` on, and then those that any process appends, until the signal. */
export async function followSession(
  session: Session,
  from: number,
  follower: SessionFollower,
  signal: AbortSignal,
): Promise<void> {
  const { dialect } = session;
  const reader = session.reader({
    signal,
    onBadLine: ({ offset, reason }, end) => {
      follower.badLine({ start: offset, end, entry: null, fault: reason });
    },
  });
  const lines = reader.follow({
    from: from as ByteOffset,
    onRewound: ({ to }) => follower.rewound(to),
  });
  try {
    for await (const { value, start, end } of lines) {
      if (signal.aborted) return;
      await follower.entry(placed(dialect, value, null, start, end));
    }
  } catch (cause) {
    if (!signal.aborted) throw cause;
  }
}

function placed(
  dialect: Dialect,
  value: unknown,
  fault: string | null,
  start: number,
  end: number,
): WindowEntry {
  if (fault !== null) return { start, end, entry: null, fault };
  const { entry, fault: why } = dialect.reading.decode(value);
  return { start, end, entry, fault: why };
}

/** Whether an error means that a session does not exist, however it was asked for. */
export function isAbsence(cause: unknown): boolean {
  if (!(cause instanceof VerbatimError)) return false;
  const { code, details } = cause;
  if (code !== "IO_ERROR") return ABSENCES.has(code);
  return "errno" in details && (details.errno === "ENOTDIR" || details.errno === "ELOOP");
}

/** An invalid id, a missing log, or one that could only be reached through a link. */
const ABSENCES: ReadonlySet<string> = new Set([
  "BAD_ID",
  "LOG_NOT_FOUND",
  "SESSION_NOT_FOUND",
  "UNSAFE_PATH",
]);

/** How much of a log's beginning, and of the end of the part that was read, is compared. */
const MARK_BYTES = 1_024;

/**
 * A mark of a log's bytes up to `end`, which tells whether the beginning of a log is probably the one
 * that was read before. The last line may still lack its LF, so the LF is left out.
 */
export async function markOf(log: LogWindow, end: number): Promise<string> {
  const last = Math.max(0, end - 1);
  const hash = createHash("sha256").update(String(end));
  hash.update(await log.bytes(0, Math.min(MARK_BYTES, last)));
  hash.update(await log.bytes(Math.max(0, last - MARK_BYTES), last));
  return hash.digest("base64url").slice(0, 22);
}
