/** Settings: what a server can be told, and its limits. Each has a test at the edge. */

import { SESSION_LIMITS, type SessionLimits } from "./sessions/limits.ts";

const MIB = 1024 * 1024;

export interface ServerSettings {
  /** The largest body that is taken; past it the answer is 413. */
  readonly bodyBytesMax: number;
  /** How much of bodies may be on its way at once; past it the answer is 503. */
  readonly bodiesBytesMax: number;
  /** How much of streams may wait for readers to take it; past it the answer is 429. */
  readonly answersBytesMax: number;
  /** About how much one read gives: at least one message, however long. */
  readonly chunkBytes: number;
  readonly longPollTimeoutMs: number;
  /** How long an event stream stays open, give or take a tenth; its reader then comes again. */
  readonly eventStreamMs: number;
  /** How much may wait for a reader of events that does not keep up, before it is cut. */
  readonly readerBufferBytesMax: number;
  /** How long a connection may take nothing of an answer before it is cut. */
  readonly stalledMs: number;
  /** How many may wait for new data at once. */
  readonly liveReadersMax: number;
  /** Open connections; past it each is answered with 503 and closed. */
  readonly connectionsMax: number;
  /** Requests that are not answered yet, live readers included; past it the answer is 503. */
  readonly requestsMax: number;
  /** Requests sent ahead on one connection; past it the connection is closed. */
  readonly pipelinedMax: number;
  /** Appends that wait for the disk, and their bytes; past either the answer is 503. */
  readonly queuedAppendsMax: number;
  readonly queuedBytesMax: number;
  /** The same of one stream; past either the answer is 429. */
  readonly streamAppendsMax: number;
  readonly streamBytesMax: number;
  /** The head of a request; past it the answer is 431. */
  readonly headerBytesMax: number;
  /** How long the head of a request may take to come, and all of it; then the answer is 408. */
  readonly headersTimeoutMs: number;
  readonly requestTimeoutMs: number;
  /** How long a connection stays open on which nothing is asked. */
  readonly keepAliveTimeoutMs: number;
  /** How long requests that were accepted may take to finish once the server is told to stop. */
  readonly graceMs: number;
  /** How often streams that outlived their lifetime are deleted. */
  readonly sweepMs: number;
  /** Webhooks to this machine, which are refused otherwise: for trying things out. */
  readonly allowLocalWebhooks: boolean;
  /** Web pages that may use the server, besides those of this machine; "*" stands for all. */
  readonly allowOrigins: readonly string[];
  /** Names by which requests may call a server of this machine (`Host`), besides its own. */
  readonly allowHosts: readonly string[];
  /** Of the API over sessions. */
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
  allowLocalWebhooks: false,
  allowOrigins: [],
  allowHosts: [],
  sessions: SESSION_LIMITS,
};

/**
 * Chunks of streams that are read from the disk at once; more wait for their turn. A chunk can be as
 * long as a message, and is counted among the answers only when it is there.
 */
export const CHUNKS_READ_MAX = 16;

/** What is read and thrown away of a body that is too large, so that its sender sees the answer. */
export const DISCARDED_BYTES_MAX = 64 * MIB;
export const DISCARDING_MS_MAX = 5_000;
