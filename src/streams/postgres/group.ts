/**
 * Group: requests that were decided together, and the one statement that makes them durable.
 *
 * Requests that looked at a common stream form a unit: they are written together or not at all
 * (schema.ts, `commit_group`). Requests about different streams do not depend on one another, so
 * that a stream which another server changed delays only its own requests.
 */

import { CommitBatch, type PublishedState, type StreamChange } from "../commit/batch.ts";
import type { StreamState } from "../commit/stream-state.ts";
import type { Op } from "../journal/journal-record.ts";
import type { SeenStream } from "./stream-cache.ts";
import { pathKey, sidOf, streamColumns } from "./stream-row.ts";

/** In `commits`, before the path of a stream that was deleted; no path begins with it. */
export const REMOVED_MARK = "-";

/** Checkpoints that end at `end` of those of their stream. */
export interface StreamCheckpoints {
  readonly path: string;
  readonly sid: string;
  readonly end: number;
  readonly bytes: Uint8Array;
}

/** Notes which streams each request looked at, and which it ended. */
export class GroupBatch extends CommitBatch {
  readonly ended: { readonly path: string; readonly sid: string; readonly at: number }[] = [];
  /** Of the current request. */
  looked = new Set<string>();
  readonly checkpoints: StreamCheckpoints[] = [];
  /** How far streams are signed, by path. */
  readonly signed = new Map<string, { readonly sid: string; readonly upTo: number }>();

  constructor(published: PublishedState) {
    super({
      get: (path) => {
        this.looked.add(path);
        return published.get(path);
      },
      producer: (state, id) => published.producer(state, id),
    });
  }

  override state(path: string): StreamState | null {
    this.looked.add(path);
    return super.state(path);
  }

  override add(op: Op): void {
    if (op.op === "delete") {
      for (const path of op.ended) {
        const state = this.state(path);
        if (state !== null) this.ended.push({ path, sid: sidOf(state), at: op.at });
      }
    }
    if (op.op === "sign") {
      const state = this.state(op.path);
      const end = op.pos + op.bytes.length;
      if (state !== null) this.checkpoints.push({ ...op, sid: sidOf(state), end });
      this.touch(op.path, 0); // The row gets a new version, so that no other server signs as well.
    }
    super.add(op);
  }
}

/** The unit of each path: equal for paths that one request looked at. */
export function unitsOf(requests: Iterable<ReadonlySet<string>>): Map<string, number> {
  const leaders = new Map<string, string>();
  const leaderOf = (path: string): string => {
    let leader = path;
    for (let next = leaders.get(leader); next !== undefined && next !== leader; ) {
      leader = next;
      next = leaders.get(leader);
    }
    leaders.set(path, leader);
    return leader;
  };
  for (const paths of requests) {
    let first: string | null = null;
    for (const path of paths) {
      const leader = leaderOf(path);
      first ??= leader;
      leaders.set(leader, first);
    }
  }
  const numbers = new Map<string, number>();
  const units = new Map<string, number>();
  for (const path of leaders.keys()) {
    const leader = leaderOf(path);
    const unit = numbers.get(leader) ?? numbers.size;
    numbers.set(leader, unit);
    units.set(path, unit);
  }
  return units;
}

export interface GroupParts {
  readonly id: string;
  readonly server: string;
  readonly batch: GroupBatch;
  readonly units: ReadonlyMap<string, number>;
  readonly seen: (path: string) => SeenStream;
  readonly touches: ReadonlyMap<string, number>;
}

/** A stream that the group was decided on. */
interface Looked {
  readonly path: string;
  readonly key: string;
  readonly unit: number;
  readonly version: number;
  readonly change: StreamChange | undefined;
  /** Only end and time changed. */
  readonly isGrown: boolean;
}

