/**
 * Finding: what can be wrong with sessions, streams and the files around them. Page: docs/doctor.md.
 *
 * A code is public API: scripts read it. Add codes freely; never rename one or change its severity.
 * Texts are for people and may change. They contain names, counts and offsets, never the content of
 * a session. Findings of `verify` have codes and verdicts of their own (trust/proof/verdict.ts).
 *
 * Names, file types and permissions are judged here too, without opening anything, if the names are
 * ours. The directory that holds logs is judged, those above it are not: they belong to a project or
 * an agent, and may be open to others.
 */

import { errnoOf, VerbatimError } from "../base/errors.ts";
import type { SurroundingFile } from "../base/node-surroundings.ts";

/** All but notes make the exit code 1. */
export type Severity = "error" | "warning" | "note";

export interface FindingKind {
  readonly severity: Severity;
  /** What the finding means, in a sentence. */
  readonly means: string;
  /** Of sessions: what `doctor --fix` does about it. Of streams: what the user can do. */
  readonly remedy: string;
}

function error(means: string, remedy: string): FindingKind {
  return { severity: "error", means, remedy };
}

function warning(means: string, remedy: string): FindingKind {
  return { severity: "warning", means, remedy };
}

function note(means: string, remedy: string): FindingKind {
  return { severity: "note", means, remedy };
}

const RESTORE = "restore the directory from a backup";
const NEXT_OPENING = "the next opening mends it";

const SESSION_FINDINGS = {
  TORN_TAIL: warning(
    "A crash cut an append short; nothing that was acknowledged as durable is in these bytes.",
    "keeps the bytes in a .torn file next to the log and cuts them off",
  ),
  MISSING_LF: warning("The last line is whole, but for the LF that ends it.", "adds the LF"),
  NUL_LINE: error(
    "A power cut took bytes from the middle of the log; they read as NULs.",
    "does not alter a log's bytes; the line stays, and readers pass over it",
  ),
  BAD_LINE: error(
    "A line that cannot be read as an entry; readers pass over it and say so.",
    "does not alter a log's bytes; the line stays as it is",
  ),
  NOTHING_UNDERSTOOD: warning(
    "The log has lines, and none is a message: it may be another program's file.",
    "does not alter a log's bytes; look at the lines with `verbatim show --json`",
  ),
  BLANK_LINE: note(
    "An empty line; nothing was lost in it.",
    "does not alter a log's bytes; the line stays as it is",
  ),
  DANGLING_CALL: warning(
    "A tool was called and its result was never recorded: it is unknown whether it ran.",
    "adds nothing that was not said; resuming gives the call an error result",
  ),
  OPEN_CALL: note(
    "A tool was called and may be at work: the session was written to just now.",
    "leaves a session alone that may be live",
  ),
  UNKNOWN_CALL_RESULT: warning(
    "A tool's result is in the log, and the call that it answers is not.",
    "takes nothing away; resuming leaves the result out and counts it",
  ),
  DUPLICATE_RESULT: warning(
    "A tool call has a second result; providers refuse that.",
    "takes nothing away; resuming leaves the second one out and counts it",
  ),
  CALLS_UNTOLD: note(
    "More tool calls were open at once than are followed; the oldest were not judged.",
    "has nothing to do here",
  ),
  HOOKS_WAITING: note(
    "Hooks were recorded and wait in the spool; they are not in the session's log yet.",
    "puts them into the log before it looks, and so does `verbatim ls`",
  ),
  LOG_MISSING: warning(
    "Files that belong to a log are there, and the log is missing: it was lost or never made.",
    "cannot make a log; put it back from a copy",
  ),
  SIGNED_LOG_MISSING: error(
    "Checkpoints are there, and the log that they sign is gone.",
    "cannot make a log; put it back from a copy",
  ),
  UNREADABLE: error(
    "It exists and cannot be read, so it is unknown what else is wrong with it.",
    "cannot read it either; see to the disk, or to whose file it is",
  ),
  SYMLINK_REFUSED: error(
    "A symbolic link, or something that is no file, is where only files may be: it is never followed.",
    "does not touch it; put the real file in its place",
  ),
  WRONG_MODE: warning(
    "Transcripts are their owner's: files are 0600, in directories of 0700.",
    "sets the permissions",
  ),
  TEMP_LEFT: note(
    "A process was killed while it replaced a file; what has the file's own name is as it was.",
    "moves the leftover aside",
  ),
  DERIVED_MISSING: warning(
    "A file that is made from the log is not there.",
    "makes it from the log",
  ),
  DERIVED_STALE: warning(
    "A file that is made from the log says something else than the log.",
    "copies it aside, and makes it again from the log",
  ),
  DERIVED_REBUILT: note(
    "The file was lost once and made again from the log: what only it knew is gone.",
    "has done what can be done",
  ),
  DERIVED_FOREIGN: note(
    "Another program made it; we neither judge it nor write to it.",
    "leaves it alone",
  ),
  SIGNED_FILE_FORGED: error(
    "The signed file of a signed log is not the one that its signer wrote; `verify` says the same.",
    "does not touch it; put the file back from a copy",
  ),
  SPILL_MISSING: error(
    "A line keeps a long text in a file of its own, and that file is gone.",
    "cannot make it; put it back from a copy",
  ),
  SPILL_CHANGED: error(
    "A line keeps a long text in a file of its own, which is no longer what was recorded.",
    "cannot mend it; put the file back from a copy",
  ),
  SPILL_UNUSED: note(
    "A crash left the file of a long text whose line was never written.",
    "leaves it; delete it if you do not want what is in it",
  ),
  OLDER_FILE: note(
    "A later version of the program continued the session in a new file, and left the older one.",
    "leaves it; `verbatim show` takes its path",
  ),
  BEING_WRITTEN: note(
    "A writer is at work: what follows the log was not judged, since it is about to change.",
    "does not wait; run it when the writer is done",
  ),
  NETWORK_FILE_SYSTEM: note(
    "Another machine or program serves the files: durability and locks are up to that server.",
    "has nothing to do here",
  ),
} satisfies Record<string, FindingKind>;

