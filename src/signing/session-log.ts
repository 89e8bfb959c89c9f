/** Session log: which file is to be signed or verified, and how its dialect spells checkpoints. */

import type { EnvelopeName } from "../proof/checkpoint.ts";

/** `streams`: no session, but the file of a stream in a server's data directory. */
export type SignedDialect =
  | "verbatim"
  | "rye"
  | "entire"
  | "homeagent"
  | "claude"
  | "sdk"
  | "streams";

/**
 * What a log holds: `lines` of a session; `messages`, which are lines of somebody's data, whatever
 * they claim to be; or `bytes`, which are no lines.
 */
export type Content = "lines" | "messages" | "bytes";

export interface SignableLog {
  readonly dialect: SignedDialect;
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

/** Checkpoints lie beside the logs of dialects whose readers would see them as data. */
export function hasSidecar(dialect: SignedDialect): boolean {
  return dialect !== "rye" && dialect !== "entire";
}

/** What the logs of a dialect hold. Claude's and streams' are their own, and may be called anything. */
export function contentOf({ content, dialect }: SignableLog): Content {
  return content ?? (dialect === "claude" || dialect === "streams" ? "messages" : "lines");
}

/** What stands beside a log, with its checkpoints. */
export function sidecarOf(logName: string): string {
  return `${logName}.checkpoints`;
}

/** Of whom a checkpoint speaks. */
export function signedName({ dialect, id }: SignableLog): string | null {
  return id === null || !hasSidecar(dialect) ? id : `${dialect}:${id}`;
}

/** In whose words the checkpoints of a dialect's logs begin, inside or beside them. */
export function envelopeOf(dialect: SignedDialect): EnvelopeName {
  return dialect === "rye" || dialect === "entire" ? dialect : "sidecar";
}

/** The key of an ordinary line that names its session; null where lines name none. */
export function sessionKey(envelope: EnvelopeName): string | null {
  if (envelope === "sidecar") return null;
  return envelope === "entire" ? "sessionId" : "thread_id";
}
