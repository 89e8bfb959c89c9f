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

import { badArgument, checkOptions, type OptionKind } from "../core/base/choice.ts";
import * as spans from "../integrations/otel/export.ts";
import { Session as OpenedSession } from "../sessions/store/session.ts";
import type { Session } from "../sessions/store/store-api.ts";

type AllOptions = spans.LiveExportOptions & { readonly url?: string; readonly headers?: object };

const OPTIONS = {
  url: "text",
  headers: "object",
  exporter: "function",
  content: "boolean",
  serviceName: "text",
  after: "count",
  onRetry: "function",
} as const satisfies Partial<Record<keyof AllOptions, OptionKind>>;

/**
 * Sends the spans of a session in its current state; open ones are marked. Refuses with LOG_REWOUND
 * an `after` past the log's end.
 */
export async function exportSpans(
  session: Session,
  options: spans.ExportOptions,
): Promise<spans.ExportReport> {
  checkExport("exportSpans", session, options);
  return spans.exportSpans(session, options);
}

/**
 * Sends spans as they end, whichever process appends to the session, until the signal; then the
 * open ones. An unreachable collector is retried until it is back. Refuses like `exportSpans`.
 */
export async function exportLive(
  session: Session,
  options: spans.LiveExportOptions,
): Promise<spans.ExportReport> {
  checkExport("exportLive", session, options, { signal: "object", lingerMs: "count" });
  return spans.exportLive(session, options);
}

function checkExport(
  of: string,
  session: unknown,
  options: spans.ExportOptions,
  more: Readonly<Record<string, OptionKind>> = {},
): asserts session is OpenedSession {
  if (!(session instanceof OpenedSession)) {
    throw badArgument(of, "takes a session first: one of a store that openStore gave");
  }
  checkOptions(of, options, { ...OPTIONS, ...more });
  if ((options.exporter === undefined) === ((options as AllOptions).url === undefined)) {
    throw badArgument(of, "sends the spans to either url or exporter; give one of them");
  }
}

export type { ExportErrors } from "../core/base/errors.ts";
export { ExportError as VerbatimError } from "../core/base/published-errors.ts";
export type {
  ExportOptions,
  ExportReport,
  LiveExportOptions,
  SpanTarget,
} from "../integrations/otel/export.ts";
export type { SpansReport } from "../integrations/otel/session-spans.ts";
export {
  type SpannedSession,
  type SpanPart,
  spanIdOf,
  traceIdOf,
} from "../integrations/otel/span.ts";
