/** Limits and other settings of the server. Each limit is tested at the limit and one past it. */

import { readFileSync } from "node:fs";
import { OPEN_LOG_FILES_MAX } from "../../core/base/limits.ts";
import type { TokenLimits } from "../auth/tokens.ts";
import { SESSION_LIMITS, type SessionLimits } from "../sessions/session-limits.ts";

const MIB = 1024 * 1024;

export interface ServerSettings {
  /** The largest body; 413 above it. */
  readonly bodyBytesMax: number;
  /** Bytes of bodies being received at once; 503 above it. */
  readonly bodiesBytesMax: number;
  /** Bytes of streams held in memory until readers take them; 429 above it. */
  readonly answersBytesMax: number;
  /** About how much one read returns: at least one message, of any length. */
  readonly chunkBytes: number;
  readonly longPollTimeoutMs: number;
  /** How long an event stream stays open, plus or minus a tenth; then the reader reconnects. */
  readonly eventStreamMs: number;
  /** How much may be buffered for a slow reader of events before it is disconnected. */
  readonly readerBufferBytesMax: number;
  /** How long a connection may take nothing of an answer before it is closed. */
  readonly stalledMs: number;
  /** How many requests may wait for new data at once. */
  readonly liveReadersMax: number;
  /** Open connections; each one above is answered with 503 and closed. */
  readonly connectionsMax: number;
  /** Connections above that limit that get an answer; more are closed without one. */
  readonly refusedConnectionsMax: number;
  /** Files of streams that stay open. */
  readonly openFilesMax: number;
  /** Unanswered requests, live readers included; 503 above it. */
  readonly requestsMax: number;
  /** Pipelined requests on one connection; above it the connection is closed. */
  readonly pipelinedMax: number;
  /** Appends that wait for the disk, and their bytes; 503 above either. */
  readonly queuedAppendsMax: number;
  readonly queuedBytesMax: number;
  /** The same for one stream; 429 above either. */
  readonly streamAppendsMax: number;
  readonly streamBytesMax: number;
  /** The head of a request; 431 above it. */
  readonly headerBytesMax: number;
  /** How long the head of a request, and the whole request, may take; then 408. */
  readonly headersTimeoutMs: number;
  readonly requestTimeoutMs: number;
  /** How long an idle connection stays open. */
  readonly keepAliveTimeoutMs: number;
  /** How long accepted requests may take to finish once the server stops. */
  readonly graceMs: number;
  /** How often expired streams are deleted. */
  readonly sweepMs: number;
  /** How often the rule for received sessions is applied, if there is one (`keepReceivedMs`). */
  readonly retentionMs: number;
  /** Allow webhooks to this machine, for development. */
  readonly allowLocalWebhooks: boolean;
  /** Web pages that may use the server, in addition to those of this machine; "*" for all. */
  readonly allowOrigins: readonly string[];
  /** `Host` names that are accepted by a server of this machine, in addition to its own. */
  readonly allowHosts: readonly string[];
  /** Limits of each token that has none of its own. Default: no limits. */
  readonly tokenLimits: TokenLimits;
  /** Limits of the sessions API. */
  readonly sessions: SessionLimits;
}

export const SERVER_SETTINGS: ServerSettings = {
  bodyBytesMax: 16 * MIB,
  bodiesBytesMax: 512 * MIB,
  answersBytesMax: 256 * MIB,
  chunkBytes: MIB,
  longPollTimeoutMs: 20_000,
  eventStreamMs: 60_000,
  readerBufferBytesMax: MIB,
  stalledMs: 60_000,
  liveReadersMax: 10_000,
  connectionsMax: 16_384,
  refusedConnectionsMax: 256,
  openFilesMax: OPEN_LOG_FILES_MAX,
  requestsMax: 32_768,
  pipelinedMax: 256,
  queuedAppendsMax: 65_536,
  queuedBytesMax: 256 * MIB,
  streamAppendsMax: 4096,
  streamBytesMax: 64 * MIB,
  headerBytesMax: 16 * 1024,
  headersTimeoutMs: 10_000,
  requestTimeoutMs: 120_000,
  keepAliveTimeoutMs: 65_000,
  graceMs: 10_000,
  sweepMs: 30_000,
  retentionMs: 3_600_000,
  allowLocalWebhooks: false,
  allowOrigins: [],
  allowHosts: [],
  tokenLimits: {},
  sessions: SESSION_LIMITS,
};

/**
 * Chunks of streams read from the disk at once; more wait. A chunk can be as long as a message, and
 * counts as a held answer only after it was read.
 */
export const CHUNKS_READ_MAX = 16;

/** How much of a too large body is read and discarded, so that its sender receives the answer. */
export const DISCARDED_BYTES_MAX = 64 * MIB;
export const DISCARDING_MS_MAX = 5_000;

/** Of the descriptors of the process, for the index, the journal, sessions, a database and everything else. */
const RESERVED_FILES = 64;
/** Fewer than this are not enough for anything; then opening a file fails, and says so. */
const QUARTER_MIN = 8;

type Fitted = Pick<ServerSettings, "connectionsMax" | "refusedConnectionsMax" | "openFilesMax">;

/** How many files this process may have open (`ulimit -n`); null where the system does not say. */
export function descriptorLimit(): number | null {
  try {
    const limits = readFileSync("/proc/self/limits", "utf8");
    const soft = /^Max open files\s+(\d+)/m.exec(limits)?.[1];
    return soft === undefined ? null : Number(soft);
  } catch {
    return null; // Another system: the settings apply as they are.
  }
}

/**
 * The settings as far as the descriptors suffice: at most a quarter for streams. Without that, a
 * flood of connections would leave none for the streams.
 */
export function fitDescriptors(settings: Fitted, limit: number | null): Fitted {
  const usable = Math.max(4 * QUARTER_MIN, (limit ?? Infinity) - RESERVED_FILES);
  const quarter = Math.floor(usable / 4);
  const openFilesMax = Math.min(settings.openFilesMax, quarter);
  const refusedConnectionsMax = Math.min(settings.refusedConnectionsMax, quarter);
  const left = usable - openFilesMax - refusedConnectionsMax;
  const connectionsMax = Math.min(settings.connectionsMax, left);
  return { connectionsMax, refusedConnectionsMax, openFilesMax };
}

/** What to tell about limits that had to be lowered; null if none was. */
export function loweredNote(settings: Fitted, fitted: Fitted, limit: number | null): string | null {
  const { connectionsMax, openFilesMax } = fitted;
  const isSame =
    connectionsMax === settings.connectionsMax && openFilesMax === settings.openFilesMax;
  if (isSame) return null;
  return (
    `this process may open ${limit} files, which is enough for ${connectionsMax} connections and ` +
    `${openFilesMax} open streams; raise the limit (\`ulimit -n\`) for more`
  );
}
