/**
 * Database signing: signs the streams of a database, as one of several servers that have the same
 * key.
 *
 * - The server that appended signs, as in files. A row in `unsigned` notes what is not signed yet.
 *   If it stays there for long, the server that holds the lease signs it: the other one has stopped.
 * - Heads are pinned in the user's own file on the machine of the server that signed: a pin in the
 *   database would be rolled back along with it. Pins of streams that other servers deleted are
 *   removed when this one hears of it, or starts.
 */

import { nodeHost } from "../../../core/base/node-host.ts";
import { sidecarOf } from "../../../trust/session-log.ts";
import type { StreamState } from "../../commit/stream-state.ts";
import { beginningIn } from "../../signing/genesis.ts";
import type { Signable } from "../../signing/stream-log.ts";
import {
  SIGNING_CADENCE,
  type SigningCadence,
  type StreamSigner,
  StreamSigning,
} from "../../signing/stream-signing.ts";
import type { PostgresDatabase } from "../database.ts";
import type { GroupBatch } from "../group.ts";
import type { Decision, GroupCommitter, GroupSigning } from "../group-committer.ts";
import type { RowStreamReader } from "../stream-reader.ts";
import { COLUMNS, knownOf, pathKey, sidOf } from "../stream-row.ts";
import { AppendedMacs } from "./appended-macs.ts";
import { type LoadedStream, SigningRows } from "./loaded-stream.ts";
import { type NewCheckpoints, SignedRows, type SignOutcome } from "./signed-rows.ts";

/** How often a server looks for what others left unsigned, and after which time they did. */
export interface TakeOver {
  readonly lookMs: number;
  readonly overdueMs: number;
}

const TAKE_OVER: TakeOver = { lookMs: 5_000, overdueMs: 10_000 };
const TAKEN_TOGETHER = 1000;
const PINS_TOGETHER = 10_000;

export interface DatabaseSigningParts {
  readonly database: PostgresDatabase;
  readonly reader: RowStreamReader;
  readonly committer: GroupCommitter;
  readonly signer: StreamSigner;
  readonly cadence: Partial<SigningCadence>;
  readonly takeOver?: TakeOver | undefined;
  readonly now: () => number;
  stateOf(path: string): Promise<StreamState | null>;
  /** Takes or renews a lease. */
  holds(work: string): Promise<boolean>;
}

export class DatabaseSigning implements GroupSigning {
  readonly macs: AppendedMacs;
  readonly #parts: DatabaseSigningParts;
  readonly #signing: StreamSigning;
  readonly #place: string;
  /** Paths with a pinned head. */
  readonly #pinned: Set<string>;
  readonly #timer: NodeJS.Timeout;
  #takingOver: Promise<void> | null = null;
  readonly #overdueMs: number;

