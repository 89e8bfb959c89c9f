/** Naming: the facet that says which file is which session. Pure. */

import type { Layout } from "../find.ts";
import type { StoreChoices } from "./writing.ts";

/** A session of a program, and the name that the program has for it. */
export interface ProgramSession {
  readonly dialect: string;
  readonly name: string;
  /** The program's file has no ids of answers to compare: if it is there, its usage counts. */
  readonly hasOwnUsage?: boolean;
}

export interface Naming {
  /** Where logs are, below the root. */
  readonly layout: Layout;
  /** The log's path below the root, in segments; throws BAD_ID. */
  logPath(id: string): readonly string[];
  /** The id of the session whose log is at this path; null if it is not a log's path. */
  idAt(path: readonly string[]): string | null;
  /** The session's id in its program; `id` is longer, because it names a path. Absent: `id`. */
  nameOf?(id: string): string;
  /** The agent in a session's id. Absent if ids do not contain it. */
  agentOf?(id: string): string | null;
  /** The project that pinned heads name; null: none. Absent: the root. */
  projectOf?(root: string, options: StoreChoices): string | null;
  /**
   * The session of a program whose hooks this session has; its name is the program's. The program's
   * own file says more. Null if it has no hooks. Absent if no session has.
   */
  hooksOf?(id: string): ProgramSession | null;
  /** The inverse: the id of the session with the hooks of a program's session; null if none has. */
  hooksIdOf?(dialect: string, name: string): string | null;
}
