/**
 * `verbatim-log/entire`: session transcripts that Entire reads.
 *
 * @example
 * const transcript = await SessionTranscript.open({ root: ".", model: "claude-opus-4-5" });
 * await transcript.user("explain main.rs");
 * await transcript.assistant(message); // as the Messages API gives it, or as it was captured
 * await transcript.toolResults([{ type: "tool_result", tool_use_id: "toolu_01X", content: "…" }]);
 * await transcript.end();
 */

export { SessionError as VerbatimError } from "../core/base/published-errors.ts";
export {
  type AssistantMessage,
  type AssistantOptions,
  type CapturedAnswer,
  type ContentBlock,
  newSessionId,
  SessionTranscript,
  type SessionTranscriptOptions,
} from "../integrations/entire/transcripts.ts";
