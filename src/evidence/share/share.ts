/**
 * Share: what is kept of one, and what it is made of. Only the SHA-256 of its token is stored. A token has 128 random bits,
 * so a slow hash is not needed.
 */

import { createHash, randomBytes } from "node:crypto";
import { existsSync } from "node:fs";
import type { Readable } from "node:stream";
import { VerbatimError } from "../../core/base/errors.ts";
import { isReceived, RECEIVED, realPath } from "../../sessions/list/whose.ts";
import type { Reason } from "../../trust/proof/disclosure/statement.ts";
import type { SessionLog } from "../../trust/session-log.ts";
import type { WithheldPlace } from "../redact/copy-writer.ts";
import type { Finder } from "../redact/hits.ts";
import type { Matches } from "../redact/text-matches.ts";

export interface Share {
  /** Its name for its owner; not secret. */
  readonly id: string;
  readonly sha256: string;
  readonly session: string;
  /** The name of the session's log (`logName`); earlier versions stored none. */
  readonly log?: string | undefined;
  /** The rules by which things are withheld, for the owner. */
  readonly rules: readonly string[];
  readonly createdAt: string;
  readonly expiresAt: string;
  readonly revokedAt: string | null;
  readonly isLive: boolean;
  /** Grows with each copy that is published; 0: there is none yet. */
  readonly version: number;
  /** Length of the copy. */
  readonly bytes: number;
}

export const SHARE_LIMITS = {
  sharesMax: 1000,
  /** A copy is read whole by a browser. */
  copyBytesMax: 256 * 1024 * 1024,
  /** A preview is held in memory. */
  previewBytesMax: 64 * 1024 * 1024,
  /** How long a share may last. */
  expiresMsMax: 366 * 86_400_000,
  /** Ended shares are listed for this long. */
  listedMs: 30 * 86_400_000,
  /** Requests for one share: this many at once, then this many per second. */
  burst: 120,
  perSecond: 2,
  /** Open requests of one share. */
  readersMax: 60,
};

export const DEFAULT_REASON = "withheld before sharing";
export const SHARE_PREFIX = "vbs_";
const SECRET_BYTES = 16;
export const SHARE_TOKEN = /^vbs_[\w-]{22}$/;

export function newShareToken(): string {
  return `${SHARE_PREFIX}${randomBytes(SECRET_BYTES).toString("base64url")}`;
}

export function newShareId(): string {
  return randomBytes(4).toString("hex");
}

export function shareHash(token: string): string {
  return createHash("sha256").update(token).digest("hex");
}

export type ShareState = "valid" | "expired" | "revoked";

export function shareState({ revokedAt, expiresAt }: Share, nowMs: number): ShareState {
  if (revokedAt !== null) return "revoked";
  return nowMs >= Date.parse(expiresAt) ? "expired" : "valid";
}

/** A name for a log; that of a received one is the same on all servers of a database. */
export function logName(log: { readonly dialect: string; readonly path: string }): string {
  const at = log.path.lastIndexOf(`/${RECEIVED}/`);
  return `${log.dialect}:${at === -1 ? realPath(log.path) : log.path.slice(at)}`;
}

/**
 * Whether it shows the session with this id and log, and not another with the same id. In doubt it
 * does: if it names no log, or one that is gone and may have been moved.
 */
export function isShareOf(
  share: Share,
  of: { readonly dialect: string; readonly id: string; readonly path: string },
): boolean {
  if (share.session !== of.id) return false;
  if (share.log === undefined || share.log === logName(of)) return true;
  const other = share.log.slice(share.log.indexOf("/"));
  return !isReceived(of.path) && !isReceived(other) && !existsSync(other);
}

/** Whether an ended share is still listed. */
export function isListed({ revokedAt, expiresAt }: Share, nowMs: number): boolean {
  return nowMs < Date.parse(revokedAt ?? expiresAt) + SHARE_LIMITS.listedMs;
}

