/**
 * `verbatim-log/otel`: sessions, turns, model calls and tool calls as OpenTelemetry spans, sent by
 * OTLP/HTTP. Needs no OpenTelemetry package.
 *
 * Content (prompts, answers, inputs and outputs of tools) is sent only if `content` is true. Span
 * ids are derived from the session and the log, so a second export sends the same spans.
 *
 * @example
 * const store = await openStore({ dialect: "rye", root: "." });
 * const session = store.session("hello_world-1739012630");
 * await exportSpans(session, { url: "http://localhost:4318" });
 *
 * const stop = new AbortController();
 * const exporting = exportLive(session, { url: "http://localhost:4318", signal: stop.signal });
 */

export { VerbatimError } from "./base/errors.ts";
export {
  type ExportOptions,
  type ExportReport,
  exportLive,
  exportSpans,
  type LiveExportOptions,
  type SpanTarget,
} from "./integrations/otel/export.ts";
export type { SpansReport } from "./integrations/otel/session-spans.ts";
export { type SpannedSession, spanIdOf, traceIdOf } from "./integrations/otel/span.ts";
