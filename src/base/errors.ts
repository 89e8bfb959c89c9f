/**
 * Errors: every way Verbatim can refuse, and what it tells the caller.
 *
 * A code is public API. Add codes freely; never rename one or change its details.
 * Messages are for people (what failed, where, what to do next) and may change.
 */

/** Who holds a lock, as the lock file's hint has it. `unknown` when it has none. */
export type LockHolder = { readonly pid: number; readonly started: string } | "unknown";

/** Why a line cannot be taken or read. */
export type LineFault = "holds LF" | "holds NUL" | "not UTF-8" | "not JSON" | "too long" | "blank";

export interface ErrorDetails {
  /** A line that would break the log's framing was given to `append`. */
  INVALID_LINE: { path: string; reason: LineFault | "ends without LF" };
  LINE_TOO_LONG: { path: string; bytes: number; bytesMax: number };
  BATCH_TOO_LARGE: { path: string; bytes: number; bytesMax: number };
  QUEUE_FULL: { path: string; queuedBytes: number; bytesMax: number };
  LOG_NOT_FOUND: { path: string };
  LOG_CLOSED: { path: string };
  LOG_LOCKED: { path: string; holder: LockHolder };
  NO_SPACE: { path: string; end: number; bytes: number };
  LOG_WRITER_FAILED: { path: string; end: number };
  LOG_SUSPECT: { path: string; from: number; to: number };
  /** A reader that was told to throw met a line it cannot vouch for. `line` counts from 1. */
  BAD_LINE: { path: string; line: number | null; offset: number; reason: string };
  /** A follower delivered lines that the log no longer holds. */
  LOG_REWOUND: { path: string; from: number; to: number };
  OUT_OF_RANGE: { path: string; offset: number; length: number; end: number };
  /** An entry that its dialect does not allow; `field` names what is wrong with it. */
  INVALID_ENTRY: { field: string; reason: string };
  SESSION_NOT_FOUND: { session: string };
  SESSION_EXISTS: { session: string };
  BAD_ID: { id: string; reason: string };
  UNSAFE_PATH: { path: string; root: string };
  UNSUPPORTED_FILE_SYSTEM: { path: string; fileSystem: string };
  UNSUPPORTED_PLATFORM: { platform: string };
  IO_ERROR: { path: string; operation: string; errno: string };
}

export type ErrorCode = keyof ErrorDetails;

/** The one error class. Tell errors apart by `code`; the facts are in `details`. */
export class VerbatimError<C extends ErrorCode = ErrorCode> extends Error {
  override readonly name = "VerbatimError";
  readonly code: C;
  readonly details: ErrorDetails[C];

  constructor(code: C, message: string, details: ErrorDetails[C], options?: ErrorOptions) {
    super(message, options);
    this.code = code;
    this.details = details;
  }
}

/** The operating system's word for a failure ("ENOSPC"), or "UNKNOWN". */
export function errnoOf(error: unknown): string {
  const code = (error as { code?: unknown } | null | undefined)?.code;
  return typeof code === "string" ? code : "UNKNOWN";
}

/** The disk, a quota or a file-size limit is used up: it passes once there is room. */
export function isNoSpace(error: unknown): boolean {
  return ["ENOSPC", "EDQUOT", "EFBIG"].includes(errnoOf(error));
}

/** Wraps what the operating system said of `operation` on `path`; our own errors pass through. */
export function ioError(path: string, operation: string, cause: unknown): VerbatimError {
  if (cause instanceof VerbatimError) return cause;
  const errno = errnoOf(cause);
  return new VerbatimError(
    "IO_ERROR",
    `${operation} of ${path} failed with ${errno}; nothing that was acknowledged is touched`,
    { path, operation, errno },
    { cause },
  );
}
