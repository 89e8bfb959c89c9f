/**
 * Retention: deletes received sessions whose last change is older than the server's rule allows.
 *
 * - The last change of a session is when the last message of its streams was stored. It is read from
 *   the streams, which are the truth, once for each end of a stream.
 * - The log is deleted first, and only if it still ends where it was looked at; then its sidecar. A
 *   sidecar that a killed server left is due as its log was, and is deleted by the next run.
 * - A held session is never deleted. If the holds cannot be read, nothing is.
 * - What the stream's deletion leaves elsewhere is removed with its copy (received-sessions.ts).
 */

import {
  RETENTION,
  RETIRED_SESSION,
  type RetentionReport,
  type RetiredSession,
} from "../../client/retention-shapes.ts";
import { errnoOf } from "../../core/base/errors.ts";
import { logSegments } from "../../core/base/ids.ts";
import { repeat, type Time } from "../../core/base/time.ts";
import { dialectNamed } from "../../dialects/all.ts";
import { type Hold, readHolds } from "../../evidence/removal/holds.ts";
import {
  pathOfStore,
  SESSIONS_PATH,
  type SentFilePlace,
  sentFilePlaceOf,
  sidecarStreamOf,
} from "../../guard/remote/session-paths.ts";
import { parseOffset } from "../../streams/files/offset-token.ts";
import type { StreamHead, StreamStore } from "../../streams/files/stream-store.ts";
import { get, json } from "../openapi/describe.ts";
import type { MountDescription } from "../router/mount.ts";
import { RETENTION_PATH } from "../router/paths.ts";
import type { Sees } from "../sessions/roots.ts";

const RECORD = "received-retention";
const LEASE = "retention";
const LISTED_MAX = 100;
const PAGE_STREAMS = 1_000;

/** What the last runs did, as it is stored. */
interface RunRecord {
  readonly lastRunAt: string | null;
  /** The paths of the stores of sessions that were due and are held. */
  readonly held: readonly string[];
  readonly removed: readonly RetiredSession[];
}

const NO_RUN: RunRecord = { lastRunAt: null, held: [], removed: [] };

/** A session on the server: the first stream is deleted first. */
interface DueSession {
  readonly id: string;
  readonly place: SentFilePlace;
  readonly heads: readonly StreamHead[];
}

export interface RetentionOptions {
  readonly store: StreamStore;
  /** Null: no rule. */
  readonly keepMs: number | null;
  readonly everyMs: number;
  readonly time: Time;
  readonly onNote: (note: string) => void;
  readonly onFault: (what: string, cause: unknown) => void;
}

export class Retention {
  readonly #options: RetentionOptions;
  /** The time of the last message of a stream, by its id and end; as this run and the last saw it. */
  #changes = new Map<string, number>();
  #earlierChanges = new Map<string, number>();
  /** The last run: one follows the other. */
  #last: Promise<void> = Promise.resolve();
  #isStopped = false;
  #cancel = () => {};

  constructor(options: RetentionOptions) {
    this.#options = options;
  }

