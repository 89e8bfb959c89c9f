/**
 * Contract: the shapes that Claude's Agent SDK and its session stores speak in. Written down here, so
 * that the SDK's types need not be there for ours; a test holds them against the SDK's own.
 */

/** Whose transcript it is; `subpath` for a subagent's. As the SDK's `SessionKey`. */
export interface ClaudeSessionKey {
  projectKey: string;
  sessionId: string;
  subpath?: string;
}

/** One line of a transcript. As the SDK's `SessionStoreEntry`. */
export interface ClaudeSessionEntry {
  type: string;
  uuid?: string;
  timestamp?: string;
  [key: string]: unknown;
}

/** What a listing of the SDK needs of a session. As its `SessionSummaryEntry`. */
export interface ClaudeSessionSummary {
  sessionId: string;
  mtime: number;
  data: Record<string, unknown>;
}

/** The SDK's `foldSessionSummary`. */
export type FoldSummary = (
  previous: ClaudeSessionSummary | undefined,
  key: ClaudeSessionKey,
  entries: ClaudeSessionEntry[],
  options?: { mtime?: number },
) => ClaudeSessionSummary;
