/**
 * `verbatim-log/otel`: sessions, turns, model calls and tool calls as OpenTelemetry spans, sent by
 * OTLP/HTTP. Needs no OpenTelemetry package.
 *
 * What was said (prompts, answers, what went into tools and came out) is not sent unless `content` is
 * true. Spans have ids that follow from the session and the log: exported twice, they are the same.
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
