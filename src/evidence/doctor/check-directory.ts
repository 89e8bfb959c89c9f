/**
 * Check directory: examines a data directory of streams, and writes nothing to it.
 *
 * The expected state is computed from `meta.jsonl`, in a separate index outside the directory;
 * files and `streams.db` are compared with it. Signatures are checked in `verify-directory.ts`.
 *
 * - Every byte of every stream is read, and its crc32 compared.
 * - A directory in use is not examined (LOG_LOCKED), because its state is changing. While it is
 *   examined, no server can start on it.
 * - If `meta.jsonl` is damaged, the expected state is unknown, so the check ends there.
 */

import { copyFileSync, existsSync, mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { errnoOf, VerbatimError } from "../../core/base/errors.ts";
import type { Directory } from "../../core/base/files.ts";
import type { Host } from "../../core/base/host.ts";
import { OPEN_LOG_FILES_MAX } from "../../core/base/limits.ts";
import {
  type Finding,
  type FindingCode,
  type FindingPlace,
  finding,
} from "../../core/findings/finding.ts";
import type { StreamState } from "../../streams/commit/stream-state.ts";
import { StreamIndex } from "../../streams/files/lookup/stream-index.ts";
import { HandlePool } from "../../streams/files/reading/handle-pool.ts";
import { lockUnused } from "../../streams/journal/data-directory.ts";
import { readMark } from "../../streams/journal/journal-mark.ts";
import { type ScannedJournal, scanJournal } from "../../streams/journal/journal-scan.ts";
import { MetaFile } from "../../streams/journal/meta-file.ts";
import { applyJournal, applyMeta } from "../../streams/journal/recovery.ts";
import { STREAMS } from "../../trust/proof/envelopes.ts";
import { CheckedStreamFiles } from "./check-streams.ts";
import type { ExaminedItem } from "./examine.ts";

/** The streams and their findings, one by one. Throws if the directory cannot be examined. */
export async function* examineData(host: Host, path: string): AsyncGenerator<ExaminedItem> {
  const opened: { close(): void }[] = [];
  const keep = <T extends { close(): void }>(part: T): T => {
    opened.unshift(part);
    return part;
  };
  const scratch = mkdtempSync(join(tmpdir(), "verbatim-check-"));
  try {
    const root = keep(await host.files.openDirectory(path, { create: false }));
    keep(lockUnused(root));
    const logs = keep(await host.files.openDirectory(`${path}/logs`, { create: false }));
    const journals = keep(await host.files.openDirectory(`${path}/journal`, { create: false }));
    const truth = keep(await StreamIndex.open(join(scratch, "truth.db")));
    yield* examine({ root, logs, journals, truth, scratch, keep });
  } catch (cause) {
    if (errnoOf(cause) !== "ENOENT") throw cause;
    const message = `${path} is no data directory of streams; name the one that serve was given`;
    throw new VerbatimError("LOG_NOT_FOUND", message, { path }, { cause });
  } finally {
    for (const each of opened) each.close();
    rmSync(scratch, { recursive: true, force: true });
  }
}

interface Parts {
  readonly root: Directory;
  readonly logs: Directory;
  readonly journals: Directory;
  readonly truth: StreamIndex;
  readonly scratch: string;
  keep<T extends { close(): void }>(part: T): T;
}

async function* examine(parts: Parts): AsyncGenerator<ExaminedItem> {
  const { root, logs, truth, keep } = parts;
  const path = `${root.path}/meta.jsonl`;
  const meta = await orDamage(MetaFile.openToRead(root));
  if (meta === null) {
    // Its first line is durable before the first append.
    const isFirst = logs.names().length === 0;
    if (isFirst) return yield found("META_UNFINISHED", { path }, "it was never begun");
    return yield found("META_DAMAGED", { path }, "its first line is gone");
  }
  // If meta.jsonl is damaged, the expected state is unknown.
  if ("reason" in meta) return yield found("META_DAMAGED", { ...meta, path }, meta.reason);
  keep(meta);
  try {
    await applyMeta(truth, { meta, onProgress: () => {} });
  } catch (cause) {
    const { reason, offset } = damageIn(cause) ?? { reason: "a line is not what was written" };
    return yield found("META_DAMAGED", { path, offset }, reason);
  }
  const left = meta.bytesLeft;
  const journal = await orDamage(scanJournal(parts.journals, meta.storeId, meta.writtenBackLsn));
  const records = "reason" in journal ? null : journal.records;
  if ("reason" in journal && left > 0) {
    const detail = `its last ${left} bytes are not what was written, and no record is about them`;
    return yield found("META_DAMAGED", { path, offset: meta.end }, detail);
  }
  if (left > 0) yield found("META_UNFINISHED", { path }, `${left} bytes were not finished`);
  if ("reason" in journal) yield found("JOURNAL_DAMAGED", journal, journal.reason);
  const acknowledged = await readMark(root, meta.storeId);
  if (!("reason" in journal)) yield* journalFindings(parts, journal, acknowledged);

  const pool = new HandlePool(logs, OPEN_LOG_FILES_MAX);
  try {
    const store = { dialect: STREAMS, root: root.path };
    const isBehind = "reason" in journal || acknowledged > journal.lastLsn;
    yield* new CheckedStreamFiles({ logs, pool, truth, records, isBehind, store }).check();
  } finally {
    await pool.closeAll();
  }
  if (!("reason" in journal)) yield* indexFindings(parts, meta, journal);
}

function found(code: FindingCode, at: Omit<FindingPlace, "session">, detail: string): ExaminedItem {
  return { finding: finding(code, { path: at.path, offset: at.offset, session: null }, detail) };
}

function* journalFindings(
  { journals: { path } }: Parts,
  { records, bytes, lastLsn }: ScannedJournal,
  acknowledged: number,
): Generator<ExaminedItem> {
  if (records.length > 0) {
    const detail = `${records.length} records (${bytes} bytes) wait to be carried out`;
    yield found("JOURNAL_PENDING", { path }, detail);
  }
  if (acknowledged <= lastLsn) return;
  const detail = `${acknowledged} commits were acknowledged; it and meta.jsonl hold ${lastLsn}`;
  yield found("JOURNAL_DAMAGED", { path }, detail);
}

/** Compares a copy of `streams.db` with what it is derived from. */
async function* indexFindings(
  { root, truth, scratch, keep }: Parts,
  meta: MetaFile,
  journal: ScannedJournal,
): AsyncGenerator<ExaminedItem> {
  const path = `${root.path}/streams.db`;
  const copy = join(scratch, "index.db");
  const rebuilt = (why: string) => found("INDEX_REBUILT", { path }, why);
  for (const ending of ["", "-wal"]) {
    if (existsSync(path + ending)) copyFileSync(path + ending, copy + ending);
  }
  if (!existsSync(copy)) return yield rebuilt("it is not there");
  const index = keep(await StreamIndex.open(copy, { isSuspect: true }));
  const { lsn, metaBytes, storeId } = index.applied();
  const isOfNothing = storeId === "" && journal.lastLsn === 0;
  if (storeId !== meta.storeId && !isOfNothing)
    return yield rebuilt("it is damaged, or another store's");
  if (lsn > journal.lastLsn || metaBytes > meta.end) {
    const detail = `it knows of ${lsn} commits; the journal and meta.jsonl of ${journal.lastLsn}`;
    return yield found("INDEX_AHEAD", { path }, detail);
  }
  if (lsn < meta.writtenBackLsn) return yield rebuilt("it is behind meta.jsonl");
  for (const each of [truth, index]) applyJournal(each, meta, journal);
  for (const each of differencesOf(truth, index, path)) yield { finding: each };
}

type Damage = VerbatimError<"STORE_DAMAGED">["details"];

/** The result of `work`, or what is damaged; other errors are thrown. */
async function orDamage<T>(work: Promise<T>): Promise<T | Damage> {
  try {
    return await work;
  } catch (cause) {
    const damage = damageIn(cause);
    if (damage !== null) return damage;
    // The operating system's error, if it was wrapped.
    throw cause instanceof VerbatimError && cause.code === "IO_ERROR" ? cause.cause : cause;
  }
}

function damageIn(cause: unknown): Damage | null {
  const isDamage = cause instanceof VerbatimError && cause.code === "STORE_DAMAGED";
  return isDamage ? (cause.details as Damage) : null;
}

const STREAMS_TOGETHER = 1000;
const MESSAGES_TOGETHER = 5000;

/** The differences between two indexes, both up to date; `path` is that of the examined one. */
function* differencesOf(truth: StreamIndex, index: StreamIndex, path: string): Generator<Finding> {
  const differs = (what: string, session: string | null) =>
    finding("INDEX_DIFFERS", { session, path }, what);
  for (let after = ""; ; ) {
    const expected = truth.keptStreams(after, STREAMS_TOGETHER);
    const found = index.keptStreams(after, STREAMS_TOGETHER);
    const paths = new Set([...expected, ...found].map(({ path }) => path));
    if (paths.size === 0) break;
    const [own, other] = [byPath(expected), byPath(found)];
    // Entries past the end of the shorter page cannot be compared yet.
    const last = [expected, found]
      .filter((page) => page.length === STREAMS_TOGETHER)
      .map((page) => page.at(-1)?.path ?? "")
      .sort()[0];
    const page = [...paths].sort().filter((path) => last === undefined || path <= last);
    for (const stream of page) {
      const [a, b] = [own.get(stream), other.get(stream)];
      if (a === undefined) yield differs(`it has ${stream}, which is no stream`, stream);
      else if (b === undefined) yield differs(`it has no ${stream}`, stream);
      else if (said(a) !== said(b)) yield differs(`it says otherwise of ${stream}`, stream);
      else if (!hasSameMessages(truth, index, a)) {
        yield differs(`it says otherwise of the messages of ${stream}`, stream);
      }
    }
    after = page.at(-1) ?? "";
  }
  if (textOf(truth.records("")) !== textOf(index.records(""))) {
    yield differs("it has other records of the server", null);
  }
}

function byPath(states: readonly StreamState[]): Map<string, StreamState> {
  return new Map(states.map((state) => [state.path, state]));
}

/** The last use of a stream is written to the index first, and to `meta.jsonl` later. */
function said(state: StreamState): string {
  return JSON.stringify({ ...state, touchedAtMs: 0 });
}

function hasSameMessages(truth: StreamIndex, index: StreamIndex, stream: StreamState): boolean {
  const { path, base, end } = stream;
  for (let from = base; from < end; ) {
    const expected = truth.messages(stream, from, end, MESSAGES_TOGETHER);
    const found = index.messages(stream, from, end, MESSAGES_TOGETHER);
    if (JSON.stringify(expected) !== JSON.stringify(found)) return false;
    from = expected.at(-1)?.end ?? end;
  }
  return JSON.stringify(truth.blocks(path, 0, end)) === JSON.stringify(index.blocks(path, 0, end));
}

function textOf(records: ReadonlyMap<string, string>): string {
  return JSON.stringify([...records]);
}
