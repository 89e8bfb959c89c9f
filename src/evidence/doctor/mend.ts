/**
 * Mend: repairs a finding, and reports what was done.
 *
 * The log's bytes are never altered. A log is changed only as opening it to append does: a torn
 * tail is copied to another file and cut, a last line gets its LF (log/repair.ts). Derived files
 * are repaired with the log's lock held, after they are checked again: meanwhile another process
 * may have repaired them, or the repair of the tail may have changed what is correct.
 */

import type { Finding, FindingCode } from "../../core/findings/finding.ts";
import { DIRECTORY_MODE, FILE_MODE } from "../../core/findings/finding.ts";
import { holdLog } from "../../core/log/held-log.ts";
import type { LogPath } from "../../core/log/log-path.ts";
import { LogReader } from "../../core/log/reader.ts";
import { LogWriter } from "../../core/log/writer.ts";
import type { DerivedKind, SessionInRepair } from "../../dialects/derived-files.ts";
import { moveAside } from "../../dialects/files/aside.ts";
import { type FoundSession, openFoundSession } from "../../sessions/list/found-session.ts";
import type { Doctor } from "./examine-session.ts";
import { derivedKind } from "./own-names.ts";

/** What was done about which finding. */
export interface MendedFinding {
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

export function mendMode({ surroundings }: Doctor, finding: Finding, root: string): MendedFinding {
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
      await look.add(value, dialect.decode(value).entry, bytes);
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
