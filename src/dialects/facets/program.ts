/**
 * Program: the facet of a program that keeps its own history on this machine, such as Claude Code.
 * Its dialect only reads what the program wrote.
 */

import type { Native } from "../../core/model/entry.ts";

/** What decides where a program keeps its files. */
export interface Surroundings {
  readonly environment: Readonly<Record<string, string | undefined>>;
  /** The user's home directory. */
  readonly home: string;
  readonly platform: "linux" | "darwin";
}

export interface AgentProgram extends ProgramHabits {
  /** As its users call it: "Claude Code". */
  readonly label: string;
  /** The directories where it may keep sessions, whether they exist or not. Absolute paths. */
  roots(surroundings: Surroundings): readonly string[];
  readonly changes: NonNullable<ProgramHabits["changes"]>;
}

/** What its reader knows of a program; the registry has the rest. */
export interface ProgramHabits {
  /**
   * How its files change:
   *
   *   grows      lines are appended; bytes that are there stay
   *   rewritten  whole files are written again for each change
   *   rows       rows of a database
   *
   * Absent: `grows`.
   */
  readonly changes?: "grows" | "rewritten" | "rows";
  /** The command that continues a session, by its name in the program. Absent: there is none. */
  resume?(name: string): string;
  /** Parents are what users forked sessions from, so that both are listed. */
  readonly hasForks?: true;
  /** How long the program keeps a session; null: for good. Absent: for good. */
  retention?(root: string): Retention | null;
  /** Databases below a root with sessions that are not read, so not guarded. Absent: none. */
  unreadDatabases?(root: string): readonly string[];
  /**
   * `changes` is not "grows": what identifies a line of the converted log when it is written again.
   * Null: it is no message, such as a title, and the guard never counts it as lost.
   */
  lineKey?(native: Native): string | null;
}

/** The program deletes sessions that did not change for this many days. */
export interface Retention {
  readonly days: number;
  /** The setting, as its users know it: `cleanupPeriodDays in ~/.claude/settings.json`. */
  readonly setting: string;
}

/** The directory that a variable names, `~` expanded; null if it names none or a relative one. */
export function inHome(given: string | undefined, home: string): string | null {
  const path = (given ?? "").trim().replace(/^~(?=\/|$)/, () => home);
  return path.startsWith("/") ? path.replace(/(?<=.)\/+$/, "") : null;
}
