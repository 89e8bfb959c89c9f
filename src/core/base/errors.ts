/**
 * Errors: the one error class, its codes and their details.
 *
 * A code is public API. Add codes freely; never rename one or change its details. Messages are for
 * people (what failed, where, what to do next) and may change.
 */

/** The process that holds a lock, as written in the lock file; `unknown` when nothing is. */
export type LockHolder = { readonly pid: number; readonly started: string } | "unknown";

/** Why a line is refused, or cannot be read. */
export type LineFault = "holds LF" | "holds NUL" | "not UTF-8" | "not JSON" | "too long" | "blank";

/** The provider of a captured stream. */
export type Provider = "anthropic" | "openai" | "google";

/** Why a subscription request was refused, in the protocol's own codes. */
export interface SubscriptionRefusal {
  readonly subscription: string;
  readonly reason:
    | "INVALID_REQUEST"
    | "WEBHOOK_URL_REJECTED"
    | "TOKEN_INVALID"
    | "TOKEN_EXPIRED"
    | "SUBSCRIPTION_NOT_FOUND"
    | "SUBSCRIPTION_ALREADY_EXISTS"
    | "TOO_MANY_SUBSCRIPTIONS"
    | "FENCED"
    | "ALREADY_CLAIMED"
    | "NO_PENDING_WORK"
    | "INVALID_OFFSET";
  /** When already claimed: the holder, and the generation of its wake. */
  readonly held?: { readonly by: string; readonly generation: number };
}

/** Of every entry point: a wrong call. */
export interface CallErrors {
  /** A setting has a wrong value; `from` is its file, "environment", "flag" or "options". */
  BAD_SETTING: { setting: string; from: string; reason: string };
}

/** Of files of lines. */
export interface LogErrors extends CallErrors {
  /** A line passed to `append` would break the log's framing. */
  INVALID_LINE: { path: string; reason: LineFault | "ends without LF" };
  LINE_TOO_LONG: { path: string; bytes: number; bytesMax: number };
  BATCH_TOO_LARGE: { path: string; bytes: number; bytesMax: number };
  QUEUE_FULL: { path: string; queuedBytes: number; bytesMax: number };
  LOG_NOT_FOUND: { path: string };
  LOG_CLOSED: { path: string };
  LOG_LOCKED: { path: string; holder: LockHolder };
  /** Nothing can be locked here, so no log is opened to append. */
  LOCK_UNAVAILABLE: { reason: string };
  NO_SPACE: { path: string; end: number; bytes: number };
  LOG_WRITER_FAILED: { path: string; end: number };
  LOG_SUSPECT: { path: string; from: number; to: number };
  /** A reader in `throw` mode met a line it cannot vouch for. `line` counts from 1. */
  BAD_LINE: { path: string; line: number | null; offset: number; reason: string };
  /** A follower delivered lines that the log no longer has. */
  LOG_REWOUND: { path: string; from: number; to: number };
  OUT_OF_RANGE: { path: string; offset: number; length: number; end: number };
  NEEDS_RECOVERY: { path: string };
  /** An entry that its dialect does not allow; `field` is the wrong field. */
  INVALID_ENTRY: { field: string; reason: string };
  BAD_ID: { id: string; reason: string };
  UNSAFE_PATH: { path: string; root: string };
  UNSUPPORTED_FILE_SYSTEM: { path: string; fileSystem: string };
  UNSUPPORTED_PLATFORM: { platform: string };
  IO_ERROR: { path: string; operation: string; errno: string };
}

/** Of logs that are signed, and of keys. */
export interface SignedErrors extends LogErrors {
  /** The log's bytes are not those that were signed; nothing more is signed. */
  CHECKPOINT_MISMATCH: { path: string; offset: number; verdict: string };
  /** A session that must be verified to be read is not; `finding`: the code of the reason. */
  NOT_VERIFIED: { path: string; verdict: string; finding?: string };
  CHANGED_WHILE_READ: { path: string; offset: number };
  /** A value that has no JSON, or whose JSON parsers read differently. */
  UNSIGNABLE_JSON: { reason: string };
  /** A key that must not be used: its file is not private, or it is not a proper Ed25519 key. */
  KEY_REFUSED: { path: string | null; reason: string };
  KEY_NOT_FOUND: { key: string };
  /** The list of trusted keys, or a change to it, is not valid. */
  TRUST_REFUSED: { path: string; reason: string };
  /** The bytes on disk are not those that were appended. */
  STREAM_DAMAGED: { stream: string; offset: number; path: string };
}

