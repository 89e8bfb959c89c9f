/** Summary: facts about a whole session, for listings and the HTTP API. */

import type { Metadata } from "./entry.ts";

export const SESSION_STATUSES = ["completed", "error", "running", "paused"] as const;
export type SessionStatus = (typeof SESSION_STATUSES)[number];

export interface Summary {
  /** The program's own title, else the user's first message. */
  readonly title: string | null;
  readonly agent: string | null;
  /** The last model named. */
  readonly model: string | null;
  readonly status: SessionStatus | null;
  readonly turns: number;
  readonly inputTokens: number | null;
  readonly outputTokens: number | null;
  readonly totalTokens: number | null;
  /** US dollars, as recorded. */
  readonly spend: number | null;
  /** The first and the last time in the session, ISO 8601, UTC. */
  readonly createdAt: string | null;
  readonly updatedAt: string | null;
  /** From the first to the last. */
  readonly durationMs: number | null;
  /** The session that started this one: its own id, in the same store. */
  readonly parent: string | null;
  /** `repository`, or else `directory`: what every filter, list and report means by a project. */
  readonly project: string | null;
  /** `owner/name` of the git remote, as recorded or as the directory has it; null if unknown. */
  readonly repository: string | null;
  /** The directory that the agent worked in, else the project that has the store. */
  readonly directory: string | null;
  readonly branch: string | null;
  /** Lines that recognised edits added and removed; null if there was none. */
  readonly linesAdded: number | null;
  readonly linesRemoved: number | null;
  /** The last erasure that the session states; null if there was none. */
  readonly erased: { readonly at: string | null; readonly reason: string } | null;
  /** What its creator said about it. */
  readonly tags: readonly string[];
  readonly user: string | null;
  readonly metadata: Metadata | null;
  /** All lines, including bad ones. */
  readonly lines: number;
  readonly badLines: number;
}