/** For readers: the same for a share that never existed, has expired or was revoked. */
export function noSuchShare(): VerbatimError<"SHARE_NOT_FOUND"> {
  const message = "there is no such share: it has expired, was revoked, or never existed";
  return new VerbatimError("SHARE_NOT_FOUND", message, { share: "" });
}

/** For the owner, who names it by its id. */
export function unknownShare(id: string): VerbatimError<"SHARE_NOT_FOUND"> {
  const message = `there is no share ${JSON.stringify(id)}; \`verbatim share ls\` shows their ids`;
  return new VerbatimError("SHARE_NOT_FOUND", message, { share: id });
}

export function sharesRefused(path: string, reason: string): VerbatimError<"SHARES_REFUSED"> {
  return new VerbatimError("SHARES_REFUSED", `${path} is refused: ${reason}`, { path, reason });
}

export function tooLong(session: string): VerbatimError {
  const reason = `its copy is longer than ${SHARE_LIMITS.copyBytesMax} bytes`;
  const message = `${session} cannot be shared: ${reason}; use verbatim redact`;
  return new VerbatimError("CANNOT_DISCLOSE", message, { path: session, reason });
}

export function tooLongToPreview(session: string): VerbatimError {
  const reason = `its copy is longer than ${SHARE_LIMITS.previewBytesMax} bytes`;
  const message = `${session} cannot be shown before it is shared: ${reason}; make the link`;
  return new VerbatimError("CANNOT_DISCLOSE", message, { path: session, reason });
}

/** A copy while it is written. */
export interface CopyOut {
  write(bytes: Uint8Array): void;
}

export interface Shares {
  /** All that are listed, the oldest first. */
  list(): Promise<readonly Share[]>;
  /** The share of a token, valid or not; null if there is none. */
  byHash(sha256: string): Promise<Share | null>;
  /** Durable when it resolves. */
  add(share: Share): Promise<void>;
  /**
   * Shows another copy, which `fill` writes: all of it, durable when it resolves. What `fill` throws
   * leaves the earlier copy. Throws SHARE_NOT_FOUND if the share has ended.
   */
  publish<T>(id: string, fill: (out: CopyOut) => Promise<T>): Promise<T>;
  /** It is not live any more; its copy stays. */
  settle(id: string): Promise<void>;
  /** As if it had never been. */
  drop(id: string): Promise<void>;
  /** For good; its copy is deleted. */
  revoke(id: string): Promise<Share>;
  /** The bytes of the share's current copy; null if that was replaced or deleted meanwhile. */
  copyOf(share: Share): Promise<Readable | null>;
  close(): Promise<void>;
}

/** What to withhold. */
export interface Withholding {
  /** Rules of `verbatim scan`; `default`: all of them. Empty: none. */
  readonly rules: readonly string[];
  readonly texts?: readonly string[];
  readonly entries?: readonly number[];
  readonly reason: string;
}

export interface SharedSession extends SessionLog {
  readonly id: string;
}

/** A copy that proves what it shows, or one that is only masked (redact/masked-copy.ts). */
export type ShareKind = "disclosed" | "masked";

export interface NewShare {
  readonly session: SharedSession;
  readonly withholding: Withholding;
  readonly expiresAtMs: number;
  readonly isLive?: boolean;
}

export interface MakeOptions {
  /** How many turns stay unshown. */
  readonly delay?: number;
  readonly onPlace?: (place: WithheldPlace) => void;
  /** Learns which of the texts are found, and near misses. */
  readonly matches?: Matches;
  /** Keeps what was decided about lines that were shown before (live-share.ts). */
  readonly decided?: (finder: Finder) => Finder;
  readonly onWarning: (warning: string) => void;
  readonly nowMs: () => number;
  readonly signal?: AbortSignal | undefined;
}

/** What a copy shows of the session. */
export interface ShareCopy {
  readonly kind: ShareKind;
  readonly lines: number;
  readonly full: number;
  readonly withheld: readonly Reason[];
}
