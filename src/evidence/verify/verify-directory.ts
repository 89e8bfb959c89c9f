/**
 * Verify directory: a verdict on every stream of a data directory, from its files alone.
 *
 * `streams.db` is not read: `meta.jsonl` lists the streams. Streams without a byte have nothing to
 * sign: unless their head is pinned they have no report, and `onEmpty` is called.
 *
 * - There is always a report, whatever the files contain. Nothing is written or created.
 * - Bytes that the journal has and the files lack cannot be judged: NEEDS_RECOVERY for the whole
 *   directory.
 * - A stream with a pinned head that `meta.jsonl` does not name is gone, whatever is in `logs/`: no
 *   server would serve it. This also holds if `meta.jsonl` or the whole directory is gone.
 * - `meta.jsonl` is not signed: its statements are compared with the checkpoints and the files
 *   (judge-streams.ts), and its deletions with the pins.
 */

import { errnoOf, VerbatimError } from "../../core/base/errors.ts";
import type { Directory } from "../../core/base/files.ts";
import type { Host } from "../../core/base/host.ts";
import { logFileName } from "../../streams/files/stream-path.ts";
import { lockUnused } from "../../streams/journal/data-directory.ts";
import { bytesNotIn } from "../../streams/journal/journal-remainder.ts";
import { scanJournal } from "../../streams/journal/journal-scan.ts";
import { MetaFile } from "../../streams/journal/meta-file.ts";
import { namesOfData } from "../../streams/signing/signing-user.ts";
import { type SignedStreamLog, signedLogOf } from "../../streams/signing/stream-files.ts";
import type { RootNames } from "../../trust/heads/heads.ts";
import { unreadableReport } from "../../trust/judge/assemble.ts";
import type { VerifyReport } from "../../trust/judge/report.ts";
import type { VerifyOptions } from "../../trust/judge/verify-options.ts";
import { STREAMS } from "../../trust/proof/envelopes.ts";
import { type Finding, findingOf } from "../../trust/proof/verdict.ts";
import { sidecarOf } from "../../trust/session-log.ts";
import {
  type JudgeParts,
  type KnownStreamState,
  notThere,
  StreamJudge,
  type StreamJudging,
  withFindings,
} from "./judge-streams.ts";

/**
 * The reports, in order of path; only one, on the directory, if it cannot be read, or if nothing is
 * there and nothing is pinned.
 */
export async function* verifyDataDirectory(
  host: Host,
  path: string,
  judging: StreamJudging,
  onEmpty?: (stream: string) => void,
): AsyncGenerator<VerifyReport> {
  const opened: { close(): void }[] = [];
  const names = await namesOfData(host, path);
  try {
    const looked = await look(host, path, opened);
    if ("report" in looked) {
      const gone = looked.isGone ? goneFrom(names, judging) : [];
      yield* gone.length > 0 ? gone : [looked.report];
      return;
    }
    yield* reportsOn({ ...looked, names, judging, onEmpty });
  } finally {
    for (const each of opened) each.close();
  }
}

/** Streams, and what they are judged by. */
export interface ReportedStreams extends LookedInto {
  readonly names: RootNames;
  readonly judging: StreamJudging;
  /** Calls `judge` while the files of a stream and of its sources are in `logs`. */
  readonly withFiles?: <T>(stream: KnownStreamState, judge: () => Promise<T>) => Promise<T>;
  /** Called with each stream that is empty, and so has no report. */
  readonly onEmpty?: ((stream: string) => void) | undefined;
  /** Paths; default: all. */
  readonly only?: readonly string[];
}

/** The reports in order of path. */
export async function* reportsOn(parts: ReportedStreams): AsyncGenerator<VerifyReport> {
  const { root, names, logs, streams, removals, judging } = parts;
  const { withFiles = (_, judge) => judge() } = parts;
  const pinned = new Set(judging.pinnedIn(names));
  const files = new Set(logs?.names());
  const judge = await StreamJudge.of({ root, names, logs, streams, judging });
  const all = [...new Set([...streams.keys(), ...pinned])].sort();
  for (const id of parts.only ? all.filter((each) => parts.only?.includes(each)) : all) {
    const known = streams.get(id);
    if (known === undefined) {
      yield goneReport(names, id, judging, NOT_NAMED(root));
    } else if (known.status === "deleted" && pinned.has(id)) {
      yield goneReport(names, id, judging, DELETED(root));
    } else if (pinned.has(id) || isToBeJudged(known, files, removals)) {
      const report = await withFiles(known, () => judge.report(known));
      yield withFindings(report, deletionFindings(known, removals));
    } else if (known.status !== "deleted") {
      parts.onEmpty?.(id);
    }
  }
}

