/** Etf export: a session as Entire's normalised transcript, and what that format cannot hold. */

import { packageVersion } from "../../core/package-file.ts";
import { safeText } from "../../sessions/render/text.ts";
import type { Session } from "../../sessions/store/session.ts";
import type { Io } from "../command/command.ts";
import { loadEtf } from "../record/dialect-options.ts";
import type { ExportSource } from "./export-formats.ts";

export async function* etfPieces({
  session,
  badLines,
  run: { io },
}: ExportSource): AsyncGenerator<string> {
  const EtfExport = await loadEtf();
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