const STREAM_FINDINGS = {
  META_DAMAGED: error(
    "A line of `meta.jsonl` is not what was written, so the state of the streams is unknown.",
    RESTORE,
  ),
  JOURNAL_DAMAGED: error("Commits in the journal were damaged or lost.", RESTORE),
  BYTES_DAMAGED: error("Bytes of a stream are not what was appended.", RESTORE),
  FILE_MISSING: error("The file of a stream is gone.", RESTORE),
  FILE_TOO_SHORT: error("The file of a stream has fewer bytes than were appended.", RESTORE),
  FILE_TOO_LONG: error(
    "The file of a stream has more bytes than were appended: another program wrote to it.",
    "`verbatim doctor --fix` on the directory moves them to a .torn file",
  ),
  NAME_WRONG: error("The file of a stream does not have the name of its path.", RESTORE),
  SOURCE_MISSING: error("The source of a fork is gone, or ends before the fork point.", RESTORE),
  SIGNED_OTHERWISE: error(
    "`meta.jsonl` contradicts the stream's own checkpoints: fork, end or closing.",
    "run `verbatim verify` on the directory, and restore it from a backup",
  ),
  ORPHAN: error("A file in `logs/` belongs to no stream.", "move it elsewhere"),
  INDEX_DIFFERS: error(
    "`streams.db` differs from the files it is derived from.",
    "delete `streams.db`; the next opening rebuilds it",
  ),
  INDEX_AHEAD: error("`streams.db` knows of commits that the files lack: they were lost.", RESTORE),
  JOURNAL_PENDING: note(
    "Commits are in the journal and not yet in the files of their streams.",
    "the next opening carries them out",
  ),
  META_UNFINISHED: note("A crash cut the last write to `meta.jsonl` short.", NEXT_OPENING),
  INDEX_REBUILT: note("`streams.db` is missing, damaged or behind.", NEXT_OPENING),
} satisfies Record<string, FindingKind>;

export const FINDINGS = { ...SESSION_FINDINGS, ...STREAM_FINDINGS };

export type FindingCode = keyof typeof FINDINGS;

/** Of these, repair mends only a FILE_TOO_LONG whose bytes before the end are sound. */
export function isOfStreams(code: FindingCode): boolean {
  return code in STREAM_FINDINGS;
}