/** The arguments of `commit_group`. */
export function groupValues(parts: GroupParts): readonly unknown[] {
  const { id, server, batch, units, touches } = parts;
  const all = lookedAt(parts);
  const changed = all.filter(({ change }) => change !== undefined);
  const touched = [...touches].filter(([path]) => !batch.changes.has(path));
  const hasOneEach = new Set(units.values()).size === units.size;
  const isPlain = touched.length === 0 && hasOneEach && all.every(({ isGrown }) => isGrown);
  const unit = (path: string) => units.get(path) as number;
  const grown = (value: (state: StreamState) => number) =>
    numbers(all.map(({ change, isGrown }) => (change && isGrown ? value(change.state) : "NULL")));
  const states = changed.flatMap(({ unit, key, change, isGrown }) =>
    change === undefined || isGrown ? [] : { unit, key, ...streamColumns(change.state) },
  );
  return [
    id,
    server,
    [...changed.map(({ path }) => path), ...removedMarks(batch)],
    isPlain,
    bytesArray(all.map(({ key }) => key)),
    isPlain ? "{}" : all.map(({ path, version }) => (version === 0 ? path : "")),
    numbers(all.map(({ version }) => version)),
    numbers(all.map((one) => one.unit)),
    grown(({ end }) => end),
    grown(({ touchedAtMs }) => touchedAtMs),
    JSON.stringify(states),
    ...messageValues(changed),
    ...producerValues(changed),
    jsonOrNull(batch.ended.map(({ path, sid, at }) => ({ unit: unit(path), sid, at }))),
    jsonOrNull([...batch.records].map(([key, value]) => ({ key, value: jsonText(value) }))),
    bytesArray(touched.map(([path]) => pathKey(path))),
    numbers(touched.map(([, at]) => at)),
  ];
}

function removedMarks({ ops }: GroupBatch): readonly string[] {
  return ops.flatMap((op) => (op.op === "delete" ? `${REMOVED_MARK}${op.path}` : []));
}

/** In the order of their keys. */
function lookedAt({ batch, units, seen }: GroupParts): readonly Looked[] {
  const all = [...units].map(([path, unit]): Looked => {
    const { key, version, state } = seen(path);
    const change = batch.changes.get(path);
    const isGrown = change !== undefined && state !== null && hasOnlyGrown(change, state);
    return { path, key, unit, version, change, isGrown };
  });
  return all.sort((a, b) => (a.key < b.key ? -1 : 1));
}

function hasOnlyGrown({ state, dropsContents }: StreamChange, before: StreamState): boolean {
  return (
    !dropsContents &&
    state.status === before.status &&
    state.forks === before.forks &&
    state.isClosed === before.isClosed &&
    state.closedBy === before.closedBy &&
    state.streamSeq === before.streamSeq &&
    state.deletedAtMs === before.deletedAtMs
  );
}

/** All bytes as one value, which the driver sends as they are; an array of bytes it would not. */
function messageValues(changed: readonly Looked[]): readonly unknown[] {
  const columns = newColumns("unit", "sid", "end", "time", "crc", "place", "length");
  const bytes: Uint8Array[] = [];
  let place = 0;
  for (const { unit, change } of changed) {
    if (change === undefined || change.pointers.length === 0) continue;
    const sid = sidOf(change.state);
    for (const { end, length, timestamp, crc } of change.pointers) {
      columns.unit.push(unit);
      columns.sid.push(sid);
      columns.end.push(end);
      columns.time.push(timestamp);
      columns.crc.push(crc | 0);
      columns.place.push(place);
      columns.length.push(length);
      place += length;
    }
    bytes.push(...change.bytes);
  }
  return [...Object.values(columns).map(numbers), Buffer.concat(bytes)];
}

function producerValues(changed: readonly Looked[]): readonly unknown[] {
  const columns = newColumns("unit", "sid", "epoch", "seq");
  const ids: (string | null)[] = [];
  for (const { unit, change } of changed) {
    for (const { id, epoch, seq } of change?.producers.values() ?? []) {
      columns.unit.push(unit);
      columns.sid.push(sidOf((change as StreamChange).state));
      ids.push(jsonText(id));
      columns.epoch.push(epoch);
      columns.seq.push(seq);
    }
  }
  const { unit, sid, epoch, seq } = columns;
  return [numbers(unit), numbers(sid), ids, numbers(epoch), numbers(seq)];
}

function newColumns<N extends string>(...names: readonly N[]): Record<N, (number | string)[]> {
  return Object.fromEntries(names.map((name) => [name, []])) as never;
}

/** JSON in a text, because PostgreSQL's texts hold no NUL; null removes a record. */
function jsonText(value: string | null): string | null {
  return value === null ? null : JSON.stringify(value);
}

function jsonOrNull(rows: readonly unknown[]): string | null {
  return rows.length === 0 ? null : JSON.stringify(rows);
}

/** PostgreSQL's text of an array of numbers. */
function numbers(values: readonly (number | string)[]): string {
  return `{${values.join(",")}}`;
}

/** PostgreSQL's text of an array of bytes, each `\x…`. */
function bytesArray(values: readonly string[]): string {
  return `{${values.map((value) => `"\\${value}"`).join(",")}}`;
}
