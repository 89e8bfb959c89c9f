/**
 * Derived: what a dialect keeps beside its log and can make anew from it, as doctor and repair see
 * it. One `DerivedKind` per dialect that keeps such files; which one is in `derived-kinds.ts`.
 *
 * DK1  Looking is told the lines that the log is read for anyway: one pass per log.
 * DK2  Mending copies what stood there aside, durably, before it puts the new file in its place.
 */

import type { Directory } from "../base/files.ts";
import type { Host } from "../base/host.ts";
import type { Seen } from "../base/node-surroundings.ts";
import type { Finding, FoundAt } from "../findings/finding.ts";
import type { Entry } from "../model/entry.ts";

/** A session of a store, and the directory in which its log lies, open. */
export interface Patient {
  readonly host: Host;
  readonly id: string;
  readonly root: string;
  readonly directory: Directory;
}

export interface DerivedKind {
  /** Every log's name: a dialect that makes files from a log gives each a directory of its own. */
  readonly logName: string;
  /** The files, by their names beside the log. */
  readonly names: readonly string[];
  /** Files whose names no list can hold, such as those of long texts. */
  readonly isOwn?: (name: string) => boolean;
  /**
   * Whether we ever wrote into a session, by the files beside its log. What another program made is
   * read, and neither judged nor mended. Absent: all are ours.
   */
  readonly isOurs?: (files: readonly Seen[]) => boolean;
  look(patient: Patient): Promise<DerivedLook>;
  /** Mends what a look found, and says what it did. Its caller holds the log's lock. */
  mend(patient: Patient, finding: Finding): Promise<string>;
}

export interface DerivedLook {
  /** The next line of the log that is JSON, and what it means to its dialect, if anything. */
  add(value: unknown, entry: Entry | null): Promise<void> | undefined;
  /**
   * What is wrong, now that the whole log was read. `mayBeLive`: nobody holds the log at this
   * moment, but somebody who shares it may go on.
   */
  findings(mayBeLive: boolean): Promise<readonly Finding[]>;
  close(): void;
}

/** Where a finding about one of the files is. */
export function placeOf({ id, directory }: Patient, name: string): FoundAt {
  return { session: id, path: `${directory.path}/${name}` };
}

/** What is said of a copy that was made before mending. */
export function keptIn(aside: string | null): string {
  return aside === null ? "" : `; what stood there is in ${aside}`;
}
