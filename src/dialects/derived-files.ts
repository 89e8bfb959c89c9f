/**
 * Derived files that a dialect keeps next to its log (rye's markdown and thread.json, entire's
 * prompt.txt and context.md) and updates with it.
 *
 * B1  Every derived file can be rebuilt from its log. So a failed write is reported as a warning
 * and never fails an append that reached the log.
 */

import type { Directory } from "../core/base/files.ts";
import type { Host } from "../core/base/host.ts";
import type { Seen } from "../core/base/node-surroundings.ts";
import type { Finding, FindingPlace } from "../core/findings/finding.ts";
import type { Companion } from "../core/log/companion.ts";
import type { Sync } from "../core/log/turn.ts";
import type { Entry, Native } from "../core/model/entry.ts";
import type { Signer } from "../trust/keys/keys.ts";
import type { ProofCrypto } from "../trust/proof/crypto.ts";
import type { NamedCheckpoint, Newest } from "../trust/signer/signer-state.ts";
import type { Trust } from "../trust/trusted-keys/trust.ts";

/** Signs a small file that belongs to a signed session. */
export interface SigningTools {
  readonly signer: Signer;
  readonly crypto: ProofCrypto;
  /** The keys that the user trusts now. */
  readonly trust: () => Promise<Trust>;
  readonly nowMs: () => number;
  /** The newest checkpoint in the log; null when there is none. */
  readonly newest: () => Newest | null;
  /**
   * The checkpoint with the sequence number of `namedSeq`, from the last read of the log; null if
   * the log has none.
   */
  readonly named: () => NamedCheckpoint | null;
  readonly onWarning: (warning: string) => void;
}

export interface DerivedFiles extends Required<Omit<Companion, "share" | "append">> {
  /** Passes the parsed value of a line that is about to be appended, so it is not parsed again. */
  expect(line: Uint8Array, native: Native): void;
  /**
   * The session closes cleanly for now. Called with the lock held, before the log closes; `sync`
   * makes the log durable.
   */
  pause(sync: Sync): Promise<void>;
  /**
   * Whether `pause` is also called in `shared` mode, where other writers may continue. Default: no.
   */
  readonly pausesShared?: true;
  /** rye: the revision of thread.json, if it is signed. */
  readonly rev?: number;
  /** The revision after the last append has been written to thread.json. */
  readonly revAhead?: number;
  /**
   * Signed sessions: called with the lock held, after the appended lines and their checkpoints are
   * in the log. `meanwhile` runs while the disk is writing, if it writes at all.
   */
  sealed?(sync: Sync, meanwhile?: () => void): Promise<void>;
  /**
   * Signed sessions: the checkpoint that a file names as its head, verified or not; null if none.
   */
  namedSeq?(): Promise<number | null>;
  /** Signed sessions: sign the derived files from now on. Called before the log is opened. */
  signWith?(tools: SigningTools): void;
  /** In `shared` mode: the lock for `pause` could not be taken. */
  notPaused?(cause: unknown): void;
}

/** A session of a store, and the open directory of its log. */
export interface SessionInRepair {
  readonly host: Host;
  readonly id: string;
  readonly root: string;
  readonly directory: Directory;
}

/**
 * Files that a dialect can rebuild from its log, as doctor and repair use them (`derived` in its
 * `DialectFiles`).
 *
 * - The check receives lines from a pass that reads the log anyway: one pass per log.
 * - A mend first copies the old file aside, durably, then replaces it.
 */
export interface DerivedKind {
  /** The log's file name: a dialect with derived files gives each log its own directory. */
  readonly logName: string;
  /** Names of the files next to the log. */
  readonly names: readonly string[];
  /** For files whose names are not fixed, such as spill files. */
  readonly isOwn?: (name: string) => boolean;
  /**
   * Whether we ever wrote to a session, judged by the files next to its log. Sessions of other
   * programs are read, but neither checked nor mended. Absent: all are ours.
   */
  readonly isOurs?: (files: readonly Seen[]) => boolean;
  look(patient: SessionInRepair): Promise<DerivedLook>;
  /** Mends a finding and returns what it did. The caller holds the log's lock. */
  mend(patient: SessionInRepair, finding: Finding): Promise<string>;
}

export interface DerivedLook {
  /** The next JSON line of the log: its value, its entry, if it has one, and its bytes. */
  add(value: unknown, entry: Entry | null, line: Uint8Array): Promise<void> | undefined;
  /**
   * The findings, after the whole log was read. `mayBeLive`: the log is not locked now, but a
   * writer that shares it may continue.
   */
  findings(mayBeLive: boolean): Promise<readonly Finding[]>;
  close(): void;
}

/** Location of a finding in one of the files. */
export function findingPlaceOf({ id, directory }: SessionInRepair, name: string): FindingPlace {
  return { session: id, path: `${directory.path}/${name}` };
}

/** Message about the copy made before mending. */
export function asideText(aside: string | null): string {
  return aside === null ? "" : `; the old file is in ${aside}`;
}