/** Of a server's data directory. */
export interface DirectoryErrors extends SignedErrors {
  STREAM_NOT_FOUND: { stream: string };
  /** Not an offset of this stream: malformed, past its end, or inside a message. */
  BAD_OFFSET: { stream: string; offset: string; reason: string };
  /** An offset of an earlier stream at this path, which was deleted. */
  OFFSET_GONE: { stream: string; offset: string };
  /** The store accepts no writes until it is reopened. */
  STORE_FAILED: { path: string; reason: string };
  /** A file that others are rebuilt from was changed or damaged; `offset` is where. */
  STORE_DAMAGED: { path: string; offset: number; reason: string };
  /** Streams are not copied from or to this place, or it holds an unfinished copy. */
  COPY_REFUSED: { path: string; reason: string };
}

/** Of stores of sessions. */
export interface SessionErrors extends SignedErrors {
  SESSION_NOT_FOUND: { session: string };
  SESSION_EXISTS: { session: string };
  /** Another process writes the session, or wrote to it since it was resumed. */
  SESSION_BUSY: { session: string; holder: LockHolder };
  /** A change of history was based on another history than the session has. */
  HISTORY_CONFLICT: { session: string; reason: string };
  /** No line of the file is of its dialect, so nothing is written to it. */
  FOREIGN_FILE: { path: string; dialect: string; lines: number };
  /** Sessions cannot be sent now; the server's status and code, null and "" when it sent none. */
  DELIVERY_FAILED: { url: string; status: number | null; code: string };
  /** A session and its copy on the server differ from this byte on: nothing is sent. */
  DELIVERY_CONFLICT: { url: string; stream: string; offset: number };
}

/** Of verdicts on sessions. */
export interface VerifyErrors extends SessionErrors, DirectoryErrors {
  /** A disclosed copy is not a session; one cannot be made, or not without this checkpoint. */
  DISCLOSED_COPY: { path: string };
  PIN_FILE_TOO_LARGE: { path: string; bytes: number; bytesMax: number };
}

/** Of resuming, and of bundles. */
export interface ResumeErrors extends VerifyErrors {
  /** A file that is not a session bundle, or contradicts its manifest. */
  BAD_BUNDLE: { path: string; reason: string };
  BUNDLE_TOO_LARGE: { path: string; bytes: number; bytesMax: number };
  /** The session has fewer turns than asked for. */
  TURN_NOT_FOUND: { session: string; turn: number; turns: number };
  /** The session is over a limit of resuming; `line` is where it was reached. */
  RESUME_TOO_LARGE: { line: number; what: "characters" | "parts"; max: number };
  /** A session has lines, but its dialect understands none of them. */
  NOTHING_UNDERSTOOD: { session: string; lines: number };
  /** No model is known for the provider; `model` is the session's own. */
  MODEL_UNKNOWN: { for: string; model: string | null };
}

/** Of the history. */
export interface HistoryErrors extends VerifyErrors {
  CANNOT_DISCLOSE: { path: string; reason: string };
  CANNOT_PROVE: { path: string; reason: string };
  CANNOT_WITHHOLD: { path: string; line: number; rule: string };
  /** A guarded session is not written back; the file at `path` would be lost, or no copy is good. */
  RESTORE_REFUSED: { path: string; reason: string };
  REMOVAL_REFUSED: { session: string; obstacle: "not ours" | "held" | "shared" | "forked" };
  /** Sessions cannot be listed without their index; `problem` is why it cannot be opened. */
  CATALOG_UNAVAILABLE: { path: string; problem: string };
  SEARCH_QUERY: { reason: string };
  /** A title, tag or note that is not allowed; and the file with them, which cannot be used. */
  BAD_NOTE: { field: string; reason: string };
  NOTES_REFUSED: { path: string; reason: string };
  SHARES_REFUSED: { path: string; reason: string };
  SHARE_NOT_FOUND: { share: string };
}

