/** Stream rows: the tables of `streams.db`, and how a stream's state becomes a row and back. */

import type { SqlValue } from "../../../core/sqlite/sqlite.ts";
import { expiresAtMs, type StreamState, type StreamStatus } from "../../commit/stream-state.ts";

/**
 * Clustered by path and offset: one tree to write to, and a read is one run of its pages. No
 * foreign keys: replacing a stream's row would check each of its messages (SQLite 3.53).
 */
export const SCHEMA = `
CREATE TABLE streams (
  path TEXT PRIMARY KEY,
  streamId TEXT NOT NULL,
  status TEXT NOT NULL,
  currentReadSeq INTEGER NOT NULL,
  file TEXT NOT NULL,
  contentType TEXT NOT NULL,
  isJson INTEGER NOT NULL,
  lifetime TEXT NOT NULL,
  inheritsLifetime INTEGER NOT NULL,
  base INTEGER NOT NULL,
  currentByteOffset INTEGER NOT NULL,
  isClosed INTEGER NOT NULL,
  closedBy TEXT,
  streamSeq TEXT,
  createdAt INTEGER NOT NULL,
  touchedAt INTEGER NOT NULL,
  expiresAt INTEGER,
  deletedAt INTEGER,
  fork TEXT,
  forks INTEGER NOT NULL,
  blockStart INTEGER NOT NULL,
  blockCrc INTEGER NOT NULL
) WITHOUT ROWID;
CREATE INDEX streamsByExpiry ON streams (expiresAt) WHERE expiresAt IS NOT NULL;
CREATE TABLE messages (
  streamPath TEXT NOT NULL,
  bytePos INTEGER NOT NULL,
  length INTEGER NOT NULL,
  offset TEXT NOT NULL,
  timestamp INTEGER NOT NULL,
  crc INTEGER NOT NULL,
  PRIMARY KEY (streamPath, offset)
) WITHOUT ROWID;
CREATE TABLE blocks (
  streamPath TEXT NOT NULL,
  start INTEGER NOT NULL,
  "end" INTEGER NOT NULL,
  crc INTEGER NOT NULL,
  PRIMARY KEY (streamPath, start)
) WITHOUT ROWID;
CREATE TABLE producers (
  streamPath TEXT NOT NULL,
  id TEXT NOT NULL,
  epoch INTEGER NOT NULL,
  seq INTEGER NOT NULL,
  PRIMARY KEY (streamPath, id)
) WITHOUT ROWID;
CREATE TABLE records (key TEXT PRIMARY KEY, value TEXT NOT NULL) WITHOUT ROWID;
CREATE TABLE removals (file TEXT PRIMARY KEY, deletedAt INTEGER NOT NULL) WITHOUT ROWID;
CREATE TABLE applied (lsn INTEGER NOT NULL, metaBytes INTEGER NOT NULL, storeId TEXT NOT NULL);
INSERT INTO applied VALUES (0, 0, '');
`;

/**
 * What `stateOf` reads. Not `expiresAt`, which is only for searching: a store may have one above
 * the safe integers, and the driver (1.2.1) returns no row with it.
 */
export const STATE_COLUMNS =
  "path, streamId, status, currentReadSeq, file, contentType, isJson, lifetime, inheritsLifetime, " +
  "base, currentByteOffset, isClosed, closedBy, streamSeq, createdAt, touchedAt, deletedAt, fork, " +
  "forks, blockStart, blockCrc";

/** In the order of the table's columns. */
export function streamValues(state: StreamState): readonly SqlValue[] {
  return [
    state.path,
    state.streamId,
    state.status,
    state.readSeq,
    state.file,
    state.contentType,
    state.isJson ? 1 : 0,
    JSON.stringify(state.lifetime),
    state.inheritsLifetime ? 1 : 0,
    state.base,
    state.end,
    state.isClosed ? 1 : 0,
    state.closedBy === null ? null : JSON.stringify(state.closedBy),
    state.streamSeq,
    state.createdAtMs,
    state.touchedAtMs,
    expiresAtMs(state.lifetime, state.touchedAtMs),
    state.deletedAtMs,
    state.fork === null ? null : JSON.stringify(state.fork),
    state.forks,
    state.blockStart,
    state.blockCrc,
  ];
}

export function stateOf(row: Record<string, SqlValue>): StreamState {
  return {
    path: row.path as string,
    streamId: row.streamId as string,
    status: row.status as StreamStatus,
    readSeq: row.currentReadSeq as number,
    file: row.file as string,
    contentType: row.contentType as string,
    isJson: row.isJson === 1,
    lifetime: JSON.parse(row.lifetime as string),
    inheritsLifetime: row.inheritsLifetime === 1,
    base: row.base as number,
    end: row.currentByteOffset as number,
    isClosed: row.isClosed === 1,
    closedBy: row.closedBy === null ? null : JSON.parse(row.closedBy as string),
    streamSeq: row.streamSeq as string | null,
    createdAtMs: row.createdAt as number,
    touchedAtMs: row.touchedAt as number,
    deletedAtMs: row.deletedAt as number | null,
    fork: row.fork === null ? null : JSON.parse(row.fork as string),
    forks: row.forks as number,
    blockStart: row.blockStart as number,
    blockCrc: row.blockCrc as number,
  };
}
