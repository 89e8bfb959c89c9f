/** Session log: which file is to be signed or verified, and how its dialect spells checkpoints. */

import { hasSidecar, holdsMessages } from "../proof/envelopes.ts";

/**
 * What a log holds: `lines` of a session; `messages`, which are lines of somebody's data, whatever
 * they claim to be; or `bytes`, which are no lines.
 */
export type Content = "lines" | "messages" | "bytes";

export interface SignableLog {
  /** Of the session; or the file of a stream in a server's data directory. */
  readonly dialect: string;
  /** When absent, as the dialect has it (`contentOf`). */
  readonly content?: Content;
  /** The store's root; the log's path lies below it, and nothing outside is ever opened. */
  readonly root: string;
  /** The log's path below the root. */
  readonly logId: string;
  /** Null for a file that lies in no store: whose it is, only its checkpoints say. */
  readonly id: string | null;
}

export type SessionLog = SignableLog;

/** What the logs of a dialect hold. */
export function contentOf({ content, dialect }: SignableLog): Content {
  return content ?? (holdsMessages(dialect) ? "messages" : "lines");
}

/** What stands beside a log, with its checkpoints. */
export function sidecarOf(logName: string): string {
  return `${logName}.checkpoints`;
}

/** Of whom a checkpoint speaks. */
export function signedName({ dialect, id }: SignableLog): string | null {
  return id === null || !hasSidecar(dialect) ? id : `${dialect}:${id}`;
}
