/**
 * `verbatim-log/claude-agent`: a session store for Claude's Agent SDK.
 *
 * @example
 * const sessionStore = claudeSessionStore({ root: "/var/lib/agent", sign: "append" });
 * for await (const message of query({ prompt, options: { sessionStore } })) show(message);
 * // Later, in any process: query({ prompt, options: { sessionStore, resume: sessionId } })
 */

export { SessionError as VerbatimError } from "../core/base/published-errors.ts";
export {
  ClaudeSessionStore,
  type ClaudeSessionStoreOptions,
  claudeSessionStore,
} from "../integrations/claude-agent/session-store.ts";
export type {
  ClaudeSessionEntry,
  ClaudeSessionKey,
  ClaudeSessionSummary,
  FoldSummary,
} from "../integrations/claude-agent/summary-files.ts";
