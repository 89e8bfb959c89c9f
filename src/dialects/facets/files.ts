/**
 * Files: the facet of what a dialect has on the disk besides plain logs: derived files, lines that
 * wait, sessions that are presented as logs. Every member is optional: a dialect implements what
 * its format needs.
 */

import type { Directory } from "../../core/base/files.ts";
import type { Host } from "../../core/base/host.ts";
import type { SurroundingFile, Surroundings } from "../../core/base/node-surroundings.ts";
import type { Finding, FindingPlace } from "../../core/findings/finding.ts";
import type { Companion, Sync } from "../../core/log/companion.ts";
import type { Durability, LogMode } from "../../core/log/log-options.ts";
import type { Entry, Native } from "../../core/model/entry.ts";
import type { SessionStatus } from "../../core/model/summary.ts";
import type { VerifyReport } from "../../trust/judge/report.ts";
import type { FilesProof } from "../../trust/judge/verify-options.ts";
import type { Signer } from "../../trust/keys/keys.ts";
import type { ProofCrypto } from "../../trust/proof/crypto.ts";
import type { SessionLog } from "../../trust/session-log.ts";
import type { NamedCheckpoint, Newest } from "../../trust/signer/signer-state.ts";
import type { Trust } from "../../trust/trusted-keys/trust.ts";
import type { SessionDetails } from "./reading.ts";

export interface FileAccess {
  /** The host that a store of this dialect uses. Absent: the given one. */
  readonly hostFor?: (host: Host, root: string) => Host;
  /** Files besides logs, loaded when needed. Absent if there are none. */
  readonly load?: () => Promise<DialectFiles>;
  /** The small signed file that goes into bundles (`signedFile` of its files). */
  readonly signedFileName?: string;
  /** A file of the session has its status until it ends (`standingOf` of its files). */
  readonly hasStanding?: true;
  /** Absent if lines go directly into logs. */
  readonly inbox?: Inbox;
}

/** Appends lines to a session; resolves when they have the requested durability. */
export type AppendWaiting = (
  id: string,
  lines: readonly Native[],
  how: { readonly sign: false | "turn" | "append"; readonly durability: Durability },
) => Promise<void>;

/** Recorded lines in a directory of a store that wait to be moved into their sessions. */
export interface Inbox {
  /** Whether any may be waiting. Called before each read, so it must be cheap. */
  mayWait(root: string): boolean;
  /** How many wait for each session. */
  waiting(root: string): ReadonlyMap<string, number>;
  /**
   * Moves them into their sessions, in order; returns how many still wait, and why. Never throws.
   */
  drain(
    root: string,
    append: AppendWaiting,
  ): Promise<{ readonly waiting: number; readonly cause: unknown }>;
  directory(root: string): string;
  /** The warning that `count` lines still wait. */
  warning(root: string, count: number, cause: unknown): string;
}

/** What a dialect's files need to know about their store. */
export interface StoreOfFiles {
  readonly host: Host;
  readonly root: string;
  /** The project of the root; null: none. */
  readonly project: string | null;
  readonly durability: Durability;
  readonly mode: LogMode;
  /** Options that only this dialect has. */
  readonly options: Readonly<Record<string, unknown>>;
  readonly nowMs: () => number;
  readonly onWarning: (warning: string) => void;
}

/** The files of one store, opened with the first session that is appended to. */
export interface StoreFiles {
  /** The derived files of one session. */
  openDerived(session: { readonly id: string; readonly logId: string }): DerivedFiles;
  close?(): Promise<void>;
}

/** What is known about a session outside its log. */
export interface SessionStanding {
  /** Null: the log says it. */
  readonly status: SessionStatus | null;
  /** The session that started it. */
  readonly parent: string | null;
  readonly agent: string | null;
  /** What files next to the log say about the session. */
  readonly about?: SessionDetails;
}

export type StoredSession = SessionLog & { readonly id: string };

/** A small file of a session with its own signature. Read before the log is verified. */
export interface SignedFile {
  readonly text: string;
  /** Called for each checkpoint of the log: the file names one of them. */
  readonly onCheckpoint: (seq: number, line: string) => void;
  /** Why the file cannot be trusted; null if it can. */
  doubtOf(
    id: string,
    trust: Trust,
    report: VerifyReport,
  ): { readonly verdict: VerifyReport["verdict"]; readonly why: string } | null;
}

/** Tools for doctor and repair: the disk, and what is around a log. */
export interface Examining {
  readonly host: Host;
  readonly surroundings: Surroundings;
}

export interface DialectFiles {
  openStore?(store: StoreOfFiles): StoreFiles;
  /** Derived files of a session, for doctor and repair. */
  readonly derived?: DerivedKind;
  /** Files that a store keeps for all its sessions. */
  readonly ofStore?: {
    look(doctor: Examining, store: { readonly root: string }): AsyncIterable<Finding>;
    /** Mends a finding and returns what it did. */
    mend(doctor: Examining, store: { readonly root: string }): Promise<string>;
    /** Removes a session, whose log is gone, from them. */
    forget(store: { readonly root: string }, id: string): Promise<void>;
  };
  standingOf?(host: Host, root: string, id: string): Promise<SessionStanding>;
  /** The path of an older file with the same session, which is not listed; null: none. */
  olderFile?(root: string, id: string): string | null;
  /** The id of the session that has this name (`nameOf`); null if there is none. */
  idNamed?(root: string, name: string): string | null;
  /** Verifies the files that belong to a signed log, together with it. */
  proofOf?(host: Host, log: StoredSession, trust: Trust): FilesProof;
  /** The file that goes into bundles, next to the log. */
  readonly signedFile?: {
    readonly name: string;
    read(host: Host, log: StoredSession): Promise<SignedFile | null>;
    of(text: string): SignedFile;
    /**
     * Its text for a log that replaces the old one, signed if there are tools; null: the text is
     * not such a file.
     */
    renew(text: string, id: string, tools: SigningTools | null): Promise<string | null>;
  };
  /** Called after a session from a bundle is installed with its derived files. */
  installed?(
    host: Host,
    session: { readonly root: string; readonly id: string },
    onWarning: (warning: string) => void,
  ): Promise<void>;
}

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

/**
 * The derived files of one session (rye's markdown and thread.json, entire's prompt.txt and
 * context.md), which are updated with its log.
 *
 * B1  Every derived file can be rebuilt from its log. So a failed write is reported as a warning
 * and never fails an append that reached the log.
 */
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
  /**
   * Signed sessions: the revision of a file that is signed with the log, for the next checkpoint.
   * `isLast`: after the last append has been written to that file.
   */
  revision?(isLast: boolean): number;
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
  readonly isOurs?: (files: readonly SurroundingFile[]) => boolean;
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
