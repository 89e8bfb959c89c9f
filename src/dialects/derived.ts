/**
 * Derived: files that a dialect can rebuild from its log, as doctor and repair use them. One
 * `DerivedKind` per dialect with such files (`derived` in its `DialectFiles`).
 *
 * - The check receives lines from a pass that reads the log anyway: one pass per log.
 * - A mend first copies the old file aside, durably, then replaces it.
 */

import type { Directory } from "../base/files.ts";
import type { Host } from "../base/host.ts";
import type { Seen } from "../base/node-surroundings.ts";
import type { Finding, FoundAt } from "../findings/finding.ts";
import type { Entry } from "../model/entry.ts";

/** A session of a store, and the open directory of its log. */
export interface Patient {
  readonly host: Host;
  readonly id: string;
  readonly root: string;
  readonly directory: Directory;
}

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
  look(patient: Patient): Promise<DerivedLook>;
  /** Mends a finding and returns what it did. The caller holds the log's lock. */
  mend(patient: Patient, finding: Finding): Promise<string>;
}

export interface DerivedLook {
  /** The next JSON line of the log, and its entry, if it has one. */
  add(value: unknown, entry: Entry | null): Promise<void> | undefined;
  /**
   * The findings, after the whole log was read. `mayBeLive`: the log is not locked now, but a
   * writer that shares it may continue.
   */
  findings(mayBeLive: boolean): Promise<readonly Finding[]>;
  close(): void;
}

/** Location of a finding in one of the files. */
export function placeOf({ id, directory }: Patient, name: string): FoundAt {
  return { session: id, path: `${directory.path}/${name}` };
}

/** Message about the copy made before mending. */
export function keptIn(aside: string | null): string {
  return aside === null ? "" : `; what stood there is in ${aside}`;
}
