/** Summary: what is said of a session as a whole, in listings and over the wire. */

export const SESSION_STATUSES = ["completed", "error", "running", "paused"] as const;
export type SessionStatus = (typeof SESSION_STATUSES)[number];

export interface Summary {
  /** The first thing a user said. */
  readonly title: string | null;
  readonly agent: string | null;
  /** The last one named. */
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
  /** From the one to the other. */
  readonly durationMs: number | null;
  /** The session that began this one: its own id, in the same store. */
  readonly parent: string | null;
  /** All lines, the bad ones included. */
  readonly lines: number;
  readonly badLines: number;
}