  private constructor(parts: DatabaseSigningParts, macs: AppendedMacs) {
    const { database, reader, signer, now: nowMs, takeOver = TAKE_OVER } = parts;
    const root = database.pinnedName;
    this.macs = macs;
    this.#parts = parts;
    this.#place = `streams:${root}`;
    const pins = signer.book.found.current().filter(({ pin }) => pin.place === this.#place);
    this.#pinned = new Set(pins.map(({ pin }) => pin.id));
    const rows = new SigningRows(database, reader);
    const cadence = { ...SIGNING_CADENCE, ...parts.cadence };
    this.#overdueMs = Math.max(takeOver.overdueMs, 10 * cadence.idleMs);
    this.#signing = new StreamSigning({
      ...signer,
      root,
      names: [this.#place],
      nowMs,
      clock: nodeHost.clock,
      cadence,
      keysFor: (path) => signer.keysFor(path),
      onWarning: (warning) => signer.onWarning(warning),
      stateOf: (path) => parts.stateOf(path),
      hasCheckpoints: () => false, // They are of one stream, and it has just been created.
      newStream: (shared, of) =>
        new SignedRows(
          {
            ...shared,
            rows,
            macs,
            pin: (path, head) => {
              this.#pinned.add(path);
              shared.pin(path, head);
            },
            forgetOlder: ({ state }: LoadedStream) => this.#forgetOlder([state]),
            commit: (each, made) => this.#commit(each, made),
          },
          of,
        ),
    });
    this.#timer = setInterval(() => {
      this.#takingOver ??= this.#takeOver().finally(() => {
        this.#takingOver = null;
      });
    }, takeOver.lookMs).unref();
  }

  static async open(parts: DatabaseSigningParts): Promise<DatabaseSigning> {
    return new DatabaseSigning(parts, await AppendedMacs.of(parts.signer));
  }

  get hasPins(): boolean {
    return this.#pinned.size > 0;
  }

  begin(batch: GroupBatch): Promise<void> | null {
    const old = beginningIn(batch).filter((state) => this.#isOlder(state));
    if (old.length === 0) return this.#signing.begin(batch);
    return this.#forgetOlder(old).then(() => this.#signing.begin(batch) ?? undefined);
  }

  note(written: Pick<GroupBatch, "ops" | "changes">): void {
    this.#signing.note(written); // It removes the pins of streams that were deleted here.
    for (const op of written.ops) {
      if (op.op === "delete") for (const path of op.ended) this.#pinned.delete(path);
    }
  }

  forkBegun(path: string): Promise<void> | null {
    return this.#signing.forkBegun(path);
  }

  /**
   * Other servers deleted these streams: pins of those that still are do not count any more.
   * Default: all that are pinned, for what happened before this server was started.
   */
  async changedElsewhere(paths: readonly string[] = [...this.#pinned]): Promise<void> {
    const pinned = paths.filter((path) => this.#pinned.has(path));
    for (let n = 0; n < pinned.length; n += PINS_TOGETHER) {
      const rows = await this.#parts.database.read(
        `SELECT path, "deletedAt" FROM ${this.#parts.database.schema}.streams
         WHERE key = ANY ($1) AND status = 'deleted'`,
        [pinned.slice(n, n + PINS_TOGETHER).map(pathKey)],
      );
      await this.#forget(new Map(rows.map((row) => [row.path as string, Number(row.deletedAt)])));
    }
  }

  async close(): Promise<void> {
    clearInterval(this.#timer);
    await this.#takingOver;
    await this.#signing.close();
  }

  #commit(of: Signable, made: NewCheckpoints): Promise<SignOutcome> {
    const { path } = of;
    const wanted = { paths: [path], bytes: made.lines.length };
    return this.#parts.committer.submit(wanted, (decision) => decideSign(decision, of, made));
  }

  async #takeOver(): Promise<void> {
    const { database, holds, signer } = this.#parts;
    const { schema } = database;
    try {
      if (!(await holds("signing"))) return;
      const rows = await database.read(
        `SELECT ${COLUMNS} FROM ${schema}.streams
         WHERE status <> 'deleted' AND (key, sid) IN (
           SELECT key, sid FROM ${schema}.unsigned GROUP BY key, sid
           HAVING max(at) < now() - interval '${this.#overdueMs} milliseconds')
         ORDER BY random() LIMIT ${TAKEN_TOGETHER}`,
        [],
      );
      this.#signing.takeOver(rows.flatMap((row) => knownOf(row).state ?? []));
    } catch (cause) {
      signer.onWarning(`looking for unsigned streams failed, and is tried again: ${String(cause)}`);
    }
  }

  /** The pinned head belongs to an earlier stream with this path. */
  #isOlder({ path, createdAtMs }: StreamState): boolean {
    const { found } = this.#parts.signer.book;
    const pinned = found.lookup({ place: this.#place, id: path, log: null });
    return pinned !== null && Date.parse(pinned.pin.ts) < createdAtMs;
  }

  async #forgetOlder(states: readonly StreamState[]): Promise<void> {
    const old = states.filter((state) => this.#isOlder(state));
    await this.#forget(new Map(old.map(({ path, createdAtMs }) => [path, createdAtMs - 1])));
  }

  async #forget(gone: ReadonlyMap<string, number>): Promise<void> {
    if (gone.size === 0) return;
    const { heads, book, onWarning } = this.#parts.signer;
    try {
      for (const pin of await heads.forgetAll(this.#place, gone)) book.found.add(pin);
      for (const path of gone.keys()) this.#pinned.delete(path);
    } catch (cause) {
      onWarning(`pins of deleted streams could not be removed: ${String(cause)}`);
    }
  }
}

/** Whether checkpoints still go where they were made for (signed-rows.ts, SR1). */
function decideSign(
  { batch, view }: Decision,
  { path, streamId, file }: Signable,
  { pos, lines, covered, isFinal }: NewCheckpoints,
): SignOutcome {
  const state = batch.state(path);
  if (state?.streamId !== streamId || state.status === "deleted") return "gone";
  if (view.checkpointsEnd(state) !== pos) return "overtaken";
  if (lines.length > 0) batch.add({ op: "sign", path, file: sidecarOf(file), pos, bytes: lines });
  // That it was closed is not signed yet: the row that says so stays.
  const isRest = state.isClosed && !isFinal && state.end === state.base + covered;
  const upTo = state.base + covered - (isRest ? 1 : 0);
  batch.signed.set(path, { sid: sidOf(state), upTo });
  return "signed";
}
