/**
 * OTLP export: sends a session's spans to a collector, or prints them.
 *
 * Headers come from `--header` and from OpenTelemetry's environment variables, so that a secret
 * need not be on a command line. They are never printed.
 */

import { VerbatimError } from "../../core/base/errors.ts";
import { endpointOf } from "../../integrations/otel/endpoint.ts";
import {
  type ExportReport,
  exportLive,
  exportSpans,
  type SpanTarget,
} from "../../integrations/otel/export.ts";
import { safeText } from "../../sessions/render/text.ts";
import type { Session } from "../../sessions/store/session.ts";
import { type Run, textOption, textOptions, UsageError, wholeNumber } from "../command/command.ts";

/** 1: the collector rejected some spans. */
const EXIT_REJECTED = 1;
const HEADERS_VARIABLE = "OTEL_EXPORTER_OTLP_HEADERS";

export async function exportOtlp(session: Session, { options, io }: Run): Promise<number> {
  const common = {
    ...targetOf({ options, io }),
    content: options.content === true,
    serviceName: textOption("--service", options.service) ?? "verbatim",
    after: options.after === undefined ? 0 : wholeNumber("--after", options.after, 0),
    onRetry: (problem: string, waitMs: number) => {
      io.err(`the collector: ${problem}; retrying in ${Math.round(waitMs / 100) / 10} s`);
    },
  };
  const report = options.follow
    ? await exportLive(session, { ...common, signal: io.interruption() })
    : await exportSpans(session, common);
  tellReport(report, { options, io });
  return report.rejectedSpans > 0 ? EXIT_REJECTED : 0;
}

function targetOf({ options, io }: Pick<Run, "options" | "io">): SpanTarget {
  const url = textOption("--to", options.to);
  const headers = headersOf(options.header);
  if (url !== undefined) {
    refuseBad(url, headers);
    return { url, headers };
  }
  return { exporter: (body) => io.print(`${safeText(body)}\n`) };
}

/** An invalid address or header is a usage error, like any other bad option. */
function refuseBad(url: string, headers: Readonly<Record<string, string>>): void {
  try {
    endpointOf(url, headers);
  } catch (cause) {
    throw cause instanceof VerbatimError ? new UsageError(cause.message) : cause;
  }
}

/** Names in lower case, so that an option overrides the same header of the environment. */
function headersOf(option: Run["options"][string]): Record<string, string> {
  const headers: Record<string, string> = {};
  const listed = process.env[HEADERS_VARIABLE]?.split(",") ?? [];
  for (const each of listed.filter((text) => text.trim() !== "")) {
    const [name, value] = halves(each, HEADERS_VARIABLE);
    headers[name.toLowerCase()] = decoded(value);
  }
  for (const each of textOptions("--header", option) ?? []) {
    const [name, value] = halves(each, "--header");
    headers[name.toLowerCase()] = value;
  }
  return headers;
}

/** Errors do not quote the header: it may be a secret. */
function halves(text: string, from: string): [string, string] {
  const at = text.indexOf("=");
  if (at > 0) return [text.slice(0, at).trim(), text.slice(at + 1).trim()];
  throw new UsageError(`${from} takes name=value`);
}

function decoded(value: string): string {
  try {
    return decodeURIComponent(value);
  } catch {
    return value; // It was not encoded.
  }
}

function tellReport(report: ExportReport, { io }: Pick<Run, "options" | "io">): void {
  const { spans, rejectedSpans, untimed, strayResults, asides, badLines, deliveredTo } = report;
  io.err(`${counted(spans, "span")}, up to byte ${deliveredTo} of the log`);
  if (rejectedSpans > 0) io.err(`${counted(rejectedSpans, "span")} of them were rejected`);
  for (const message of report.messages) io.err(`the collector says: ${message}`);
  if (untimed > 0) io.err(`${counted(untimed, "span")} left out: the log has no time for them`);
  if (strayResults > 0) io.err(`${counted(strayResults, "result")} left out: they answer no call`);
  if (asides > 0) io.err(`${counted(asides, "line")} of other agents left out`);
  if (badLines > 0) io.err(`${counted(badLines, "bad line")} skipped`);
}

function counted(count: number, what: string): string {
  return `${count} ${what}${count === 1 ? "" : "s"}`;
}
