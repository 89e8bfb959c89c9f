/**
 * Examine session: finds everything that is wrong with one session and the files around its log.
 *
 * X1  Nothing is written, anywhere: no lock file is created, no file opened to write, no cache
 *     updated.
 *
 * While a writer is active, its unfinished work is not reported: what changes with the log (its
 * tail, calls without results, derived files, temporary files) is judged at rest or not at all.
 *
 * The log is read in one pass, in memory that does not grow with it.
 */

import { dirname, join, relative } from "node:path";
import { VerbatimError } from "../../core/base/errors.ts";
import type { Directory, OpenFile } from "../../core/base/files.ts";
import type { Host } from "../../core/base/host.ts";
import type { SurroundingFile, Surroundings } from "../../core/base/node-surroundings.ts";
import {
  clipText,
  type Finding,
  type FindingPlace,
  finding,
  troubleOf,
} from "../../core/findings/finding.ts";
import { openLogPath, openToRead } from "../../core/log/log-path.ts";
import { hostOf } from "../../dialects/all.ts";
import type { Dialect } from "../../dialects/dialect.ts";
import { type FoundSession, openFoundSession } from "../../sessions/list/session-place.ts";
import { verifyLog } from "../../trust/judge/verify.ts";
import { UserJudging } from "../verify/user-judging.ts";
import { type ExaminedLogEnd, findLogEnd, isHeld, LogReading, lastWriter } from "./log-reading.ts";
import { derivedKind, isOurs, isTemporary, signedFileName } from "./own-names.ts";

/**
 * For this long after its last line a session counts as live even if its log is not locked
 * (`verbatim ls`).
 */
export const LIVE_MS = 60_000;

export interface Doctor {
  readonly host: Host;
  readonly surroundings: Surroundings;
  readonly nowMs: () => number;
  /** Called from time to time with how far a log has been read. */
  readonly onProgress?: (session: FoundSession, offset: number, end: number) => void;
}

/** A log opened to be examined, and its end at that time. */
interface OpenedLog {
  readonly dialect: Dialect;
  readonly directory: Directory;
  readonly name: string;
  readonly file: OpenFile;
  readonly size: number;
  readonly end: ExaminedLogEnd;
  readonly wasHeld: boolean;
}

/** `files` are those in the log's directory that belong to it, including the log itself. */
export async function* examineSession(
  doctor: Doctor,
  found: FoundSession,
  files: readonly SurroundingFile[],
): AsyncGenerator<Finding> {
  const at: FindingPlace = { session: found.id, path: found.path };
  const session = openFoundSession(doctor.host, found);
  let directory: Directory | null = null;
  let file: OpenFile | null = null;
  try {
    const host = hostOf(doctor.host, found);
    const place = await openLogPath(host, session.logId, { create: false, root: session.root });
    directory = place.directory;
    file = openToRead(place);
    const { name } = place;
    const wasHeld = isHeld(directory, name);
    const size = file.size();
    const end = await findLogEnd(directory, name, file);
    const opened = { directory, name, file, size, end, wasHeld, dialect: session.dialect };
    yield* examineOpened(doctor, found, opened, files);
  } catch (cause) {
    const trouble = troubleOf(at, cause);
    if (trouble) yield trouble;
  } finally {
    file?.close();
    directory?.close();
  }
}

async function* examineOpened(
  doctor: Doctor,
  found: FoundSession,
  opened: OpenedLog,
  files: readonly SurroundingFile[],
): AsyncGenerator<Finding> {
  const { host } = doctor;
  const { directory, file, end, dialect } = opened;
  const { id, root, path } = found;
  const at: FindingPlace = { session: id, path };
  const isOurOwn = !dialect.program && (id === null || isOurs(dialect.name, files));
  const kind = isOurOwn ? derivedKind(dialect.name) : undefined;
  const derived = (id !== null && (await kind?.look({ host, id, root, directory }))) || null;
  try {
    const onProgress = (offset: number, to: number) => doctor.onProgress?.(found, offset, to);
    const reading = new LogReading({ ...at, dialect, directory, file, end, derived, onProgress });
    yield* reading.findings();
    const mayGoOn = await isShared(doctor, reading, opened, files);
    const followers = derived ? await derived.findings(mayGoOn) : [];
    if (isLive(opened)) {
      yield finding("BEING_WRITTEN", at, "a writer is at work");
      yield* callFindings(reading, at, true);
      return;
    }
    yield* tailFindings(end, at, isOurOwn);
    yield* callFindings(reading, at, mayGoOn);
    // Links were reported when the files were listed.
    yield* followers.filter(({ code }) => code !== "SYMLINK_REFUSED");
    if (reading.hasCheckpoints) yield* signedFileFindings(doctor, found);
    yield* leftoverFindings(doctor, at, reading, opened, files);
  } finally {
    derived?.close();
  }
}