/** One stream, judged with its sources; `onBytes` as in JudgeParts. */
export async function judgeStream(
  host: Host,
  path: string,
  stream: string,
  { judging, onBytes }: Required<Pick<JudgeParts, "judging" | "onBytes">>,
): Promise<VerifyReport> {
  const opened: { close(): void }[] = [];
  try {
    const names = await namesOfData(host, path);
    const looked = await look(host, path, opened);
    if ("report" in looked) throw notLookedInto(looked.report);
    const { root, logs, streams, removals } = looked;
    const known = streams.get(stream);
    if (known === undefined || known.status === "deleted") throw noStream(path, stream);
    const judge = await StreamJudge.of({ root, names, logs, streams, judging, onBytes });
    return withFindings(await judge.report(known), deletionFindings(known, removals));
  } finally {
    for (const each of opened.reverse()) each.close();
  }
}

/**
 * Calls `work` with one stream of a directory that is not in use. Refuses with LOG_LOCKED,
 * STREAM_NOT_FOUND, and NOT_VERIFIED if the directory cannot be read.
 */
export async function withSignedStream<T>(
  host: Host,
  path: string,
  stream: string,
  work: (log: SignedStreamLog, names: RootNames) => Promise<T>,
): Promise<T> {
  const opened: { close(): void }[] = [];
  try {
    const directory = await host.files.openDirectory(path, { create: false });
    opened.push(directory);
    opened.push(lockUnused(directory));
    const looked = await look(host, path, opened);
    if ("report" in looked) throw notLookedInto(looked.report);
    const known = looked.streams.get(stream);
    if (known === undefined || known.status === "deleted") throw noStream(path, stream);
    return await work(signedLogOf(looked.root, known), await namesOfData(host, path));
  } finally {
    for (const each of opened.reverse()) each.close();
  }
}

type Looked =
  /** `isGone`: there is no `meta.jsonl`, or one that was never begun. */
  { readonly report: VerifyReport; readonly isGone: boolean } | LookedInto;

interface LookedInto {
  readonly root: string;
  /** Null if there is none, which is treated like an empty one. */
  readonly logs: Directory | null;
  readonly streams: ReadonlyMap<string, KnownStreamState>;
  /** Files that were scheduled for deletion. */
  readonly removals: ReadonlySet<string>;
}

async function look(host: Host, path: string, opened: { close(): void }[]): Promise<Looked> {
  const keep = <T extends { close(): void }>(part: T): T => {
    opened.push(part);
    return part;
  };
  let isBegun = false;
  try {
    const directory = keep(await host.files.openDirectory(path, { create: false }));
    const meta = await MetaFile.openToRead(directory);
    if (meta === null) return { report: onDirectory(path, new Error(UNBEGUN)), isGone: true };
    keep(meta);
    isBegun = true;
    const logs = await directoryIfThere(host, `${path}/logs`);
    if (logs) keep(logs);
    const journals = await directoryIfThere(host, `${path}/journal`);
    if (journals) {
      keep(journals);
      const { records } = await scanJournal(journals, meta.storeId, meta.writtenBackLsn);
      if (records.length > 0) {
        const left = logs ? bytesNotIn(logs, records) : 0;
        return { report: needsRecovery(path, records.length, left), isGone: false };
      }
    }
    return { root: directory.path, logs, ...(await streamsIn(meta)) };
  } catch (cause) {
    return { report: onDirectory(path, cause), isGone: !isBegun && isMissing(cause) };
  }
}

async function directoryIfThere(host: Host, path: string): Promise<Directory | null> {
  try {
    return await host.files.openDirectory(path, { create: false });
  } catch (cause) {
    if (isMissing(cause)) return null;
    throw cause;
  }
}

function isMissing(cause: unknown): boolean {
  return errnoOf(cause instanceof VerbatimError ? cause.cause : cause) === "ENOENT";
}

