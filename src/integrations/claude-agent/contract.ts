/**
 * Contract: the types of Claude's Agent SDK for session stores. Copied, so that the SDK need not be
 * installed for ours; a test compares them with the SDK's own.
 */

/** Names a transcript; `subpath` for a subagent's. The SDK's `SessionKey`. */
export interface ClaudeSessionKey {
  projectKey: string;
  sessionId: string;
  subpath?: string;
}

/** One line of a transcript. The SDK's `SessionStoreEntry`. */
export interface ClaudeSessionEntry {
  type: string;
  uuid?: string;
  timestamp?: string;
  [key: string]: unknown;
}

/** A session in a listing. The SDK's `SessionSummaryEntry`. */
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
