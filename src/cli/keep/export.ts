/** `verbatim export`: a session in another program's format. */

import type { Session } from "../../sessions/store/session.ts";
import { type Io, type Run, textOption, UsageError } from "../command/command.ts";
import { giveDocument } from "../command/output.ts";
import {
  BadLines,
  NOTHING_SHOWN,
  openByName,
  openIdentifiedByName,
  tellNotUnderstood,
  tellTornTail,
} from "../look/reading.ts";
import { EXPORT_FORMATS } from "../record/dialect-commands.ts";

/** Yields a session as text in pieces; at the end, reports what the format cannot hold. */
type Exporter = (session: Session, badLines: BadLines, io: Io) => AsyncGenerator<string>;

const FORMATS: Readonly<Record<keyof typeof EXPORT_FORMATS, Exporter>> = { etf: exportEtf };

export async function runExport(run: Run): Promise<number> {
  const { args, options, io } = run;
  if (options.otlp !== undefined) return sendSpans(run);
  const only = OTLP_OPTIONS.find((name) => options[name] !== undefined);
  if (only !== undefined) throw new UsageError(`--${only} needs --otlp`);
  const output = textOption("--output", options.output);
  const exporter = FORMATS[options.format as keyof typeof FORMATS];
  if (!exporter)
    throw new UsageError(`give --format ${Object.keys(FORMATS).join(" or ")}, or --otlp URL`);
  const session = await openByName(args[0] ?? "", run);
  const badLines = new BadLines();
  const pieces = exporter(session, badLines, io);
  await giveDocument(pieces, { io, file: output, logPath: session.path });
  const notice = await tellNotUnderstood(session, io);
  badLines.tell(io);
  await tellTornTail(session, io);
  return notice === null ? 0 : NOTHING_SHOWN;
}

const OTLP_OPTIONS = ["content", "header", "service", "follow", "after", "json"] as const;

async function sendSpans(run: Run): Promise<number> {
  const { args, options, io } = run;
  if (options.format !== undefined || options.output !== undefined) {
    throw new UsageError("choose --otlp, or --format with --output");
  }
  const session = await openIdentifiedByName(args[0] ?? "", run);
  const { exportOtlp } = await import("./otlp-export.ts");
  const code = await exportOtlp(session, run);
  await tellTornTail(session, io);
  return code;
}

async function* exportEtf(session: Session, badLines: BadLines, io: Io): AsyncGenerator<string> {
  const EtfExport = await EXPORT_FORMATS.etf.load();
  const { packageVersion } = await import("../../core/package-file.ts");
  const { safeText } = await import("../../sessions/render/text.ts");
  const etf = new EtfExport({ agent: "verbatim", cliVersion: packageVersion() });
  const reading = { onBadLine: badLines.add, restoresSpilled: true };
  const { dialect, id } = session;
  const isSubagents = await isSubagentsLog(session);
  let asides = 0;
  for await (const entry of session.entries(reading)) {
    if (dialect.reading.asideOf?.(entry.native, id, isSubagents)) asides++;
    else for (const line of etf.add(entry)) yield safeText(line);
  }
  for (const line of etf.end()) yield safeText(line);
  const { unanswered, strayResults, unplaced, unplacedBlocks } = etf.report;
  tell(io, unanswered, "tool call has no result", "tool calls have no result");
  tell(
    io,
    strayResults,
    "result answers no call and is left out",
    "results answer no call and are left out",
  );
  tell(io, unplaced, "entry has no place in the format", "entries have no place in the format");
  tell(
    io,
    unplacedBlocks,
    "block has no place in the format",
    "blocks have no place in the format",
  );
  tell(
    io,
    asides,
    "entry is not part of the conversation and is left out",
    "entries are not part of the conversation and are left out",
  );
}

/** A log with only a subagent's messages is its own: there they are the conversation. */
async function isSubagentsLog(session: Session): Promise<boolean> {
  const { dialect, id } = session;
  for await (const { kind, native } of session.entries({ onBadLine: "skip" })) {
    if (kind === "message" && dialect.reading.asideOf?.(native, id) !== "other_agent") return false;
  }
  return true;
}

function tell(io: Io, count: number, one: string, many: string): void {
  if (count > 0) io.err(`${count} ${count === 1 ? one : many}`);
}
