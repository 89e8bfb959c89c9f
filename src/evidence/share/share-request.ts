/**
 * Share request: what a share is made of. Types only: a server that is part of a program has these, and not
 * the rules of `scan` (make-copy.ts).
 */

import type { Host } from "../../core/base/host.ts";
import type { SessionLog } from "../../trust/session-log.ts";
import type { WithheldPlace } from "../redact/copy-writer.ts";
import type { Finder } from "../redact/hits.ts";
import type { Matches } from "../redact/matching.ts";
import type { RedactionResult } from "../redact/redact.ts";
import type { Share, Shares } from "./share.ts";

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
}

export interface CreateOptions extends MakeOptions {
  /** Sees what was made, and may throw: then there is no share. */
  readonly check?: (redacted: RedactionResult) => Promise<void>;
}

/** `token` is returned once and not stored. */
export type CreateShare = (
  host: Host,
  shares: Shares,
  asked: NewShare,
  options: CreateOptions,
) => Promise<{ readonly token: string; readonly share: Share; readonly redacted: RedactionResult }>;
