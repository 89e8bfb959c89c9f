/**
 * Repair: repairs what doctor finds, and reports what it did and what it could not do.
 *
 * - A session is examined, repaired, and examined again: the findings reported as left were seen
 *   afterwards. If there is nothing to repair, nothing is opened to write, so a second run changes
 *   nothing. A file without any line of its dialect is refused with FOREIGN_FILE (foreign-log.ts).
 * - If one session fails, the failure is reported and the others are still repaired.
 * - The log's bytes are never altered. A log is changed only as opening it to append does: a torn
 *   tail is copied to another file and cut, a last line gets its LF (log/repair.ts). Derived files
 *   are repaired with the log's lock held, after they are checked again: meanwhile another process
 *   may have repaired them, or the repair of the tail may have changed what is correct.
 */

import { basename } from "node:path";
import { VerbatimError } from "../../core/base/errors.ts";
import type { Host } from "../../core/base/host.ts";
import {
  DIRECTORY_MODE,
  errnoIn,
  FILE_MODE,
  type Finding,
  type FindingCode,
} from "../../core/findings/finding.ts";
import { holdLog } from "../../core/log/held-log.ts";
import type { LogPath } from "../../core/log/log-path.ts";
import { LogReader } from "../../core/log/reader.ts";
import { keepAside } from "../../core/log/repair.ts";
import { LogWriter } from "../../core/log/writer.ts";
import type { DerivedKind, SessionInRepair } from "../../dialects/facets/files.ts";
import { moveAside } from "../../dialects/files/aside.ts";
import { refuseForeign } from "../../dialects/files/foreign-log.ts";
import type { FoundStore } from "../../sessions/list/find-stores.ts";
import { type FoundSession, openFoundSession } from "../../sessions/list/session-place.ts";
import { examineData } from "./check-directory.ts";
import { type ExaminedItem, examineOne, examineSessions, examineStoreFiles } from "./examine.ts";
import type { Doctor } from "./examine-session.ts";
import { derivedKind, storeFiles } from "./own-names.ts";

export interface RepairOptions {
  /** Reports what would be done, and does nothing. */
  readonly isDryRun: boolean;
}

export type RepairStep =
  /** A session is examined. */
  | { readonly kind: "session"; readonly session: FoundSession }
  | { readonly kind: "mended"; readonly finding: Finding; readonly did: string }
  | { readonly kind: "would"; readonly finding: Finding }
  /** This many findings of one code remain; `finding` is the first of them. */
  | { readonly kind: "left"; readonly finding: Finding; readonly count: number }
  /** A repair failed that should have been possible. */
  | {
      readonly kind: "failed";
      readonly session: string | null;
      readonly path: string;
      readonly code: string;
      readonly message: string;
    };

/** Repairs one session, and the store's own files if that changed something. */
export async function* repairOne(
  doctor: Doctor,
  found: FoundSession,
  options: RepairOptions,
): AsyncGenerator<RepairStep> {
  let hasChanged = false;
  for await (const step of repairExamined(doctor, found, examineOne(doctor, found), options)) {
    hasChanged ||= step.kind === "mended" && step.finding.code.startsWith("DERIVED_");
    yield step;
  }
  if (hasChanged) yield* repairExamined(doctor, found, examineStoreFiles(doctor, found), options);
}

/** Repairs every session of a store, and the store's own files. */
export async function* repairStore(
  doctor: Doctor,
  store: FoundStore,
  options: RepairOptions,
): AsyncGenerator<RepairStep> {
  yield* repairExamined(doctor, store, examineSessions(doctor, store), options);
  // Last: the store's own files are derived from the repaired sessions.
  yield* repairExamined(doctor, store, examineStoreFiles(doctor, store), options);
}

async function* repairExamined(
  doctor: Doctor,
  store: FoundStore,
  examined: AsyncIterable<ExaminedItem>,
  options: RepairOptions,
): AsyncGenerator<RepairStep> {
  let current: FoundSession | null = null;
  let gathered = new Gathered();
  for await (const step of examined) {
    if ("session" in step) {
      if (current) yield* repairSession(doctor, current, gathered, options);
      current = step.session;
      gathered = new Gathered();
      yield { kind: "session", session: current };
    } else if (current && (current.id === null || step.finding.session === current.id)) {
      // A log without an id is examined by itself, so every finding belongs to it.
      gathered.add(step.finding);
    } else {
      yield* repairStoresOwn(doctor, store, step.finding, options);
    }
  }
  if (current) yield* repairSession(doctor, current, gathered, options);
}

