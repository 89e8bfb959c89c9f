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

/** Whose stream is captured. */
export type Provider = "anthropic" | "openai";

/** Why a request about a subscription was not carried out, in the protocol's own words. */
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
  /** Who holds it, and which wake that is, when it is claimed already. */
  readonly held?: { readonly by: string; readonly generation: number };
}

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
  /** What stands in a log is not what was signed; nothing is signed on top of it. */
  CHECKPOINT_MISMATCH: { path: string; offset: number; verdict: string };
  /** A session that was to be read verified is not. */
  NOT_VERIFIED: { path: string; verdict: string };
  CHANGED_WHILE_READ: { path: string; offset: number };
  SESSION_NOT_FOUND: { session: string };
  SESSION_EXISTS: { session: string };
  /** Another process writes the session, or wrote to it since it was resumed. */
  SESSION_BUSY: { session: string; holder: LockHolder };
  /** A change of a session's history that was made from another one than it has. */
  HISTORY_CONFLICT: { session: string; reason: string };
  /** A file that is no bundle of a session, or is not what it says it is. */
  BAD_BUNDLE: { path: string; reason: string };
  /** What a bundle has no room for. */
  BUNDLE_TOO_LARGE: { path: string; bytes: number; bytesMax: number };
  /** The session has only so many turns. */
  TURN_NOT_FOUND: { session: string; turn: number; turns: number };
  /** More than resuming takes; `line` is where that was seen. */
  RESUME_TOO_LARGE: { line: number; what: "characters" | "parts"; max: number };
  /** A session has lines, and none of them says anything that its dialect understands. */
  NOTHING_UNDERSTOOD: { session: string; lines: number };
  /** A file of which no line is of its dialect: it is never written to. */
  FOREIGN_FILE: { path: string; dialect: string; lines: number };
  /** No model of the provider's is known to send a session to; `model` is the session's own. */
  MODEL_UNKNOWN: { for: string; model: string | null };
  BAD_ID: { id: string; reason: string };
  UNSAFE_PATH: { path: string; root: string };
  UNSUPPORTED_FILE_SYSTEM: { path: string; fileSystem: string };
  UNSUPPORTED_PLATFORM: { platform: string };
  IO_ERROR: { path: string; operation: string; errno: string };
  /** A JSON value that readers would not all read alike, or that has no JSON. */
  UNSIGNABLE_JSON: { reason: string };
  /** A setting with a value it cannot have; `from` is its file, "environment", "flag" or "options". */
  BAD_SETTING: { setting: string; from: string; reason: string };
  /** A key that must not be used: its file is not private, or it is no proper Ed25519 key. */
  KEY_REFUSED: { path: string | null; reason: string };
  KEY_NOT_FOUND: { key: string };
  /** The list of trusted keys, or a change to it, that we cannot go by. */
  TRUST_REFUSED: { path: string; reason: string };
  /** No head is pinned for the session. */
  PIN_NOT_FOUND: { session: string };
  PIN_FILE_TOO_LARGE: { path: string; bytes: number; bytesMax: number };
  /** What a provider sent is no stream of its kind. */
  BAD_STREAM: { provider: Provider; reason: string };
  /** A provider told of an error instead of going on; `type` is its own word for it. */
  PROVIDER_ERROR: { provider: Provider; type: string };
  /** A message broke off: its stream ended too early, or nobody wanted the rest. */
  STREAM_INCOMPLETE: { provider: Provider; reason: "ended" | "stopped" };
  /** A message or one of its events is larger than what is captured. */
  STREAM_TOO_LARGE: { provider: Provider; what: "message" | "event"; max: number };
  BAD_STREAM_PATH: { stream: string; reason: string };
  STREAM_NOT_FOUND: { stream: string };
  /** Deleted, but forks still hold its data; its path stays taken. */
  STREAM_GONE: { stream: string };
  /** It exists otherwise than asked for; `reason` names what differs. */
  STREAM_CONFLICT: { stream: string; reason: string };
  /** What is on disk is not what was appended. */
  STREAM_DAMAGED: { stream: string; offset: number; path: string };
  /** No place in this stream: malformed, past its end, or inside a message. */
  BAD_OFFSET: { stream: string; offset: string; reason: string };
  /** A place in an earlier stream of this path, which was deleted. */
  OFFSET_GONE: { stream: string; offset: string };
  /** What was posted is no message of the stream's kind. */
  BAD_MESSAGE: { stream: string; reason: string };
  /** One append held more messages than one may. */
  TOO_MANY_MESSAGES: { stream: string; messagesMax: number };
  /** The store takes no more writes until it is opened again. */
  STORE_FAILED: { path: string; reason: string };
  /** A file that others are rebuilt from is not what was written; `offset` is where. */
  STORE_DAMAGED: { path: string; offset: number; reason: string };
  /** A directory that is not backed up, or not backed up to. */
  BACKUP_REFUSED: { path: string; reason: string };
  /** A request over HTTP that cannot be understood; `part` says where: a header, the query. */
  BAD_REQUEST: { part: string; reason: string };
  /** What HTTP has and the server does not; `part` says where: a header. */
  NOT_IMPLEMENTED: { part: string };
  BODY_TOO_LARGE: { bytesMax: number };
  /** More requests wait for new data than the server keeps waiting. */
  TOO_MANY_READERS: { readersMax: number };
  /** A server refused what our client asked; `code` is the server's own. */
  REQUEST_REFUSED: { status: number; code: string };
  /** Sessions cannot be listed without their index; `problem` is why it cannot be had. */
  CATALOG_UNAVAILABLE: { path: string; problem: string };
  /** What was to be searched for cannot be understood. */
  SEARCH_QUERY: { reason: string };
  /** A web page that was not allowed to, or a name that is not this server's. */
  ORIGIN_REFUSED: { header: "Origin" | "Host" };
  /** The list of tokens, or a change to it, that we cannot go by. */
  TOKENS_REFUSED: { path: string; reason: string };
  TOKEN_NOT_FOUND: { token: string };
  /** A request without a token that counts. */
  TOKEN_REQUIRED: { reason: "missing" | "unknown" | "expired" | "revoked" };
  /** A token that is not for this; `token` is its id. */
  NOT_ALLOWED: { token: string; scope: string };
  /** More is under way than the server takes at once; `limit` is its setting. */
  OVERLOADED: { limit: string; max: number };
  /** One stream has more appends under way than its share. */
  STREAM_BUSY: { stream: string; limit: string; max: number };
  /** The server listens, and is still putting in order what a crash left. */
  RECOVERING: { what: string };
  /** Another program listens there. */
  PORT_TAKEN: { host: string; port: number };
  /** A collector of telemetry did not take what it was sent; its status, null when it gave none. */
  EXPORT_FAILED: { endpoint: string; status: number | null };
  /** A request about a subscription that is not carried out; `reason` is the protocol's word. */
  SUBSCRIPTION_REFUSED: SubscriptionRefusal;
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

/** What the operating system refused and why, as a sentence; the code comes last. */
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

/** The disk, a quota or a file-size limit is used up: it passes once there is room. */
export function isNoSpace(error: unknown): boolean {
  return ["ENOSPC", "EDQUOT", "EFBIG"].includes(errnoOf(error));
}

/** Wraps what the operating system said of `operation` on `path`; our own errors pass through. */
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

/** What is not opened, because it leads out of where it must lie or could be anything. */
export function unsafePath(
  path: string,
  root: string,
  cause?: unknown,
): VerbatimError<"UNSAFE_PATH"> {
  return new VerbatimError(
    "UNSAFE_PATH",
    `${path} is refused: it is, or lies behind, a symbolic link or something that is no file; ` +
      "put the real file in its place",
    { path, root },
    { cause },
  );
}

/** Throws a TypeError when the programmer misused an API; bad input and I/O throw VerbatimError. */
export function assert(condition: unknown, message: string): asserts condition {
  if (!condition) throw new TypeError(`Verbatim was misused: ${message}`);
}
