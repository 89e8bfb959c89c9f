/**
 * Group committer: makes many requests durable with one statement.
 *
 * decide on what this server knows → one statement, which checks that it is still so → publish and
 * answer. Requests that arrive meanwhile form the next group (streams/commit/commit-queue.ts).
 *
 * - Requests about streams that another server changed are decided again, before later ones. After
 *   TRIES_MAX times their streams are locked first, so that they cannot be overtaken for ever.
 * - A request is answered only after its group's statement, even if the answer is a refusal.
 * - Each group has an id, which the statement stores. If the connection breaks before the answer,
 *   the same statement is sent again: it either runs for the first time, or only returns what it
 *   did (schema.ts). So an outcome is known, or it is reported as unknown.
 *
 * Group signing: what a server that signs adds to the statement of a group (schema.ts).
 */

import { randomUUID } from "node:crypto";
import { setTimeout as delay } from "node:timers/promises";
import type pg from "pg";
import { VerbatimError } from "../../core/base/errors.ts";
import type { StreamChange } from "../commit/batch.ts";
import { type CommitLimits, CommitQueue, type QueuedRequest } from "../commit/commit-queue.ts";
import type { BatchReport } from "../commit/committer.ts";
import type { StreamState } from "../commit/stream-state.ts";
import type { CommitHealth } from "./commit-health.ts";
import { type PostgresDatabase, RETRY_MS } from "./database.ts";
import { isBroken, isReadOnly, isTimeout, isUndone, unavailable } from "./database-errors.ts";
import { GroupBatch, groupValues, unitsOf } from "./group.ts";
import { failureIn } from "./migrate.ts";
import { RECORDS_UNIT } from "./schema.ts";
import type { AppendedMacs } from "./signing/appended-macs.ts";
import { GroupView, NotLoaded, type StreamCache } from "./stream-cache.ts";
import { pathKey, sidOf } from "./stream-row.ts";

const TRIES_MAX = 3;
/** Pauses between attempts to find out what happened to a group. */
const PAUSE_MS = 100;
const ARGUMENTS = Array.from({ length: 28 }, (_, n) => `$${n + 1}`);
const SIGNING_ARGUMENTS = [1, 2, 3].map((n) => `$${ARGUMENTS.length + n}`);

export interface GroupCommitParts {
  readonly database: PostgresDatabase;
  readonly known: StreamCache;
  readonly limits: CommitLimits;
  /** The name of this server among those that share the database. */
  readonly server: string;
  /** Told of every outcome; refuses groups while none is answered. */
  readonly health: CommitHealth;
  /**
   * How long after a group was sent its outcome is looked for. Default: as long as its statement may
   * take, and RETRY_MS more.
   */
  readonly resolveMs: number | undefined;
  readonly onBatch: ((report: BatchReport) => void) | undefined;
  /** Absent if this server does not sign. */
  signing(): GroupSigning | null;
  /** Called with every stream that a group changed, after its requests were answered. */
  onChanged(states: readonly StreamState[]): void;
}

/** What a server that signs does with every group. */
export interface GroupSigning {
  readonly macs: AppendedMacs;
  /** Adds the first checkpoints of new streams before the group is written. */
  begin(batch: GroupBatch): Promise<void> | null;
  /** The group was written. */
  note(written: Pick<GroupBatch, "ops" | "changes">): void;
}

/** What a decision is based on. */
export interface Decision {
  readonly batch: GroupBatch;
  readonly view: GroupView;
}

/** What is known about a request in advance, so that it is loaded along with the others'. */
export interface RequestNeeds {
  readonly paths: readonly string[];
  readonly producerId?: string | undefined;
  /** It writes a record, which only the holder of the lease may. */
  readonly isRecord?: true;
  readonly bytes: number;
}

type GroupRequest = QueuedRequest<Decision, RequestNeeds>;

interface Group {
  readonly id: string;
  readonly batch: GroupBatch;
  readonly view: GroupView;
  readonly units: ReadonlyMap<string, number>;
  readonly touches: ReadonlyMap<string, number>;
  /** In the order of the requests: which streams each looked at, and its answer. */
  readonly decided: readonly { readonly looked: ReadonlySet<string>; answer(): void }[];
}