async function* repairSession(
  doctor: Doctor,
  session: FoundSession,
  gathered: Gathered,
  { isDryRun }: RepairOptions,
): AsyncGenerator<RepairStep> {
  const { id, path } = session;
  if (gathered.isBeingWritten) {
    const message = `${path} is being written by another; run repair when that is done`;
    yield { kind: "failed", session: id, path, code: "LOG_LOCKED", message };
    return;
  }
  if (gathered.mendable.length === 0) {
    yield* gathered.untouched();
    return;
  }
  try {
    const { logId, root, dialect } = openFoundSession(doctor.host, session);
    await refuseForeign(doctor.host, { logId, root }, dialect, id !== null);
  } catch (error) {
    yield failure(id, path, error);
    yield* gathered.left();
    return;
  }
  if (isDryRun) {
    yield* gathered.untouched();
    return;
  }
  try {
    for await (const mended of mendSession(doctor, session, gathered.mendable)) {
      yield { kind: "mended", ...mended };
    }
  } catch (error) {
    yield failure(id, path, error);
  }
  const after = new Gathered();
  for await (const step of examineOne(doctor, session)) {
    if ("finding" in step) after.add(step.finding);
  }
  yield* after.remains();
}

/**
 * Findings that belong to no session: shared directories, and the store's own files. Repaired at
 * once, so that each session is then examined in a correct directory.
 */
async function* repairStoresOwn(
  doctor: Doctor,
  store: FoundStore,
  finding: Finding,
  { isDryRun }: RepairOptions,
): AsyncGenerator<RepairStep> {
  if (isDryRun || !finding.mends) {
    const found = new Gathered();
    found.add(finding);
    yield* found.untouched();
    return;
  }
  try {
    const mended =
      finding.code === "WRONG_MODE"
        ? mendMode(doctor, finding, store.root)
        : { finding, did: (await storeFiles(store.dialect)?.mend(doctor, store)) ?? "" };
    yield { kind: "mended", ...mended };
  } catch (error) {
    yield failure(finding.session, finding.path, error);
  }
}

/** Collects findings without keeping a million bad lines. */
class Gathered {
  readonly mendable: Finding[] = [];
  readonly #left = new Map<FindingCode, { readonly finding: Finding; count: number }>();
  isBeingWritten = false;

  add(finding: Finding): void {
    if (finding.code === "BEING_WRITTEN") this.isBeingWritten = true;
    if (finding.mends) this.mendable.push(finding);
    else if (finding.severity !== "note") this.#count(finding);
  }

  /** What repair cannot fix. */
  *left(): Generator<RepairStep> {
    for (const each of this.#left.values()) yield { kind: "left", ...each };
  }

  /** What would be repaired, and what not. */
  *untouched(): Generator<RepairStep> {
    for (const finding of this.mendable) yield { kind: "would", finding };
    yield* this.left();
  }

  /** Everything found after the repair, repairable or not. */
  *remains(): Generator<RepairStep> {
    for (const finding of this.mendable) this.#count(finding);
    yield* this.left();
  }

  #count(finding: Finding): void {
    const known = this.#left.get(finding.code);
    if (known) known.count++;
    else this.#left.set(finding.code, { finding, count: 1 });
  }
}

function failure(session: string | null, path: string, error: unknown): RepairStep {
  if (error instanceof VerbatimError) {
    return { kind: "failed", session, path, code: error.code, message: error.message };
  }
  const errno = errnoIn(error);
  if (errno === "UNKNOWN") throw error; // A bug of ours, not a disk error.
  return { kind: "failed", session, path, code: errno, message: `${path}: ${String(error)}` };
}

export async function* repairData(
  host: Host,
  path: string,
  { isDryRun }: RepairOptions,
): AsyncGenerator<RepairStep> {
  for await (const step of examineData(host, path)) {
    if ("session" in step) yield { kind: "session", session: step.session };
    else {
      const { finding } = step;
      if (finding.mends && isDryRun) yield { kind: "would", finding };
      else if (finding.mends) {
        yield { kind: "mended", finding, did: await cutForeign(host, path, finding) };
      } else if (finding.severity !== "note") yield { kind: "left", finding, count: 1 };
    }
  }
}

