/**
 * Stream rows: a stream's state as a row of `streams` and back.
 *
 * Columns that the database never looks at are one JSON text, `settings`: a value in it may hold
 * NUL, which PostgreSQL's own types cannot.
 */

import { createHash } from "node:crypto";
import { expiresAtMs, type StreamState, type StreamStatus } from "../commit/stream-state.ts";
import { logFileName } from "../files/stream-path.ts";

/** A state, and how often its row was written; version 0 is a path that was never used. */
export interface VersionedStream {
  readonly version: number;
  readonly state: StreamState | null;
}

export const NEVER_USED: VersionedStream = { version: 0, state: null };

/** What `knownOf` needs; bigint columns arrive as texts. */
export const COLUMNS = `path, version, sid, status, "readSeq", "isJson", base, "end", "isClosed",
  forks, "createdAt", "touchedAt", "deletedAt", settings`;

export type StreamRow = Readonly<Record<string, unknown>>;

type Settings = Pick<
  StreamState,
  "contentType" | "lifetime" | "inheritsLifetime" | "closedBy" | "streamSeq" | "fork"
>;

/** The primary key. Paths themselves may be too long for an index. */
export function pathKey(path: string): string {
  return `\\x${createHash("sha256").update(path).digest("hex")}`;
}

/** The number of a stream, which its messages have: its id as a signed integer. */
export function sidOf({ streamId }: Pick<StreamState, "streamId">): string {
  return String(BigInt.asIntN(64, BigInt(`0x${streamId}`)));
}

export function knownOf(row: StreamRow): VersionedStream {
  const version = Number(row.version);
  if (version === 0) return NEVER_USED;
  const path = row.path as string;
  const readSeq = Number(row.readSeq);
  const isJson = row.isJson as boolean;
  const end = Number(row.end);
  const state: StreamState = {
    ...(JSON.parse(row.settings as string) as Settings),
    path,
    streamId: BigInt.asUintN(64, BigInt(row.sid as string))
      .toString(16)
      .padStart(16, "0"),
    status: row.status as StreamStatus,
    readSeq,
    file: logFileName(path, readSeq, isJson),
    isJson,
    base: Number(row.base),
    end,
    isClosed: row.isClosed as boolean,
    createdAtMs: Number(row.createdAt),
    touchedAtMs: Number(row.touchedAt),
    deletedAtMs: row.deletedAt === null ? null : Number(row.deletedAt),
    forks: Number(row.forks),
    // Blocks are of files: here each message is checked by itself.
    blockStart: end,
    blockCrc: 0,
  };
  return { version, state };
}

/** The columns of a changed stream, as JSON for `commit_group`. */
export function streamColumns(state: StreamState): StreamRow {
  const { contentType, lifetime, inheritsLifetime, closedBy, streamSeq, fork } = state;
  const ttl = lifetime.kind === "ttl" ? lifetime.seconds * 1000 : null;
  const settings: Settings = {
    contentType,
    lifetime,
    inheritsLifetime,
    closedBy,
    streamSeq,
    fork,
  };
  return {
    sid: sidOf(state),
    status: state.status,
    readSeq: state.readSeq,
    isJson: state.isJson,
    base: state.base,
    end: state.end,
    isClosed: state.isClosed,
    forks: state.forks,
    createdAt: state.createdAtMs,
    touchedAt: state.touchedAtMs,
    ttl: ttl === null ? null : Math.min(ttl, Number.MAX_SAFE_INTEGER),
    expiresAt: expiresAtMs(lifetime, state.touchedAtMs),
    deletedAt: state.deletedAtMs,
    settings: JSON.stringify(settings),
  };
}