export class GroupCommitter {
  readonly #parts: GroupCommitParts;
  readonly #statement: string;
  /** The same for a group with something signed. */
  readonly #signingStatement: string;
  readonly #queue: CommitQueue<Decision, RequestNeeds>;

  constructor(parts: GroupCommitParts) {
    this.#parts = parts;
    const { schema, place } = parts.database;
    this.#queue = new CommitQueue({
      limits: parts.limits,
      place,
      waitsFor: "the database",
      refusal: () => parts.health.refusal,
      fits: (first, next) => isOvertaken(first) === isOvertaken(next),
      commit: (taken) => this.#commit(taken),
    });
    this.#statement = `SELECT ${schema}.commit_group(${ARGUMENTS.join(", ")}) AS stale`;
    this.#signingStatement = `WITH done AS MATERIALIZED (${this.#statement})
      SELECT stale, ${schema}.sign_group($1, stale, ${SIGNING_ARGUMENTS.join(", ")}) FROM done`;
  }

  /** Calls `decide` in turn; resolves to its answer once its group is durable. */
  submit<T>(wanted: RequestNeeds, decide: (decision: Decision) => T): Promise<T> {
    return this.#queue.submit(wanted, wanted.bytes, decide);
  }

  /** Refuses new requests, and resolves when accepted ones are done and uses are written. */
  async close(): Promise<void> {
    if (this.#parts.known.touches.size > 0) {
      this.submit({ paths: [], bytes: 0 }, () => {}).catch(() => {}); // No more lost than in a crash.
    }
    await this.#queue.close();
  }

  async #commit(taken: readonly GroupRequest[]): Promise<void> {
    const startedMs = performance.now();
    let group: Group;
    let stale: ReadonlySet<number>;
    try {
      if (taken.some(isOvertaken)) [group, stale] = await this.#commitLocked(taken);
      else {
        group = await this.#decide(taken);
        stale = await this.#send(group);
      }
    } catch (error) {
      const { database, health } = this.#parts;
      const refusal = await failureIn(database, error);
      health.ended(refusal, error instanceof VerbatimError ? error.cause : error);
      for (const { reject } of taken) reject(refusal);
      if (refusal.code === "STORE_UNAVAILABLE") this.#refuseWaiting(refusal);
      return;
    }
    const changed = this.#publish(group, stale);
    const again = this.#answer(taken, group, stale);
    this.#queue.putBack(again);
    this.#parts.onBatch?.({
      requests: taken.length - again.length,
      hasSynced: changed.length > 0,
      seconds: (performance.now() - startedMs) / 1000,
    });
    const { batch, units } = group;
    const isWritten = (path: string) => !stale.has(units.get(path) ?? -1);
    const ops = batch.ops.filter((op) => op.op !== "record" && isWritten(op.path));
    this.#parts.signing()?.note({ ops, changes: batch.changes });
    if (changed.length > 0) this.#parts.onChanged(changed);
  }

  /** Requests behind a group that the database did not answer: they have waited as long. */
  #refuseWaiting({ cause }: VerbatimError): void {
    this.#queue.refuseWaiting(unavailable(this.#parts.database.place, cause, "unchanged"));
  }

  /** Returns those whose streams another server has changed. */
  #answer(
    taken: readonly GroupRequest[],
    group: Group,
    stale: ReadonlySet<number>,
  ): GroupRequest[] {
    const again: GroupRequest[] = [];
    for (const [n, asked] of taken.entries()) {
      const decided = group.decided[n];
      const [path] = decided?.looked ?? [];
      const isStale = path !== undefined && stale.has(group.units.get(path) ?? -1);
      if (isStale) again.push(asked);
      else if (asked.wanted.isRecord && stale.has(RECORDS_UNIT)) asked.reject(this.#leaseLost());
      else decided?.answer();
    }
    return again;
  }

  #leaseLost(): VerbatimError<"STORE_UNAVAILABLE"> {
    const reason = "another server runs the subscriptions by now";
    const details = { path: this.#parts.database.place, reason, outcome: "unchanged" } as const;
    return new VerbatimError("STORE_UNAVAILABLE", `${reason}; nothing was changed`, details);
  }

  async #decide(taken: readonly GroupRequest[]): Promise<Group> {
    const { database, known } = this.#parts;
    const view = new GroupView(database, known);
    for (const { wanted } of taken) {
      for (const path of wanted.paths) view.want(path, wanted.producerId);
    }
    for (;;) {
      if (view.needsMore) await view.load();
      const batch = new GroupBatch(view);
      const decided = taken.map((request) => decidedOn(request, { batch, view }));
      if (view.needsMore) continue;
      const touches = new Map(known.touches);
      for (const [path, atMs] of touches) {
        if (batch.changes.get(path)?.state.status === "live") batch.touch(path, atMs);
      }
      const units = unitsOf(decided.map(({ looked }) => looked));
      batch.looked = new Set();
      await this.#parts.signing()?.begin(batch);
      return { id: randomUUID(), batch, view, units, touches, decided };
    }
  }

  /** The same in a transaction that locks the streams before they are loaded. */
  async #commitLocked(taken: readonly GroupRequest[]): Promise<[Group, ReadonlySet<number>]> {
    const { database, known } = this.#parts;
    const paths = [...new Set(taken.flatMap(({ wanted }) => wanted.paths))];
    const lock = `SELECT 1 FROM ${database.schema}.streams WHERE key = ANY ($1) ORDER BY key FOR UPDATE`;
    let sent: Group | null = null;
    try {
      return await database.transaction(async (client) => {
        await client.query(lock, [paths.map(pathKey)]);
        for (const path of paths) known.forget(path);
        const group = await this.#decide(taken);
        sent = group;
        const ms = database.deadlineMs(bytesOf(group.batch));
        return [group, await this.#call(client, this.#valuesOf(group), ms)];
      });
    } catch (error) {
      if (sent === null || !(isBroken(error) || isUndone(error))) throw error;
      return [sent, await this.#send(sent, true)];
    }
  }

  /**
   * Sends a group until it is known what happened to it. Resolves to the units that were not
   * written, because their streams have changed.
   */
  async #send(group: Group, wasSent = false): Promise<ReadonlySet<number>> {
    const { database, health, known, resolveMs } = this.#parts;
    const { batch, units, touches } = group;
    if (units.size === 0 && touches.size === 0 && batch.records.size === 0) return new Set();
    const values = this.#valuesOf(group);
    const statementMs = database.deadlineMs(bytesOf(batch));
    const endMs = performance.now() + (resolveMs ?? statementMs + RETRY_MS);
    let leftMs = statementMs;
    let hasLeft = false;
    let timeout: unknown = null;
    health.sent();
    for (let isSent = wasSent; ; ) {
      try {
        const call = (client: pg.ClientBase) => this.#call(client, values, leftMs);
        const stale = await (isSent ? database.write(call, leftMs) : database.write(call));
        health.committed();
        return stale;
      } catch (error) {
        if (isUndone(error)) continue;
        const isUnsent = error instanceof VerbatimError; // There is no connection.
        if (isReadOnly(error) && !isSent && !hasLeft) {
          hasLeft = true; // Another server may be the primary by now.
          continue;
        }
        isSent ||= isBroken(error) && !isReadOnly(error);
        if (!isSent || !(isUnsent || isBroken(error))) throw error;
        for (const path of units.keys()) known.forget(path);
        if (isTimeout(error)) timeout = error;
        leftMs = Math.round(endMs - performance.now());
        if (leftMs <= PAUSE_MS) throw unavailable(database.place, timeout ?? error, "unknown");
        await delay(PAUSE_MS);
      }
    }
  }

  #valuesOf(group: Group): readonly unknown[] {
    const { server, signing } = this.#parts;
    const values = groupValues({ ...group, server, seen: (path) => group.view.seen(path) });
    const signed = signing();
    const more = signed && signingValues(group.batch, group.units, signed.macs);
    return more ? [...values, ...more] : values;
  }

  async #call(
    client: pg.ClientBase,
    values: readonly unknown[],
    query_timeout: number,
  ): Promise<ReadonlySet<number>> {
    const isSigning = values.length > ARGUMENTS.length;
    const text = isSigning ? this.#signingStatement : this.#statement;
    const name = isSigning ? "commit_group_signed" : "commit_group";
    const query = { name, text, values: [...values], query_timeout };
    const { rows } = await client.query(query);
    return new Set(rows[0].stale as number[]);
  }

  /** Remembers what was written; returns it. */
  #publish({ batch, view, units, touches }: Group, stale: ReadonlySet<number>): StreamState[] {
    const { known } = this.#parts;
    for (const [path, unit] of units) if (stale.has(unit)) known.forget(path);
    for (const path of touches.keys()) if (!batch.changes.has(path)) known.forget(path);
    known.touchesWritten(touches);
    const changed: StreamState[] = [];
    for (const [path, { state, producers, dropsContents }] of batch.changes) {
      if (stale.has(units.get(path) ?? -1)) continue;
      const before = view.seen(path);
      const all = dropsContents ? new Map() : before.producers;
      for (const [id, turn] of producers) all.set(id, turn);
      known.set(path, { ...before, version: before.version + 1, state, producers: all });
      changed.push(state);
    }
    return changed;
  }
}

/** Such requests form a group of their own. */
function isOvertaken({ tries }: GroupRequest): boolean {
  return tries >= TRIES_MAX;
}

function bytesOf({ changes }: GroupBatch): number {
  let bytes = 0;
  for (const change of changes.values()) for (const part of change.bytes) bytes += part.length;
  return bytes;
}

/** Decides now; `answer` sends the answer. */
function decidedOn(
  { decide, resolve, reject }: GroupRequest,
  decision: Decision,
): { looked: ReadonlySet<string>; answer(): void } {
  const { batch } = decision;
  batch.looked = new Set();
  const { looked } = batch;
  try {
    const answer = decide(decision);
    return { looked, answer: () => resolve(answer) };
  } catch (error) {
    // What it needs is noted in the view, and everything is decided again.
    if (error instanceof NotLoaded) return { looked, answer: () => {} };
    return { looked, answer: () => reject(error) };
  }
}

/** The arguments of `sign_group` after the first two; null if the group has nothing for it. */
function signingValues(
  batch: GroupBatch,
  units: ReadonlyMap<string, number>,
  macs: AppendedMacs,
): readonly string[] | null {
  const checkpoints = batch.checkpoints.map(({ path, sid, end, bytes }) => ({
    unit: units.get(path),
    sid,
    end,
    lines: Buffer.from(bytes).toString("latin1"), // They are ASCII.
  }));
  const signed = [...batch.signed].map(([path, done]) => ({ unit: units.get(path), ...done }));
  const ended = batch.ended.map(({ path, sid }) => ({
    unit: units.get(path),
    sid,
    upTo: Number.MAX_SAFE_INTEGER,
  }));
  const closed = new Set<string>();
  for (const op of batch.ops) {
    if ((op.op === "append" || op.op === "create") && op.close) closed.add(op.path);
  }
  const unsigned: unknown[] = [];
  for (const [path, change] of batch.changes) {
    const { state, from: start, bytes } = change;
    if (!isToBeSigned(change, closed.has(path))) continue;
    const range = { sid: sidOf(state), start, end: state.end };
    const mac = `\\x${macs.macOf(range, bytes).toString("hex")}`;
    unsigned.push({ unit: units.get(path), ...range, key: pathKey(path), mac });
  }
  const values = [checkpoints, [...signed, ...ended], unsigned];
  return values.every(({ length }) => length === 0) ? null : values.map((v) => JSON.stringify(v));
}

/** It got bytes, was closed, or is a new fork; a stream without a byte has nothing to sign. */
function isToBeSigned({ state, pointers, dropsContents }: StreamChange, isClosed: boolean) {
  if (state.end === 0 || state.status === "deleted") return false;
  return pointers.length > 0 || isClosed || (dropsContents && state.base > 0);
}
