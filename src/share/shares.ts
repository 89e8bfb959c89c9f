/** Shares: where shares and their copies are kept. */

import type { Readable } from "node:stream";
import type { Share } from "./share.ts";

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
