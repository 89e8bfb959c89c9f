/**
 * Dialect files: what a dialect keeps in files besides its logs, as the rest of the product uses it.
 * Every member is optional: a dialect has what its document asks for.
 */

import type { Host } from "../base/host.ts";
import type { Surroundings } from "../base/node-surroundings.ts";
import type { Finding } from "../findings/finding.ts";
import type { Durability, LogMode } from "../log/log-options.ts";
import type { SessionStatus } from "../model/summary.ts";
import type { VerifyReport } from "../signing/judging/report.ts";
import type { BesideProof } from "../signing/judging/verify-options.ts";
import type { SessionLog } from "../signing/session-log.ts";
import type { Trust } from "../signing/trust/trust.ts";
import type { Beside } from "./beside.ts";
import type { DerivedKind } from "./derived.ts";

/** A store, as its dialect's files need it. */
export interface StoreOfFiles {
  readonly host: Host;
  readonly root: string;
  /** The project that the root belongs to; null: none. */
  readonly project: string | null;
  readonly durability: Durability;
  readonly mode: LogMode;
  /** The options that only this dialect has. */
  readonly options: Readonly<Record<string, unknown>>;
  readonly nowMs: () => number;
  readonly onWarning: (warning: string) => void;
}

/** The files of one store, opened with its first session that is appended to. */
export interface StoreFiles {
  /** The derived files of one session. */
  openDerived(session: { readonly id: string; readonly logId: string }): Beside;
  close?(): Promise<void>;
}

/** What is known of a session outside its log. */
export interface Standing {
  /** Null: its log says. */
  readonly status: SessionStatus | null;
  /** The session that started it. */
  readonly parent: string | null;
  readonly agent: string | null;
}

export type StoredSession = SessionLog & { readonly id: string };

/** A small file of a session that is signed by itself. Read before the log is verified. */
export interface SignedFile {
  readonly text: string;
  /** To be called for each checkpoint of the log: the file names one of them. */
  readonly onCheckpoint: (seq: number, line: string) => void;
  /** Why it is not to be believed; null when it is. */
  doubtOf(
    id: string,
    trust: Trust,
    report: VerifyReport,
  ): { readonly verdict: VerifyReport["verdict"]; readonly why: string } | null;
}

/** What looks and repairs: the disk, and what lies around a log. */
export interface Examining {
  readonly host: Host;
  readonly surroundings: Surroundings;
}

export interface DialectFiles {
  openStore?(store: StoreOfFiles): StoreFiles;
  /** Derived files of a session, as doctor and repair see them. */
  readonly derived?: DerivedKind;
  /** Files that a store keeps for all its sessions. */
  readonly ofStore?: {
    look(doctor: Examining, store: { readonly root: string }): AsyncIterable<Finding>;
    /** Repairs what a look found, and says what it did. */
    mend(doctor: Examining, store: { readonly root: string }): Promise<string>;
  };
  standingOf?(host: Host, root: string, id: string): Promise<Standing>;
  /** Judges the files that belong to a signed log, together with it. */
  proofOf?(host: Host, log: StoredSession, trust: Trust): BesideProof;
  /** The file that goes into bundles, next to the log. */
  readonly signedFile?: {
    readonly name: string;
    read(host: Host, log: StoredSession): Promise<SignedFile | null>;
    of(text: string): SignedFile;
  };
  /** Called after a session that came from elsewhere is there with its derived files. */
  installed?(
    host: Host,
    session: { readonly root: string; readonly id: string },
    onWarning: (warning: string) => void,
  ): Promise<void>;
}