/** Each stream in its latest state, and the files of deleted ones. */
async function streamsIn(
  meta: MetaFile,
): Promise<{ streams: Map<string, KnownStreamState>; removals: Set<string> }> {
  const streams = new Map<string, KnownStreamState>();
  const removals = new Set<string>();
  for await (const { line } of meta.lines(0)) {
    if (line.kind === "removal") removals.add(line.file);
    if (line.kind !== "stream") continue;
    const { path, file, isJson, status, base, end, isClosed, fork, readSeq } = line.state;
    // Anyone can compute a crc, so a line must not be able to name another stream's file.
    if (logFileName(path, readSeq, isJson) !== file) {
      throw new Error(`${meta.path} names a file that no stream has`);
    }
    streams.set(path, { path, file, isJson, status, base, end, isClosed, fork });
  }
  return { streams, removals };
}

/** Whether a stream without a pinned head has anything that could be signed. */
function isToBeJudged(
  { status, file, base, end }: KnownStreamState,
  names: ReadonlySet<string>,
  removals: ReadonlySet<string>,
): boolean {
  const isThere = names.has(file) || names.has(sidecarOf(file));
  if (status === "deleted") return isThere && !removals.has(file);
  return base !== end || base > 0 || isThere;
}

/** Where the deletions in `meta.jsonl` contradict its own removals, or the files. */
function deletionFindings(
  { status, file }: KnownStreamState,
  removals: ReadonlySet<string>,
): readonly Finding[] {
  if (status === "deleted") {
    const message = "meta.jsonl says that it was deleted, and its file is still kept";
    return [findingOf("DELETION_MISMATCH", "rollback", message)];
  }
  if (!removals.has(file)) return [];
  const message = "meta.jsonl says that its file was to be deleted, and that it lives";
  return [findingOf("DELETION_MISMATCH", "tampered", message)];
}

const NOT_NAMED = (root: string) =>
  `no meta.jsonl in ${root} names the stream, and its head was seen before`;
const DELETED = (root: string) =>
  `meta.jsonl in ${root} says that the stream was deleted, and its head is still pinned; ` +
  "`verbatim keys head forget` if that was meant";

/** The reports on all pinned streams of a directory that is gone. */
function goneFrom(names: RootNames, judging: StreamJudging): VerifyReport[] {
  const ids = [...judging.pinnedIn(names)].sort();
  return ids.map((id) => goneReport(names, id, judging, NOT_NAMED(rootOf(names))));
}

function rootOf({ place }: RootNames): string {
  return place.slice("streams:".length);
}

/** A stream that no server would serve, wherever its file is. */
function goneReport(
  names: RootNames,
  id: string,
  judging: StreamJudging,
  message: string,
): VerifyReport {
  const root = rootOf(names);
  const target: SignedStreamLog = { dialect: STREAMS, root, logId: "", id };
  const options = judging.optionsFor(target, names);
  const report = unreadableReport(target, options, notThere(`${root}/meta.jsonl`));
  const findings = report.findings.map((each) =>
    each.verdict === report.verdict ? { ...each, message } : each,
  );
  return { ...report, path: root, findings };
}

const UNBEGUN = "its meta.jsonl was never begun; a server that starts there begins it";

function needsRecovery(path: string, records: number, left: number): VerifyReport {
  const only = left === 0 ? "" : `, and ${left} bytes of streams are in the journal alone`;
  const reason =
    `${records} records of the journal are not carried out${only}: a server is at work there, or ` +
    "was killed; stop it, or start one there and stop it; of a running one, verify a backup";
  return onDirectory(path, new Error(reason), "NEEDS_RECOVERY");
}

function onDirectory(
  path: string,
  cause: unknown,
  code?: "NEEDS_RECOVERY" | undefined,
): VerifyReport {
  const target = { dialect: STREAMS, root: path, logId: "", id: null } as const;
  return { ...unreadableReport(target, NO_OPTIONS, cause, false, code), path };
}

function notLookedInto({ path, verdict, findings }: VerifyReport): VerbatimError {
  const reason = findings[0]?.message ?? verdict;
  return new VerbatimError("NOT_VERIFIED", `${path} cannot be looked into: ${reason}`, {
    path,
    verdict,
  });
}

function noStream(path: string, stream: string): VerbatimError {
  return new VerbatimError(
    "STREAM_NOT_FOUND",
    `${path} has no stream ${stream}; \`verbatim keys head forget\` gives up one that is gone`,
    { stream },
  );
}

/** A directory has no pin, so there is nothing to judge by. */
const NO_OPTIONS = {} as VerifyOptions;
