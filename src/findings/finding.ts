/**
 * Finding: what can be wrong with a session and the files around it. Page: docs/doctor.md.
 *
 * A code is public API: scripts read it. Add codes freely; never rename one or change its severity.
 * Texts are for people and may change. They contain names, counts and offsets, never the content of
 * a session.
 */

export type Severity = "error" | "warning" | "note";

export interface FindingKind {
  /** All but notes make the exit code 1. */
  readonly severity: Severity;
  /** Whether repair can fix this kind; a single finding may override it. */
  readonly mends: boolean;
  /** What the finding means, in a sentence. */
  readonly means: string;
  /** What repair does about it, or what the user can do. */
  readonly remedy: string;
}

export const FINDINGS = {
  TORN_TAIL: {
    severity: "warning",
    mends: true,
    means:
      "A crash cut an append short; nothing that was acknowledged as durable is in these bytes.",
    remedy: "keeps the bytes in a .torn file next to the log and cuts them off",
  },
  MISSING_LF: {
    severity: "warning",
    mends: true,
    means: "The last line is whole, but for the LF that ends it.",
    remedy: "adds the LF",
  },
  NUL_LINE: {
    severity: "error",
    mends: false,
    means: "A power cut took bytes from the midst of the log; they read as NULs.",
    remedy: "does not alter a log's bytes; the line stays, and readers pass over it",
  },
  BAD_LINE: {
    severity: "error",
    mends: false,
    means: "A line that cannot be read as an entry; readers pass over it and say so.",
    remedy: "does not alter a log's bytes; the line stays as it is",
  },
  NOTHING_UNDERSTOOD: {
    severity: "warning",
    mends: false,
    means: "The log has lines, and none is a message: it may be another program's file.",
    remedy: "does not alter a log's bytes; look at the lines with `verbatim show --json`",
  },
  BLANK_LINE: {
    severity: "note",
    mends: false,
    means: "An empty line; nothing was lost in it.",
    remedy: "does not alter a log's bytes; the line stays as it is",
  },
  DANGLING_CALL: {
    severity: "warning",
    mends: false,
    means: "A tool was called and its result was never recorded: whether it ran, nobody knows.",
    remedy: "adds nothing that was not said; resuming gives the call an error result",
  },
  OPEN_CALL: {
    severity: "note",
    mends: false,
    means: "A tool was called and may be at work: the session was written to just now.",
    remedy: "leaves a session alone that may be live",
  },
  UNKNOWN_CALL_RESULT: {
    severity: "warning",
    mends: false,
    means: "A tool's result is in the log, and the call that it answers is not.",
    remedy: "takes nothing away; resuming leaves the result out and counts it",
  },
  DUPLICATE_RESULT: {
    severity: "warning",
    mends: false,
    means: "A tool call has a second result; providers refuse that.",
    remedy: "takes nothing away; resuming leaves the second one out and counts it",
  },
  CALLS_UNTOLD: {
    severity: "note",
    mends: false,
    means: "More tool calls were open at once than are followed; the oldest were not judged.",
    remedy: "has nothing to do here",
  },
  HOOKS_WAITING: {
    severity: "note",
    mends: false,
    means: "Hooks were recorded and wait in the spool; they are not in the session's log yet.",
    remedy: "puts them into the log before it looks, and so does `verbatim ls`",
  },
  LOG_MISSING: {
    severity: "warning",
    mends: false,
    means:
      "Files that belong to a log are there, and the log is missing: it was lost or never made.",
    remedy: "cannot make a log; put it back from a copy",
  },
  UNREADABLE: {
    severity: "error",
    mends: false,
    means: "It is there and cannot be read, so nobody can say what else is wrong with it.",
    remedy: "cannot read it either; see to the disk, or to whose file it is",
  },
  SYMLINK_REFUSED: {
    severity: "error",
    mends: false,
    means:
      "A symbolic link, or something that is no file, is where only files may be: it is never followed.",
    remedy: "does not touch it; put the real file in its place",
  },
  WRONG_MODE: {
    severity: "warning",
    mends: true,
    means: "Transcripts are their owner's: files are 0600, in directories of 0700.",
    remedy: "sets the permissions",
  },
  TEMP_LEFT: {
    severity: "note",
    mends: true,
    means:
      "A process was killed while it replaced a file; what has the file's own name is as it was.",
    remedy: "moves the leftover aside",
  },
  DERIVED_MISSING: {
    severity: "warning",
    mends: true,
    means: "A file that is made from the log is not there.",
    remedy: "makes it from the log",
  },
  DERIVED_STALE: {
    severity: "warning",
    mends: true,
    means: "A file that is made from the log says something else than the log.",
    remedy: "copies it aside, and makes it anew from the log",
  },
  DERIVED_REBUILT: {
    severity: "note",
    mends: false,
    means: "The file was lost once and made anew from the log: what only it knew is gone.",
    remedy: "has done what can be done",
  },
  DERIVED_FOREIGN: {
    severity: "note",
    mends: false,
    means: "Another program made it; we neither judge it nor write to it.",
    remedy: "leaves it alone",
  },
  SPILL_MISSING: {
    severity: "error",
    mends: false,
    means: "A line keeps a long text in a file of its own, and that file is gone.",
    remedy: "cannot make it; put it back from a copy",
  },
  SPILL_CHANGED: {
    severity: "error",
    mends: false,
    means: "A line keeps a long text in a file of its own, which is no longer what was recorded.",
    remedy: "cannot mend it; put the file back from a copy",
  },
  SPILL_UNUSED: {
    severity: "note",
    mends: false,
    means: "A crash left the file of a long text whose line was never written.",
    remedy: "leaves it; delete it if you do not want what is in it",
  },
  BEING_WRITTEN: {
    severity: "note",
    mends: false,
    means: "A writer is at work: what follows the log was not judged, since it is about to change.",
    remedy: "waits for nobody; run it when the writer is done",
  },
  NETWORK_FILE_SYSTEM: {
    severity: "note",
    mends: false,
    means:
      "The disk is another machine's: whether what was synced is durable is up to that server.",
    remedy: "has nothing to do here",
  },
} as const satisfies Record<string, FindingKind>;

export type FindingCode = keyof typeof FINDINGS;

export interface Finding {
  readonly code: FindingCode;
  readonly severity: Severity;
  /** The session's id; null if it is about the store, or the session is unknown. */
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

export interface FoundAt extends Pick<Finding, "session" | "path" | "line" | "offset" | "bytes"> {
  /** False: repair fixes this kind, but not this case. */
  readonly mends?: false;
}

export function finding(code: FindingCode, at: FoundAt, detail: string): Finding {
  const { severity, mends } = FINDINGS[code];
  const { session, path, line, offset, bytes } = at;
  return {
    code,
    severity,
    session,
    path,
    ...(line !== undefined && { line }),
    ...(offset !== undefined && { offset }),
    ...(bytes !== undefined && { bytes }),
    detail,
    mends: mends && at.mends !== false,
  };
}

/** A name of any length, shortened to be part of a detail. */
export function clipped(text: string): string {
  return text.length > 100 ? `${text.slice(0, 100)}…` : text;
}
