/** Entry lines: the entries of sessions as JSON lines, or as comma-separated values. */

import type { StoredEntry } from "../../dialects/files/stored-entries.ts";
import { jsonText } from "../../sessions/render/text.ts";
import { csvLine, jsonLine } from "../command/output.ts";
import type { ExportSource } from "./export-source.ts";

const COLUMNS = [
  ...(["session", "line", "at", "kind", "role", "model", "text", "tools", "error"] as const),
  ...(["inputTokens", "outputTokens", "spend"] as const),
];

export async function* jsonLines(source: ExportSource): AsyncGenerator<string> {
  const { id } = source.session;
  for await (const entry of entriesOf(source)) yield jsonLine({ session: id, ...entry });
}

export async function* csvLines(source: ExportSource): AsyncGenerator<string> {
  const { id } = source.session;
  if (source.isFirst) yield csvLine(COLUMNS);
  for await (const entry of entriesOf(source)) yield csvLine(cellsOf(id, entry));
}

function entriesOf({ session, badLines, last }: ExportSource) {
  const reading = { onBadLine: badLines.add };
  return last === null ? session.entries(reading) : lastEntries(session.last(last, reading));
}

async function* lastEntries(entries: Promise<StoredEntry[]>): AsyncGenerator<StoredEntry> {
  yield* await entries;
}

/** In the order of the columns. Output of tools is not in it: `jsonl` has everything. */
function cellsOf(session: string, entry: StoredEntry): unknown[] {
  const { line, at, kind, role, model, parts, usage, error } = entry;
  const text = parts.flatMap((part) => (part.type === "text" ? [part.text] : [])).join("\n");
  const tools = parts.flatMap((part) => {
    return part.type === "tool_call" ? [`${part.tool} ${jsonText(part.input)}`] : [];
  });
  const failures = parts.flatMap((part) => {
    return part.type === "tool_result" && part.error !== null ? [part.error] : [];
  });
  const failed = [...(error === null ? [] : [`${error.code}: ${error.detail}`]), ...failures];
  const counts = [usage?.inputTokens, usage?.outputTokens, usage?.spend];
  const texts = [text, tools.join("\n"), failed.join("\n")];
  return [session, line, at, kind, role, model, ...texts, ...counts].map((cell) => cell ?? "");
}