  /** Applies the rule now, and again and again. */
  begin(): void {
    const { keepMs, everyMs, time, onFault } = this.#options;
    if (keepMs === null) return;
    const run = () => {
      this.#last = this.#last
        .then(() => this.#run(keepMs))
        .catch((cause: unknown) => onFault("deleting old received sessions", cause));
    };
    this.#cancel = repeat(time, everyMs, run);
    run();
  }

  async close(): Promise<void> {
    this.#isStopped = true;
    this.#cancel();
    await this.#last;
  }

  /** What may be seen of it. */
  async report(sees: Sees): Promise<RetentionReport> {
    const { keepMs } = this.#options;
    const { lastRunAt, held, removed } = await this.#record();
    const isSeen = ({ stream }: RetiredSession) => {
      const place = sentFilePlaceOf(stream);
      return place !== null && sees({ path: pathOfStore(place.store) });
    };
    return {
      keepSeconds: keepMs === null ? null : keepMs / 1000,
      lastRunAt,
      held: held.filter((path) => sees({ path })).length,
      removed: removed.filter(isSeen),
    };
  }

  async #run(keepMs: number): Promise<void> {
    const { store, time } = this.#options;
    if (this.#isStopped) return;
    if (store.holds && !(await store.holds(LEASE))) return; // Another server does it.
    const nowMs = time.nowMs();
    const dueMs = nowMs - keepMs;
    const holds = readHolds();
    const held: string[] = [];
    const removed: RetiredSession[] = [];
    this.#earlierChanges = this.#changes;
    this.#changes = new Map();
    for await (const due of this.#dueSessions(dueMs)) {
      if (this.#isStopped) break;
      if (holds.some((hold) => isHeld(due, hold))) held.push(pathOfStore(due.place.store));
      else removed.push(...(await this.#remove(due)));
    }
    if (this.#isStopped && removed.length === 0) return;
    const before = await this.#record();
    const record: RunRecord = {
      lastRunAt: timeText(nowMs),
      held,
      removed: [...removed.reverse(), ...before.removed].slice(0, LISTED_MAX),
    };
    await store.putRecord(RECORD, JSON.stringify(record));
  }

  async #record(): Promise<RunRecord> {
    const text = (await this.#options.store.records(RECORD)).get(RECORD);
    return text === undefined ? NO_RUN : (JSON.parse(text) as RunRecord);
  }

  /** Sessions whose streams were all changed last before then. */
  async *#dueSessions(dueMs: number): AsyncGenerator<DueSession> {
    const { store, onFault } = this.#options;
    const prefix = `${SESSIONS_PATH}/`;
    for (let after: string | null = prefix; after?.startsWith(prefix) && !this.#isStopped; ) {
      const heads: readonly StreamHead[] = await store.list({ after, limit: PAGE_STREAMS });
      for (const head of heads) {
        try {
          const due = await this.#dueSession(head, dueMs);
          if (due !== null) yield due;
        } catch (cause) {
          if (!isDeletion(cause)) onFault(`looking at the age of ${head.path}`, cause);
        }
      }
      after = heads.at(-1)?.path ?? null;
    }
  }

  /** Null: it is not due, or it is looked at with its log. */
  async #dueSession(head: StreamHead, dueMs: number): Promise<DueSession | null> {
    const place = sentFilePlaceOf(head.path);
    if (place === null || head.createdAtMs > dueMs) return null;
    const id = dialectNamed(place.store.dialect).naming.idAt(logSegments(place.path));
    const { path } = head;
    const other = await this.#headOf(place.isSidecar ? logOf(path) : sidecarStreamOf(path));
    if (id === null || (place.isSidecar && other !== null)) return null;
    const heads = other === null ? [head] : [head, other];
    for (const each of heads) {
      if ((await this.#lastChange(each)) > dueMs) return null;
    }
    return { id, place, heads };
  }

  async #headOf(path: string): Promise<StreamHead | null> {
    return this.#options.store.head(path).catch(ifDeleted);
  }

  async #lastChange(head: StreamHead): Promise<number> {
    const key = keyOf(head);
    let changedMs = this.#changes.get(key) ?? this.#earlierChanges.get(key);
    if (changedMs === undefined) {
      changedMs = head.createdAtMs;
      for await (const { timestamp } of this.#options.store.messages(head.path, "start")) {
        if (this.#isStopped) return Number.POSITIVE_INFINITY;
        changedMs = Math.max(changedMs, timestamp);
      }
    }
    this.#changes.set(key, changedMs);
    return changedMs;
  }

  /** None if it was changed or deleted meanwhile. */
  async #remove({ id, place, heads }: DueSession): Promise<RetiredSession[]> {
    const { store, time, onNote, onFault } = this.#options;
    const [first, ...others] = heads;
    if (first === undefined) return [];
    try {
      await store.remove(first.path, first.end);
      for (const { path } of others) await store.remove(path).catch(ifDeleted);
    } catch (cause) {
      const isChanged = errnoOf(cause) === "STREAM_CONFLICT" || isDeletion(cause);
      if (!isChanged) onFault(`deleting the received session ${first.path}`, cause);
      return [];
    }
    const changedMs = Math.max(...heads.map((head) => this.#changes.get(keyOf(head)) ?? 0));
    const bytes = heads.reduce((sum, { start, end }) => sum + bytesAt(end) - bytesAt(start), 0);
    const changedAt = timeText(changedMs);
    const { path: stream } = first;
    onNote(`deleted the received session ${stream}: ${bytes} bytes, last changed ${changedAt}`);
    const { dialect } = place.store;
    return [{ session: id, dialect, stream, changedAt, at: timeText(time.nowMs()), bytes }];
  }
}

export const RETENTION_ROUTE: MountDescription = {
  paths: {
    [RETENTION_PATH]: get("getRetention", {
      summary: "The rule by which the server deletes received sessions, and what it deleted",
      parameters: [],
      ok: json("Retention", "As far as the token may see the sessions"),
      refused: [],
    }),
  },
  schemas: { Retention: RETENTION, RetiredSession: RETIRED_SESSION },
};

function isHeld({ id, place }: DueSession, hold: Hold): boolean {
  return hold.dialect === place.store.dialect && hold.id === id;
}

function keyOf({ streamId, end }: StreamHead): string {
  return `${streamId} ${end}`;
}

function logOf(sidecar: string): string {
  return sidecar.slice(0, sidecar.length - sidecarStreamOf("").length);
}

function bytesAt(token: StreamHead["end"]): number {
  return parseOffset(token)?.byteOffset ?? 0;
}

function timeText(ms: number): string {
  return new Date(ms).toISOString();
}

function isDeletion(cause: unknown): boolean {
  return ["STREAM_NOT_FOUND", "STREAM_GONE"].includes(String(errnoOf(cause)));
}

function ifDeleted(cause: unknown): null {
  if (isDeletion(cause)) return null;
  throw cause;
}