/** What repair can fix; a single finding may be an exception. */
const MENDABLE: ReadonlySet<FindingCode> = new Set([
  ...(["TORN_TAIL", "MISSING_LF", "WRONG_MODE", "TEMP_LEFT"] as const),
  ...(["DERIVED_MISSING", "DERIVED_STALE"] as const),
  "FILE_TOO_LONG",
]);

/** What to do about a finding in a data directory. */
export function streamRemedy(code: FindingCode, mends: boolean): string {
  return isMendable(code) && !mends ? RESTORE : FINDINGS[code].remedy;
}

export function isMendable(code: FindingCode): boolean {
  return MENDABLE.has(code);
}

export interface Finding {
  readonly code: FindingCode;
  readonly severity: Severity;
  /** The session's id, or the stream's path; null if it is about the store, or unknown. */
  readonly session: string | null;
  /** The file or directory that it is about. */
  readonly path: string;
  /** Counted from 1. */
  readonly line?: number;
  readonly offset?: number;
  readonly bytes?: number;
  /** What is wrong in this case. */
  readonly detail: string;
  readonly mends: boolean;
}

export interface FindingPlace extends Pick<Finding, "session" | "path" | "line" | "bytes"> {
  readonly offset?: number | undefined;
  /** False: repair fixes this kind, but not this case. */
  readonly mends?: false;
}

export function finding(code: FindingCode, at: FindingPlace, detail: string): Finding {
  const { session, path, line, offset, bytes } = at;
  return {
    code,
    severity: FINDINGS[code].severity,
    session,
    path,
    ...(line !== undefined && { line }),
    ...(offset !== undefined && { offset }),
    ...(bytes !== undefined && { bytes }),
    detail,
    mends: isMendable(code) && at.mends !== false,
  };
}

/** A name of any length, shortened to be part of a detail. */
export function clipText(text: string): string {
  return text.length > 100 ? `${text.slice(0, 100)}…` : text;
}

/** An error of the operating system as a finding; null if the file no longer exists. */
export function troubleOf(at: FindingPlace, error: unknown): Finding | null {
  const [code, errno] = [errnoOf(error), errnoIn(error)];
  if (code === "LOG_NOT_FOUND" || errno === "ENOENT") return null;
  if (code === "UNSAFE_PATH" || errno === "ELOOP") {
    return finding("SYMLINK_REFUSED", at, "it is no plain file, or lies behind a symbolic link");
  }
  if (errno === "UNKNOWN") throw error; // A bug of ours, not a finding.
  return finding("UNREADABLE", at, `it cannot be read: ${errno}`);
}

/** The operating system's error code, also inside an error of ours. */
export function errnoIn(error: unknown): string {
  if (!(error instanceof VerbatimError)) return errnoOf(error);
  return error.code === "IO_ERROR" && "errno" in error.details ? error.details.errno : "UNKNOWN";
}

export const FILE_MODE = 0o600;
export const DIRECTORY_MODE = 0o700;

/**
 * What is wrong with a log and the files next to it, in `directory`. Permissions are checked only
 * on files that we made (`isOurOwn`); other programs choose their own.
 */
export function* fileFindings(
  directory: string,
  session: string | null,
  files: readonly SurroundingFile[],
  isOurOwn = true,
): Generator<Finding> {
  for (const { name, kind, mode } of files) {
    const at = { session, path: `${directory}/${name}` };
    if (kind === "file") {
      if (isOurOwn) yield* modeFinding(at, name, mode, FILE_MODE);
    } else if (kind === "link") yield finding("SYMLINK_REFUSED", at, `${name} is a symbolic link`);
    else yield finding("SYMLINK_REFUSED", at, `${name} is no plain file`);
  }
}

export function* directoryFindings(
  at: FindingPlace,
  directory: SurroundingFile | null,
): Generator<Finding> {
  if (directory) yield* modeFinding(at, "the directory", directory.mode, DIRECTORY_MODE);
}

function* modeFinding(
  at: FindingPlace,
  what: string,
  mode: number,
  right: number,
): Generator<Finding> {
  if (mode === right) return;
  const whose = (mode & 0o077) !== 0 ? "others get at it" : "its owner cannot use it";
  yield finding("WRONG_MODE", at, `${what} is ${octal(mode)}, not ${octal(right)}: ${whose}`);
}

function octal(mode: number): string {
  return mode.toString(8).padStart(4, "0");
}
