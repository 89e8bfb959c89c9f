/**
 * Dialect files: the files that a dialect keeps besides its logs. Every member is optional: a
 * dialect implements what its format needs.
 */

import type { Host } from "../core/base/host.ts";
import type { Surroundings } from "../core/base/node-surroundings.ts";
import type { Finding } from "../core/findings/finding.ts";
import type { Durability, LogMode } from "../core/log/log-options.ts";
import type { SessionStatus } from "../core/model/summary.ts";
import type { VerifyReport } from "../trust/judge/report.ts";
import type { FilesProof } from "../trust/judge/verify-options.ts";
import type { SessionLog } from "../trust/session-log.ts";
import type { Trust } from "../trust/trusted-keys/trust.ts";
import type { SessionDetails } from "./agent-program.ts";
import type { DerivedFiles, DerivedKind, SigningTools } from "./derived-files.ts";

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
export interface Standing {
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
  };
  standingOf?(host: Host, root: string, id: string): Promise<Standing>;
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
