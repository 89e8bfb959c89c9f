/**
 * Subagents: how a program's rows say which tool call started which agent.
 *
 * Programs keep what a subagent does in a session of its own, or in the log of the session that
 * started it.
 */

import type { Entry, Native } from "../core/model/entry.ts";

/** A call and the name of the session that it started, as in its program or in lists. */
export interface StartedSession {
  readonly callId: string;
  readonly name: string;
}

/** Fed the entries of a log in order. */
export interface SubagentRows {
  /** The call whose subagent wrote this row into the same log; null: it is not known to be one's. */
  callOf(entry: Entry): string | null;
}

export interface Subagents {
  /** What a row says about sessions that calls started. Absent if rows do not name them. */
  startedIn?(entry: Entry): readonly StartedSession[];
  /** Absent if subagents have logs of their own. */
  rows?(): SubagentRows;
  /**
   * The ids of the logs of its own that a row's subagent may have: if there is one, the row in the
   * log of session `id` repeats a row of it. Absent if no row is a repeated one.
   */
  ownLogsOf?(native: Native, id: string): readonly string[];
}
