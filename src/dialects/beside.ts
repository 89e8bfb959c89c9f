/**
 * Beside: what a dialect keeps beside its log (rye's markdown and thread.json, entire's prompt.txt
 * and context.md), in step with it.
 *
 * B1  Everything beside a log can be rebuilt from it. So a failure to write it is told as a
 *     warning and never fails an append that the log has taken.
 */

import type { Companion } from "../log/companion.ts";
import type { Sync } from "../log/turn.ts";
import type { ProofCrypto } from "../proof/crypto.ts";
import type { Signer } from "../signing/keys/signer.ts";
import type { Trust } from "../signing/trust/trust.ts";
import type { NamedCheckpoint, Newest } from "../signing/writing/signer-state.ts";
import type { Native } from "./native.ts";

/** What signs a small file that belongs to a signed session. */
export interface SigningTools {
  readonly signer: Signer;
  readonly crypto: ProofCrypto;
  /** The keys that the user trusts now. */
  readonly trust: () => Promise<Trust>;
  readonly nowMs: () => number;
  /** The newest checkpoint in the log; null when there is none. */
  readonly newest: () => Newest | null;
  /** The checkpoint that `namedSeq` named when the log was last read; null: it is not there. */
  readonly named: () => NamedCheckpoint | null;
  readonly onWarning: (warning: string) => void;
}

export interface Beside extends Required<Omit<Companion, "share" | "append">> {
  /** A line that is about to be appended, and what it says: saves parsing it again. */
  expect(line: Uint8Array, native: Native): void;
  /**
   * The session ends here for now, cleanly. Called with the lock held, before the log closes; `sync`
   * makes what stands in the log durable.
   */
  pause(sync: Sync): Promise<void>;
  /** Whether it wants to be told also in `shared` mode, where others may go on. Default: no. */
  readonly pausesShared?: true;
  /** rye: the revision of thread.json, where that is signed. */
  readonly rev?: number;
  /** The same, once what was appended last is written there, too. */
  readonly revAhead?: number;
  /**
   * Signed sessions: what was appended stands, its checkpoints too. With the lock held. What is to be
   * done `meanwhile` is done when the disk is at work on it, if it is at all.
   */
  sealed?(sync: Sync, meanwhile?: () => void): Promise<void>;
  /** Signed sessions: a checkpoint that a file names as its head, true or not; null: none. */
  namedSeq?(): Promise<number | null>;
  /** Signed sessions: from now on its files are signed. Called before the log is opened. */
  signWith?(tools: SigningTools): void;
  /** In `shared` mode the lock could not be had for that. */
  notPaused?(cause: unknown): void;
}
