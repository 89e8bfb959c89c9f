/** Session log: the file to sign or verify, and how its dialect writes checkpoints. */

import { hasSidecar, holdsMessages } from "./proof/envelopes.ts";

/**
 * What a log contains: `lines` of a session; `messages`, which are lines of user data, whatever
 * they claim to be; or `bytes`, which have no lines.
 */
export type LogContent = "lines" | "messages" | "bytes";

export interface SignableLog {
  /** The session's dialect; or the file of a stream in a server's data directory. */
  readonly dialect: string;
  /** Default: by the dialect (`contentOf`). */
  readonly content?: LogContent;
  /** The store's root; the log is below it, and nothing outside is ever opened. */
  readonly root: string;
  /** The log's path below the root. */
  readonly logId: string;
  /** Null for a file outside any store: only its checkpoints name the session. */
  readonly id: string | null;
}

export type SessionLog = SignableLog;

export function contentOf({ content, dialect }: SignableLog): LogContent {
  return content ?? (holdsMessages(dialect) ? "messages" : "lines");
}

/** The file name of a log's sidecar. */
export function sidecarOf(logName: string): string {
  return `${logName}.checkpoints`;
}

/** The session name that its checkpoints contain. */
export function signedName({ dialect, id }: SignableLog): string | null {
  return id === null || !hasSidecar(dialect) ? id : `${dialect}:${id}`;
}
