/**
 * Group: requests that were decided together, and the one statement that makes them durable.
 *
 * Requests that looked at a common stream form a unit: they are written together or not at all
 * (schema.ts, `commit_group`). Requests about different streams do not depend on one another, so
 * that a stream which another server changed delays only its own requests.
 */

import { Batch, type Published, type StreamChange } from "../streams/commit/batch.ts";
import type { StreamState } from "../streams/commit/stream-state.ts";
import type { Op } from "../streams/journal/journal-record.ts";
import { keyOf, rowOf, sidOf } from "./stream-row.ts";

/** Checkpoints that end at `end` of those of their stream. */
export interface StreamCheckpoints {
  readonly path: string;
  readonly sid: string;
  readonly end: number;
  readonly bytes: Uint8Array;
}

/** Notes which streams each request looked at, and which it ended. */
export class GroupBatch extends Batch {
  readonly ended: { readonly path: string; readonly sid: string; readonly at: number }[] = [];
  /** Of the current request. */
  looked = new Set<string>();
  readonly checkpoints: StreamCheckpoints[] = [];
  /** How far streams are signed, by path. */
  readonly signed = new Map<string, { readonly sid: string; readonly upTo: number }>();

  constructor(published: Published) {
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
  readonly versionOf: (path: string) => number;
  readonly touches: ReadonlyMap<string, number>;
}

/** The arguments of `commit_group`. */
export function groupValues(parts: GroupParts): readonly unknown[] {
  const { id, server, batch, units, versionOf, touches } = parts;
  const unit = (path: string) => units.get(path) as number;
  const seen = [...units.keys()];
  const changes = [...batch.changes.values()];
  const states = changes.map(({ state }) => ({ unit: unit(state.path), ...rowOf(state) }));
  const touched = [...touches].filter(([path]) => !batch.changes.has(path));
  return [
    id,
    server,
    changes.map(({ state }) => state.path),
    bytesArray(seen.map(keyOf)),
    seen,
    numbers(seen.map(versionOf)),
    numbers([...units.values()]),
    JSON.stringify(states),
    ...messageValues(changes, unit),
    producersOf(changes, unit),
    jsonOrNull(batch.ended.map(({ path, sid, at }) => ({ unit: unit(path), sid, at }))),
    jsonOrNull([...batch.records].map(([key, value]) => ({ key, value: jsonText(value) }))),
    bytesArray(touched.map(([path]) => keyOf(path))),
    numbers(touched.map(([, at]) => at)),
  ];
}

/** All bytes as one value, which the driver sends as they are; an array of bytes it would not. */
function messageValues(
  changes: readonly StreamChange[],
  unit: (path: string) => number,
): readonly unknown[] {
  const columns: (number | string)[][] = [[], [], [], [], [], [], []];
  const bytes: Uint8Array[] = [];
  let place = 0;
  for (const change of changes) {
    const own = [unit(change.state.path), sidOf(change.state)];
    for (const { end, length, timestamp, crc } of change.pointers) {
      const row = [...own, end, timestamp, crc | 0, place, length];
      for (const [n, value] of row.entries()) columns[n]?.push(value);
      place += length;
    }
    bytes.push(...change.bytes);
  }
  return [...columns.map(numbers), Buffer.concat(bytes)];
}

function producersOf(
  changes: readonly StreamChange[],
  unit: (path: string) => number,
): string | null {
  const rows = changes.flatMap(({ state, producers }) =>
    [...producers.values()].map(({ id, epoch, seq }) => ({
      unit: unit(state.path),
      sid: sidOf(state),
      id: jsonText(id),
      ...{ epoch, seq },
    })),
  );
  return jsonOrNull(rows);
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
