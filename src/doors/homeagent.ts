/**
 * `verbatim-log/homeagent`: HomeAgent's session transcripts.
 *
 * @example
 * const transcripts = new TranscriptWriter();
 * await transcripts.append("kitchen", "2026-11-15", { turnId: "1", role: "user", content: "Hi", ts: Date.now() });
 * const turns = await transcripts.read("kitchen", "2026-11-15");
 */

export { SessionError as VerbatimError } from "../core/base/published-errors.ts";
export type { BadEntry } from "../dialects/files/stored-entries.ts";
export {
  type SchemaError,
  type SchemaIssue,
  type SchemaResult,
  TranscriptEntry,
  type TranscriptSchema,
  TurnRole,
} from "../dialects/homeagent/schema.ts";
export {
  type ReadTranscriptOptions,
  TranscriptWriter,
  type TranscriptWriterOptions,
} from "../integrations/homeagent/transcripts.ts";
export type { PooledSession } from "../sessions/store/pool.ts";
