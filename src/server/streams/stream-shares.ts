/**
 * Stream shares: limits how much of the append queue one stream may use.
 *
 * All appends are in one queue. A stream above its share is refused (STREAM_BUSY) and not queued,
 * so that the appends of other streams wait for a bounded time. A stream's first append is always
 * accepted, however large.
 */

import { VerbatimError } from "../../core/base/errors.ts";

interface Share {
  appends: number;
  bytes: number;
}

export interface ShareLimits {
  readonly streamAppendsMax: number;
  readonly streamBytesMax: number;
}

export class StreamShares {
  readonly #limits: ShareLimits;
  readonly #shares = new Map<string, Share>();

  constructor(limits: ShareLimits) {
    this.#limits = limits;
  }

  /** Throws STREAM_BUSY; otherwise it must be given back. */
  take(path: string, bytes: number): void {
    const share = this.#shares.get(path);
    if (share === undefined) {
      this.#shares.set(path, { appends: 1, bytes });
      return;
    }
    const { streamAppendsMax, streamBytesMax } = this.#limits;
    if (share.appends >= streamAppendsMax) throw busy(path, "streamAppendsMax", streamAppendsMax);
    if (share.bytes + bytes > streamBytesMax) throw busy(path, "streamBytesMax", streamBytesMax);
    share.appends++;
    share.bytes += bytes;
  }

  giveBack(path: string, bytes: number): void {
    const share = this.#shares.get(path);
    if (share === undefined) return;
    share.bytes -= bytes;
    if (--share.appends === 0) this.#shares.delete(path);
  }

  /** Streams with appends in progress. */
  get count(): number {
    return this.#shares.size;
  }
}

function busy(stream: string, limit: string, max: number): VerbatimError<"STREAM_BUSY"> {
  return new VerbatimError(
    "STREAM_BUSY",
    `${stream} has reached its share of the queue (${limit} is ${max}); retry in a moment`,
    { stream, limit, max },
  );
}
