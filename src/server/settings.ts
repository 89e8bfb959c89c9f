/** Settings: what a server can be told, and its limits. Each has a test at the edge. */

const MIB = 1024 * 1024;

export interface ServerSettings {
  /** The largest body that is taken; past it the answer is 413. */
  readonly bodyBytesMax: number;
  /** How much of bodies may be on its way at once; past it the answer is 503. */
  readonly bodiesBytesMax: number;
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
  /** How long requests that were accepted may take to finish once the server is told to stop. */
  readonly graceMs: number;
  /** How often streams that outlived their lifetime are deleted. */
  readonly sweepMs: number;
  /** Webhooks to this machine, which are refused otherwise: for trying things out. */
  readonly allowLocalWebhooks: boolean;
  /** Web pages that may use the server, besides those of this machine; "*" stands for all. */
  readonly allowOrigins: readonly string[];
}

export const SERVER_SETTINGS: ServerSettings = {
  bodyBytesMax: 16 * MIB,
  bodiesBytesMax: 512 * MIB,
  chunkBytes: MIB,
  longPollTimeoutMs: 20_000,
  eventStreamMs: 60_000,
  readerBufferBytesMax: MIB,
  stalledMs: 60_000,
  liveReadersMax: 10_000,
  graceMs: 10_000,
  sweepMs: 30_000,
  allowLocalWebhooks: false,
  allowOrigins: [],
};

/** What is read and thrown away of a body that is too large, so that its sender sees the answer. */
export const DISCARDED_BYTES_MAX = 64 * MIB;
export const DISCARDING_MS_MAX = 5_000;