/** Of a provider's stream. */
export interface CaptureErrors extends CallErrors {
  /** The provider did not send a stream of its kind. */
  BAD_STREAM: { provider: Provider; reason: string };
  /** The provider sent an error; `type` is its own name for it. */
  PROVIDER_ERROR: { provider: Provider; type: string };
  /** A message is incomplete: its stream ended too early, or the caller stopped it. */
  STREAM_INCOMPLETE: { provider: Provider; reason: "ended" | "stopped" };
  /** A message or one of its events is over the limit for capture. */
  STREAM_TOO_LARGE: { provider: Provider; what: "message" | "event"; max: number };
}

/** Of calls to models that are recorded. */
export interface FetchErrors extends CaptureErrors, SessionErrors {}

/** Of streams, in files and in PostgreSQL. */
export interface StreamErrors extends DirectoryErrors {
  BAD_STREAM_PATH: { stream: string; reason: string };
  /** Deleted, but forks still hold its data; its path stays reserved. */
  STREAM_GONE: { stream: string };
  /** The stream exists with other settings; `reason` names what differs. */
  STREAM_CONFLICT: { stream: string; reason: string };
  /** The body is not a message of the stream's content type. */
  BAD_MESSAGE: { stream: string; reason: string };
  TOO_MANY_MESSAGES: { stream: string; messagesMax: number };
  /**
   * The database does not answer. With `outcome` "unknown", the request may have been carried out:
   * read again, or send it again only if a producer numbered it.
   */
  STORE_UNAVAILABLE: { path: string; reason: string; outcome: "unchanged" | "unknown" };
  /** The database is not used: too old, a newer schema, or it promises too little. */
  POSTGRES_REFUSED: { path: string; reason: string };
  /** A directory that cannot be backed up, or not to this target. */
  BACKUP_REFUSED: { path: string; reason: string };
}

/** Of the server. */
export interface ServerErrors extends StreamErrors, HistoryErrors {
  /** The server has nothing at this URL. */
  NOT_FOUND: { part: string };
  /** `allowed`: the methods of this URL, as in the header `Allow`. */
  METHOD_NOT_ALLOWED: { allowed: string };
  /** A malformed HTTP request; `part` names a header, or the query. */
  BAD_REQUEST: { part: string; reason: string };
  /** A part of HTTP that the server does not support; `part` names a header. */
  NOT_IMPLEMENTED: { part: string };
  BODY_TOO_LARGE: { bytesMax: number };
  /** An earlier request with this key had another body. */
  IDEMPOTENCY_KEY_REUSED: Record<never, never>;
  /** Entries are posted only to sessions that were created so. */
  SESSION_NOT_WRITABLE: { session: string; reason: string };
  /** The server is at its limit of requests waiting for new data. */
  TOO_MANY_READERS: { readersMax: number };
  /** A web page that is not allowed, or a host name that is not this server's. */
  ORIGIN_REFUSED: { header: "Origin" | "Host" };
  /** The list of tokens, or a change to it, is not valid. */
  TOKENS_REFUSED: { path: string; reason: string };
  TOKEN_NOT_FOUND: { token: string };
  /** A request without a valid token. */
  TOKEN_REQUIRED: { reason: "missing" | "unknown" | "expired" | "revoked" };
  /** A token without the needed scope; `token` is its id. */
  NOT_ALLOWED: { token: string; scope: string };
  /** A token has used what its limit allows; `limit` is the name of the limit. */
  LIMIT_REACHED: { token: string; limit: string; max: number; retrySeconds: number };
  /** The server is at a limit of concurrent work; `limit` is the name of the setting. */
  OVERLOADED: { limit: string; max: number };
  /** One stream is at its limit of concurrent appends. */
  STREAM_BUSY: { stream: string; limit: string; max: number };
  /** The server listens, and is still recovering from a crash. */
  RECOVERING: { what: string };
  PORT_TAKEN: { host: string; port: number };
  SERVER_RUNNING: { path: string; url: string };
  /** A refused subscription request; `reason` is the protocol's own code. */
  SUBSCRIPTION_REFUSED: SubscriptionRefusal;
}

/** Of the server's client. */
export interface ClientErrors extends CallErrors {
  /** A server refused a request of our client; `code`, `reason` and `field` are the server's own. */
  REQUEST_REFUSED: { status: number; code: string; reason: string; field?: string };
}

