/**
 * Stream list: which streams a data directory has, for programs that only read it.
 *
 * Takes no lock and writes nothing, so a server may be running. `meta.jsonl` has the streams of the
 * last checkpoint, the journal those created and deleted since. A stream's length is not needed
 * here: its file holds only what the journal took, in complete lines.
 *
 * Not visible without opening the store: bytes that a killed server had in its journal and not yet
 * in the files. The next server that starts there writes them.
 */

import { closeSync, openSync, readdirSync, readFileSync, readSync, statSync } from "node:fs";
import { join } from "node:path";
import { errnoOf } from "../../../core/base/errors.ts";
import { LF } from "../../../core/log/bytes.ts";
import type { StreamStatus } from "../../commit/stream-state.ts";

export interface StoredStream {
  readonly path: string;
  readonly file: string;
  readonly status: StreamStatus;
  readonly isJson: boolean;
  /** Where its own file begins in the stream; bytes before that are in its source. */
  readonly base: number;
  readonly source: string | null;
}

/** What was read of a directory, to continue from there. */
interface ReadState {
  readonly metaKey: string;
  readonly streams: Map<string, StoredStream>;
  /** How much of each journal segment was read. */
  readonly segments: Map<string, number>;
}

const READ_MAX = 16;
const reads = new Map<string, ReadState>();
const STATE = '{"kind":"stream","state":';
const STATE_END = ',"isNew":';

/** By path. Empty without a `meta.jsonl`. */
export function streamsIn(root: string): ReadonlyMap<string, StoredStream> {
  const metaKey = keyOf(join(root, "meta.jsonl"));
  let read = reads.get(root);
  if (metaKey === null) return new Map();
  if (read?.metaKey !== metaKey) {
    read = { metaKey, streams: streamsInMeta(root), segments: new Map() };
    if (reads.size >= READ_MAX) reads.clear();
    reads.set(root, read);
  }
  for (const name of segmentsOf(root)) readSegment(join(root, "journal", name), name, read);
  return read.streams;
}

function keyOf(path: string): string | null {
  const stats = statSync(path, { throwIfNoEntry: false });
  return stats === undefined ? null : `${stats.ino}:${stats.size}:${stats.mtimeMs}`;
}

function streamsInMeta(root: string): Map<string, StoredStream> {
  const streams = new Map<string, StoredStream>();
  for (const line of readFileSync(join(root, "meta.jsonl"), "utf8").split("\n")) {
    if (!line.startsWith(STATE)) continue;
    // The messages that follow are most of the line, and not needed.
    const state = parsed(line.slice(STATE.length, line.lastIndexOf(STATE_END)));
    if (typeof state?.path !== "string" || typeof state.file !== "string") continue;
    const { path, file, status, isJson, base, fork } = state as unknown as StoredStream & Forked;
    streams.set(path, { path, file, status, isJson, base, source: fork?.source ?? null });
  }
  return streams;
}

interface Forked {
  readonly fork: { readonly source: string } | null;
}

function segmentsOf(root: string): string[] {
  try {
    return readdirSync(join(root, "journal")).sort();
  } catch (cause) {
    if (errnoOf(cause) === "ENOENT") return [];
    throw cause;
  }
}

/** Applies the records added to a segment; the last may be incomplete. */
function readSegment(path: string, name: string, { streams, segments }: ReadState): void {
  const from = segments.get(name) ?? 0;
  const bytes = bytesFrom(path, from);
  let at = 0;
  for (let lf = bytes.indexOf(LF); lf !== -1; lf = bytes.indexOf(LF, at)) {
    const header = parsed(bytes.toString("utf8", at, lf));
    if (header === null) break;
    const length = typeof header.bytes === "number" ? header.bytes + 1 : 0;
    if (lf + 1 + length > bytes.length) break;
    carryOut(header, streams);
    at = lf + 1 + length;
  }
  segments.set(name, from + at);
}

function carryOut(header: Record<string, unknown>, streams: Map<string, StoredStream>): void {
  const { op, path, file, pos, from, stream, ended } = header;
  if (op === "create" && typeof path === "string" && typeof file === "string") {
    const { isJson, fork } = stream as Forked & { readonly isJson: boolean };
    const base = Number(from) - Number(pos);
    const source = fork?.source ?? null;
    streams.set(path, { path, file, status: "live", isJson, base, source });
  }
  if (op !== "delete" || typeof path !== "string") return;
  const become = (id: string, status: StreamStatus) => {
    const stored = streams.get(id);
    if (stored !== undefined) streams.set(id, { ...stored, status });
  };
  become(path, "held");
  for (const id of ended as readonly string[]) become(id, "deleted");
}

/** What follows an offset in a file; nothing when the file is gone. */
function bytesFrom(path: string, from: number): Buffer {
  try {
    const file = openSync(path, "r");
    try {
      const bytes = Buffer.alloc(Math.max(0, statSync(path).size - from));
      return bytes.subarray(0, readSync(file, bytes, 0, bytes.length, from));
    } finally {
      closeSync(file);
    }
  } catch (cause) {
    if (errnoOf(cause) === "ENOENT") return Buffer.alloc(0);
    throw cause;
  }
}

function parsed(text: string): Record<string, unknown> | null {
  try {
    return JSON.parse(text) as Record<string, unknown>;
  } catch {
    return null;
  }
}