async function cutForeign(host: Host, root: string, { path, offset = 0 }: Finding) {
  const directory = await host.files.openDirectory(`${root}/logs`, { create: false, root });
  try {
    const name = basename(path);
    const file = directory.open(name, "update");
    try {
      const size = file.size();
      const kept = await keepAside({ directory, name, path }, file, offset, size);
      file.truncate(offset);
      await file.sync();
      return `cut off ${size - offset} bytes of another program; they are in ${basename(kept)}`;
    } finally {
      file.close();
    }
  } finally {
    directory.close();
  }
}

/** What was done about which finding. */
interface MendedFinding {
  readonly finding: Finding;
  readonly did: string;
}

const TAIL_CODES: readonly FindingCode[] = ["TORN_TAIL", "MISSING_LF"];

/** Repairs one session, in an order in which each step helps the next. */
export async function* mendSession(
  doctor: Doctor,
  found: FoundSession,
  findings: readonly Finding[],
): AsyncGenerator<MendedFinding> {
  // First: a log that its owner may not write to could not be opened.
  for (const finding of findings.filter(({ code }) => code === "WRONG_MODE")) {
    yield mendMode(doctor, finding, found.root);
  }
  const tail = findings.find(({ code }) => TAIL_CODES.includes(code));
  if (tail) yield await mendTail(doctor, found, tail);
  const followers = findings.filter(
    ({ code }) => code !== "WRONG_MODE" && !TAIL_CODES.includes(code),
  );
  if (followers.length > 0 || (tail && derivedKind(found.dialect))) {
    yield* holding(doctor, found, (place) => mendFollowers(doctor, found, place, followers));
  }
}

function mendMode({ surroundings }: Doctor, finding: Finding, root: string): MendedFinding {
  const { path } = finding;
  const mode = surroundings.look(path)?.kind === "directory" ? DIRECTORY_MODE : FILE_MODE;
  surroundings.setMode(path, root, mode);
  return { finding, did: `set ${path} to 0${mode.toString(8)}` };
}

async function mendTail(
  doctor: Doctor,
  found: FoundSession,
  finding: Finding,
): Promise<MendedFinding> {
  const { logId, root } = openFoundSession(doctor.host, found);
  const writer = await LogWriter.open(doctor.host, logId, { root, lockWaitMs: 0 });
  const { cutBytes, cutKeptAt, addedLf } = writer.recovery;
  await writer.close();
  if (cutKeptAt !== null)
    return { finding, did: `cut ${cutBytes} torn bytes, kept in ${cutKeptAt}` };
  return { finding, did: addedLf ? "gave the last line its LF" : "found it mended by another" };
}

async function* mendFollowers(
  doctor: Doctor,
  found: FoundSession,
  place: LogPath,
  findings: readonly Finding[],
): AsyncGenerator<MendedFinding> {
  const { directory } = place;
  for (const finding of findings.filter(({ code }) => code === "TEMP_LEFT")) {
    const name = finding.path.slice(finding.path.lastIndexOf("/") + 1);
    if (!doctor.surroundings.look(finding.path)) continue; // A writer has taken it over.
    yield { finding, did: `moved ${name} to ${await moveAside(directory, name)}` };
  }
  const kind = derivedKind(found.dialect);
  if (!kind || found.id === null) return;
  const patient = { host: doctor.host, id: found.id, root: found.root, directory };
  for (const finding of await lookAgain(kind, patient, found)) {
    if (finding.mends) yield { finding, did: await kind.mend(patient, finding) };
  }
}

/** The findings about derived files, now that the lock is held. */
async function lookAgain(
  kind: DerivedKind,
  patient: SessionInRepair,
  found: FoundSession,
): Promise<readonly Finding[]> {
  const { logId, root, dialect } = openFoundSession(patient.host, found);
  const look = await kind.look(patient);
  try {
    const options = { root, onBadLine: "skip", takesUnterminated: true } as const;
    for await (const { value, bytes } of new LogReader(patient.host, logId, options)) {
      await look.add(value, dialect.reading.decode(value).entry, bytes);
    }
    return await look.findings(false);
  } finally {
    look.close();
  }
}

/** Runs `work` with the log's lock held, as a writer holds it; refuses with LOG_LOCKED. */
async function* holding<T>(
  { host }: Doctor,
  found: FoundSession,
  work: (place: LogPath) => AsyncGenerator<T>,
): AsyncGenerator<T> {
  const { logId, root } = openFoundSession(host, found);
  const held = await holdLog(host, logId, root);
  try {
    yield* work(held.place);
  } finally {
    held.close();
  }
}
