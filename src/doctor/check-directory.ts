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
import { errnoOf, VerbatimError } from "../base/errors.ts";
import type { Directory } from "../base/files.ts";
import type { Host } from "../base/host.ts";
import { OPEN_LOG_FILES_MAX } from "../base/limits.ts";
import { type CheckFinding, damage, note } from "../findings/check-finding.ts";
import { readMark } from "../streams/journal/journal-mark.ts";
import { type ScannedJournal, scanJournal } from "../streams/journal/journal-scan.ts";
import { MetaFile } from "../streams/journal/meta-file.ts";
import { applyJournal, applyMeta } from "../streams/journal/recovery.ts";
import { lockUnused } from "../streams/journal/unused-directory.ts";
import { StreamIndex } from "../streams/lookup/stream-index.ts";
import { HandlePool } from "../streams/reading/handle-pool.ts";
import { differencesOf } from "./check-index.ts";
import { StreamFiles } from "./check-streams.ts";

export interface CheckOptions {
  readonly host: Host;
  readonly path: string;
  /** Called with the number of streams examined. */
  readonly onProgress?: ((streams: number) => void) | undefined;
}

/** The findings, one by one. Throws if the directory cannot be examined. */
export async function* checkDataDirectory(options: CheckOptions): AsyncGenerator<CheckFinding> {
  const { host, path } = options;
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
    yield* examine({ ...options, root, logs, journals, truth, scratch, keep });
  } catch (cause) {
    if (errnoOf(cause) !== "ENOENT") throw cause;
    const message = `${path} is no data directory of streams; name the one that serve was given`;
    throw new VerbatimError("LOG_NOT_FOUND", message, { path }, { cause });
  } finally {
    for (const each of opened) each.close();
    rmSync(scratch, { recursive: true, force: true });
  }
}

interface Parts extends CheckOptions {
  readonly root: Directory;
  readonly logs: Directory;
  readonly journals: Directory;
  readonly truth: StreamIndex;
  readonly scratch: string;
  keep<T extends { close(): void }>(part: T): T;
}

async function* examine(parts: Parts): AsyncGenerator<CheckFinding> {
  const { root, logs, truth, keep, onProgress = () => {} } = parts;
  const meta = await openMeta(root);
  if ("code" in meta) {
    yield meta;
    return;
  }
  keep(meta);
  try {
    await applyMeta(truth, { meta, onProgress: () => {} });
  } catch (cause) {
    yield damage("META_DAMAGED", "meta.jsonl", reasonOf(cause), { offset: offsetOf(cause) });
    return; // The expected state is unknown.
  }
  const left = meta.bytesLeft;
  const journal = await scanned(parts.journals, meta);
  if ("code" in journal && left > 0) {
    const message = `its last ${left} bytes are not what was written, and no record is about them`;
    yield damage("META_DAMAGED", "meta.jsonl", message, { offset: meta.end });
    return; // The expected state is unknown.
  }
  if (left > 0) yield note("META_UNFINISHED", "meta.jsonl", `${left} bytes were not finished`);
  if ("code" in journal) yield journal;
  else {
    yield* pending(journal);
    yield* lost(await readMark(parts.root, meta.storeId), journal);
  }
  const records = "code" in journal ? null : journal.records;

  const pool = new HandlePool(logs, OPEN_LOG_FILES_MAX);
  try {
    yield* new StreamFiles({ logs, pool, truth, records, onProgress }).check();
  } finally {
    await pool.closeAll();
  }
  if (!("code" in journal)) yield* indexFindings(parts, meta, journal);
}

async function openMeta(root: Directory): Promise<MetaFile | CheckFinding> {
  try {
    const meta = await MetaFile.openToRead(root);
    return meta ?? note("META_UNFINISHED", "meta.jsonl", "it was never begun");
  } catch (cause) {
    if (codeOf(cause) !== "STORE_DAMAGED") throw causeOf(cause);
    return damage("META_DAMAGED", "meta.jsonl", reasonOf(cause), { offset: offsetOf(cause) });
  }
}

async function scanned(
  journals: Directory,
  meta: MetaFile,
): Promise<ScannedJournal | CheckFinding> {
  try {
    return await scanJournal(journals, meta.storeId, meta.checkpointLsn);
  } catch (cause) {
    if (codeOf(cause) !== "STORE_DAMAGED") throw cause;
    const { path, offset } = (cause as VerbatimError<"STORE_DAMAGED">).details;
    const file = `journal/${path.split("/").at(-1)}`;
    return damage("JOURNAL_DAMAGED", file, reasonOf(cause), { offset });
  }
}

function* pending({ records, bytes }: ScannedJournal): Generator<CheckFinding> {
  if (records.length === 0) return;
  const message = `${records.length} records (${bytes} bytes) wait to be carried out`;
  yield note("JOURNAL_PENDING", "journal", `${message}; the next opening does`);
}

function* lost(acknowledged: number, { lastLsn }: ScannedJournal): Generator<CheckFinding> {
  if (acknowledged <= lastLsn) return;
  const message = `${acknowledged} commits were acknowledged; it and meta.jsonl hold ${lastLsn}`;
  yield damage("JOURNAL_DAMAGED", "journal", message);
}

/** Compares a copy of `streams.db` with what it is derived from. */
async function* indexFindings(
  { root, truth, scratch, keep }: Parts,
  meta: MetaFile,
  journal: ScannedJournal,
): AsyncGenerator<CheckFinding> {
  const file = "streams.db";
  const copy = join(scratch, "index.db");
  const rebuilt = (why: string) => note("INDEX_REBUILT", file, `${why}; the next opening mends it`);
  for (const ending of ["", "-wal"]) {
    const original = join(root.path, file + ending);
    if (existsSync(original)) copyFileSync(original, copy + ending);
  }
  if (!existsSync(copy)) return yield rebuilt("it is not there");
  const index = keep(await StreamIndex.open(copy, { isSuspect: true }));
  const { lsn, metaBytes, storeId } = index.applied();
  const isOfNothing = storeId === "" && journal.lastLsn === 0;
  if (storeId !== meta.storeId && !isOfNothing)
    return yield rebuilt("it is damaged, or another store's");
  if (lsn > journal.lastLsn || metaBytes > meta.end) {
    const message = `it knows of ${lsn} commits; the journal and meta.jsonl of ${journal.lastLsn}`;
    return yield damage("INDEX_AHEAD", file, message);
  }
  if (lsn < meta.checkpointLsn) return yield rebuilt("it is behind meta.jsonl");
  for (const each of [truth, index]) applyJournal(each, meta, journal);
  yield* differencesOf(truth, index);
}

function codeOf(cause: unknown): string {
  return cause instanceof VerbatimError ? cause.code : "";
}

/** The operating system's error, if it was wrapped. */
function causeOf(cause: unknown): unknown {
  return cause instanceof VerbatimError && cause.code === "IO_ERROR" ? cause.cause : cause;
}

function reasonOf(cause: unknown): string {
  if (!(cause instanceof VerbatimError)) return "a line is not what was written";
  const { reason } = cause.details as { readonly reason?: string };
  return reason ?? cause.message;
}

function offsetOf(cause: unknown): number | null {
  if (!(cause instanceof VerbatimError)) return null;
  const { offset } = cause.details as { readonly offset?: number };
  return offset ?? null;
}