/** Of chats, whose answers are streams. */
export interface ChatErrors extends SessionErrors, StreamErrors {}

/** Of telemetry. */
export interface ExportErrors extends SessionErrors {
  /** A telemetry collector refused an export; its status, null when it sent none. */
  EXPORT_FAILED: { endpoint: string; status: number | null };
}

/** Of the command line alone. */
export interface CommandErrors {
  PIN_NOT_FOUND: { session: string };
  WITNESS_FAILED: { url: string; status: number | null };
  PROGRAM_FAILED: { program: string; reason: string };
  CANNOT_ERASE: { path: string; reason: string };
}

/** All codes, and the facts of each. An entry point publishes its own (published-errors.ts). */
export interface ErrorDetails
  extends ResumeErrors,
    CaptureErrors,
    ServerErrors,
    ClientErrors,
    ExportErrors,
    CommandErrors {}

export type ErrorCode = keyof ErrorDetails;

/** The one error class. `code` says which error, `details` has its facts. */
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

/** The errno name of a failure ("ENOSPC"), or "UNKNOWN". */
export function errnoOf(error: unknown): string {
  const code = (error as { code?: unknown } | null | undefined)?.code;
  return typeof code === "string" ? code : "UNKNOWN";
}

/** What the operating system refused and why, in one sentence that ends with the code. */
export function errnoSentence(error: Error): string {
  const errno = errnoOf(error);
  const { path } = error as NodeJS.ErrnoException;
  const what = ERRNO_SENTENCES[errno];
  if (what === undefined || path === undefined) return `${error.message} (${errno})`;
  return `${what.replace("%", () => path)} (${errno})`;
}

const ERRNO_SENTENCES: Readonly<Record<string, string>> = {
  ENOENT: "no such file or directory: %; check the path",
  EACCES: "no permission to use %; check who owns it and its mode",
  EPERM: "the system does not allow this on %; check who owns it and its attributes",
  EISDIR: "% is a directory; name a file",
  ENOTDIR: "% leads through a file that is not a directory; check the path",
  EEXIST: "% exists already; choose another name",
  EROFS: "% is on a read-only file system; choose another place",
  ELOOP: "% leads through too many symbolic links; check the path",
  ENAMETOOLONG: "% is too long a name for this file system",
  EIO: "the disk reported an error on %; check its health",
  ENOSPC: "no space is left for %; free some and try again",
  EMFILE: "too many files are open to open %; raise the limit (`ulimit -n`)",
};

/** The disk, a quota or a file-size limit is full. Passes once there is room. */
export function isNoSpace(error: unknown): boolean {
  return ["ENOSPC", "EDQUOT", "EFBIG"].includes(errnoOf(error));
}

/** Wraps an operating-system error of `operation` on `path`; our own errors pass through. */
export function ioError(path: string, operation: string, cause: unknown): VerbatimError {
  if (cause instanceof VerbatimError) return cause;
  const errno = errnoOf(cause);
  const why = ERRNO_SENTENCES[errno]?.replace("%", () => path);
  return new VerbatimError(
    "IO_ERROR",
    why === undefined
      ? `${operation} of ${path} failed with ${errno}`
      : `${operation} failed with ${errno}: ${why}`,
    { path, operation, errno },
    { cause },
  );
}

export function badStreamPath(path: string, reason: string): VerbatimError<"BAD_STREAM_PATH"> {
  return new VerbatimError(
    "BAD_STREAM_PATH",
    `the stream path ${JSON.stringify(String(path).slice(0, 200))} is refused: ${reason}; ` +
      "choose one such as /chat/session-1",
    { stream: path, reason },
  );
}

/** A path that is not opened: it leads outside its root or to something that is not a file. */
export function unsafePath(
  path: string,
  root: string,
  cause?: unknown,
): VerbatimError<"UNSAFE_PATH"> {
  return new VerbatimError(
    "UNSAFE_PATH",
    `${path} is refused: it is, or lies behind, a symbolic link or something that is not a file; ` +
      "put the real file in its place",
    { path, root },
    { cause },
  );
}

/** Throws a TypeError when the programmer misused an API; bad input and I/O throw VerbatimError. */
export function assert(condition: unknown, message: string): asserts condition {
  if (!condition) throw new TypeError(`Verbatim was misused: ${message}`);
}