/** A writer held the log before or after it was read, or it changed meanwhile. */
function isLive({ directory, name, file, size, end, wasHeld }: OpenedLog): boolean {
  if (wasHeld || end.isAtWork || !file.endsAt(size) || !file.isLinked()) return true;
  return isHeld(directory, name);
}

/** A writer in shared mode releases the lock between appends; a tool may be running meanwhile. */
async function isShared(
  { nowMs }: Doctor,
  { hasEnded }: LogReading,
  { directory, name, end }: OpenedLog,
  files: readonly SurroundingFile[],
): Promise<boolean> {
  if (hasEnded || (await lastWriter(directory, name, end.end)) !== "shares") return false;
  const log = files.find((each) => each.name === name);
  return log !== undefined && nowMs() - log.mtimeMs < LIVE_MS;
}

/** Files of other programs often lack their last LF; that is normal, and not ours to change. */
function* tailFindings(
  { end, tornBytes, lacksOnlyLf }: ExaminedLogEnd,
  place: FindingPlace,
  isOurOwn: boolean,
): Generator<Finding> {
  const at = { ...place, offset: end, ...(!isOurOwn && { mends: false as const }) };
  if (tornBytes === 0 || (lacksOnlyLf && !isOurOwn)) return;
  if (lacksOnlyLf) {
    yield finding("MISSING_LF", at, "the last line lacks its LF");
  } else {
    const detail = `${tornBytes} bytes after the last whole line`;
    yield finding("TORN_TAIL", { ...at, bytes: tornBytes }, detail);
  }
}

function* callFindings(
  { calls }: LogReading,
  at: FindingPlace,
  mayBeLive: boolean,
): Generator<Finding> {
  for (const { callId, at: line } of calls.open()) {
    const which = callId === null ? "a call without an id" : `call ${clipText(callId)}`;
    const code = mayBeLive ? "OPEN_CALL" : "DANGLING_CALL";
    yield finding(code, { ...at, line }, `${which} has no result`);
  }
  if (calls.forgotten === 0) return;
  yield finding("CALLS_UNTOLD", at, `${calls.forgotten} calls were not followed`);
}

/** Files that are no longer needed: they were there before the log was read, and still are. */
function* leftoverFindings(
  { surroundings }: Doctor,
  at: FindingPlace,
  { spills }: LogReading,
  { directory, dialect }: OpenedLog,
  files: readonly SurroundingFile[],
): Generator<Finding> {
  for (const { name, kind, identity } of files) {
    const isUnused =
      dialect.writing?.spilling !== undefined && name.endsWith(".spill") && !spills.has(name);
    if (kind !== "file" || !(isTemporary(name) || isUnused)) continue;
    const path = `${directory.path}/${name}`;
    if (surroundings.look(path)?.identity !== identity) continue;
    yield isUnused
      ? finding("SPILL_UNUSED", { ...at, path }, `no line refers to ${name}`)
      : finding("TEMP_LEFT", { ...at, path }, `${name} was left by a process that was killed`);
  }
}

/** What derived-file findings do not report already: a missing or rebuilt file is one of those. */
const REPORTED: ReadonlySet<string | null> = new Set(["tampered", "rollback", "untrusted"]);

/** Keys, trust and pins are read once for all sessions of an examination. */
const judgings = new WeakMap<object, Promise<UserJudging>>();

async function* signedFileFindings(
  doctor: { readonly host: Host },
  { dialect, root, id, path }: FoundSession,
): AsyncGenerator<Finding> {
  const name = signedFileName(dialect);
  if (id === null || name === null) return;
  const at = { session: id, path: join(dirname(path), name) };
  const target = { dialect, root, id, logId: relative(root, path) };
  try {
    const judging = judgings.get(doctor) ?? UserJudging.load(doctor.host, { onWarning: () => {} });
    judgings.set(doctor, judging);
    const options = await (await judging).optionsFor(target);
    const { findings } = await verifyLog(hostOf(doctor.host, target), target, options);
    for (const { code, verdict, message } of findings) {
      if (!code.startsWith("META_") || !REPORTED.has(verdict)) continue;
      yield finding("SIGNED_FILE_FORGED", at, `${verdict}: ${message} (${code})`);
    }
  } catch (cause) {
    if (!(cause instanceof VerbatimError)) throw cause;
    yield finding("UNREADABLE", at, `its signatures cannot be judged: ${cause.message}`);
  }
}
