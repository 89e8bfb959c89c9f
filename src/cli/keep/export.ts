/**
 * `verbatim export`: sessions in a format that others read: one or many, to a file, a directory or
 * stdout.
 */

import { mkdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import type { StoredEntry } from "../../dialects/files/stored-entries.ts";
import { statOf } from "../../sessions/list/find-stores.ts";
import { documentOf } from "../../sessions/list/session-document.ts";
import { csvLine } from "../../sessions/render/csv.ts";
import { renderEntry } from "../../sessions/render/entry-markdown.ts";
import type { IndexedPage } from "../../sessions/render/html/index-page.ts";
import type { PageFacts } from "../../sessions/render/html/page.ts";
import { jsonText } from "../../sessions/render/text.ts";
import type { Session } from "../../sessions/store/session.ts";
import { type Run, textOption, UsageError, wholeNumber } from "../command/command.ts";
import { giveDocument, jsonLine } from "../command/output.ts";
import { chosenSessions, hasFilter } from "../look/chosen-sessions.ts";
import {
  BadLines,
  markdownText,
  NOTHING_SHOWN,
  openByName,
  openIdentifiedByName,
  tellNotUnderstood,
  tellTornTail,
} from "../look/named-session.ts";
import {
  EXPORT_FORMATS,
  type ExportFormat,
  type ExportSource,
  formatOfFile,
} from "./export-formats.ts";

type Exporter = (source: ExportSource) => AsyncIterable<string>;

/** Held in memory. */
const LAST_MAX = 100_000;

/** Of `csv`. */
const COLUMNS = [
  ...(["session", "line", "at", "kind", "role", "model", "text", "tools", "error"] as const),
  ...(["inputTokens", "outputTokens", "spend"] as const),
];

const EXPORTERS: Readonly<Record<string, () => Promise<Exporter>>> = {
  md: async () => markdownPieces,
  html: async () => (await import("./html-page.ts")).htmlPieces,
  jsonl: async () => jsonLines,
  csv: async () => csvLines,
  etf: async () => (await import("./etf-export.ts")).etfPieces,
};

export async function runExport(run: Run): Promise<number> {
  const { options } = run;
  const output = textOption("--output", options.output);
  const name = formatNamed(options, output);
  const format = EXPORT_FORMATS[name] as ExportFormat;
  refuseOthers(options, name);
  const sessions = await namedRuns(run);
  const [only] = sessions;
  if (only === undefined) return NOTHING_SHOWN;
  if (name === "otlp") return exportSpans(sessions);
  const directory = output !== undefined && isDirectory(output) ? output : null;
  const isMany = sessions.length > 1;
  if (isMany && directory === null && !format.isJoined) {
    throw new UsageError(`${name} is one file per session: name a directory with --output DIR/`);
  }
  if (directory !== null) mkdirSync(directory, { recursive: true });
  const fileOf = (each: Run) => {
    return directory === null ? output : join(directory, fileName(each, format));
  };
  if (name === "bundle") {
    const { exportBundle } = await import("./bundles.ts");
    let code = 0;
    for (const each of sessions) code = (await exportBundle(each, fileOf(each))) || code;
    return code;
  }
  if (directory === null) return writeDocument(sessions, { name, file: output });
  const pages: IndexedPage[] = [];
  let code = 0;
  for (const each of sessions) {
    const onFacts = (facts: PageFacts) => pages.push({ file: fileName(each, format), facts });
    code = (await writeDocument([each], { name, file: fileOf(each), onFacts })) || code;
  }
  if (pages.length > 1) await writeIndex(directory, pages, run);
  return code;
}

const INDEX = "index.html";

/** Not over a file that is something else. */
async function writeIndex(directory: string, pages: readonly IndexedPage[], { io }: Run) {
  const { CLOSING, indexPage } = await import("../../sessions/render/html/index-page.ts");
  const file = join(directory, INDEX);
  const isThere = statOf(file)?.isFile() === true;
  const isOther = isThere && !readFileSync(file, "utf8").includes(CLOSING);
  if (isOther || pages.some((page) => page.file === INDEX)) {
    return io.err(`no index is written: ${file} is another page`);
  }
  await giveDocument([indexPage(pages)], { io, file, logPaths: [] });
}

function formatNamed(options: Run["options"], output: string | undefined): string {
  const formatName = textOption("--format", options.format);
  return formatName ?? (output === undefined ? null : formatOfFile(output)) ?? "md";
}

/** Options that other formats take would have no effect. */
function refuseOthers(options: Run["options"], name: string): void {
  const takers = new Map<string, string[]>();
  for (const [format, { takes }] of Object.entries(EXPORT_FORMATS)) {
    for (const option of takes) takers.set(option, [...(takers.get(option) ?? []), format]);
  }
  for (const [option, formats] of takers) {
    if (formats.includes(name) || !isGiven(option, options)) continue;
    throw new UsageError(`${flagOf(option)} is for --format ${formats.join(", ")}, not ${name}`);
  }
}

/** Options that are on unless the user turns them off: `--no-tools`. */
const NEGATIVE: readonly string[] = ["tools", "metadata"];

function isGiven(option: string, options: Run["options"]): boolean {
  return NEGATIVE.includes(option) ? options[option] === false : options[option] !== undefined;
}

function flagOf(option: string): string {
  const words = option.replace(/[A-Z]/g, (letter) => `-${letter.toLowerCase()}`);
  return NEGATIVE.includes(option) ? `--no-${words}` : `--${words}`;
}

/** A run for each session, with its name as the only argument. */
async function namedRuns(run: Run): Promise<Run[]> {
  const { args, options } = run;
  const isChosen = options.all === true || hasFilter(options);
  if (args.length > 0 && isChosen) {
    throw new UsageError("name sessions, or choose them with --all, --agent or another filter");
  }
  if (args.length > 0) return args.map((name) => ({ ...run, args: [name] }));
  if (!isChosen) throw new UsageError("name a session, or choose some: --agent, --project, --all");
  const chosen = await chosenSessions(run);
  return chosen.map(({ dialect, root, id }) => {
    return { ...run, args: [id], options: { ...options, dialect, root } };
  });
}

async function exportSpans(sessions: readonly Run[]): Promise<number> {
  if (sessions.length > 1 && sessions[0]?.options.follow === true) {
    throw new UsageError("--follow takes one session");
  }
  const { exportOtlp } = await import("./span-export.ts");
  let code = 0;
  for (const run of sessions) {
    const session = await openIdentifiedByName(run.args[0] ?? "", run);
    code = (await exportOtlp(session, run)) || code;
    await tellTornTail(session, run.io);
  }
  return code;
}

interface Target {
  /** Of the format. */
  readonly name: string;
  readonly file: string | undefined;
  readonly onFacts?: (facts: PageFacts) => void;
}

async function writeDocument(
  runs: readonly Run[],
  { name, file, ...index }: Target,
): Promise<number> {
  const { io, options } = runs[0] as Run;
  const last = lastOf(options);
  const piecesOf = await EXPORTERS[name]?.();
  if (piecesOf === undefined) throw new UsageError(`there is no format ${name}`);
  const opened: { readonly run: Run; readonly session: Session }[] = [];
  for (const run of runs) opened.push({ run, session: await openByName(run.args[0] ?? "", run) });
  const isOneOfMany = opened.length > 1;
  let understood = 0;
  const pieces = async function* () {
    for (const [n, { run, session }] of opened.entries()) {
      const badLines = new BadLines();
      const notice = await tellNotUnderstood(session, io);
      if (notice === null) understood++;
      const place = { isFirst: n === 0, isOneOfMany };
      yield* piecesOf({ session, run, badLines, notice, last, ...place, ...index });
      badLines.tell(io);
      await tellTornTail(session, io);
      await session.release();
    }
  };
  // A terminal gets escaped text; a program or a file gets the exact document.
  const isEscaped = name === "md" && io.isTerminal;
  const escaped = (piece: string) => (isEscaped ? markdownText(piece, io) : piece);
  const logPaths = opened.map(({ session }) => session.path);
  await giveDocument(pieces(), { io, file, logPaths, shown: escaped });
  return understood > 0 ? 0 : NOTHING_SHOWN;
}

/** A session as its dialect's document. */
async function* markdownPieces(source: ExportSource): AsyncGenerator<string> {
  const { session, run, badLines, isFirst, isOneOfMany } = source;
  const { options } = run;
  const [thinking, tools] = [options.thinking === true, options.tools !== false];
  if (isOneOfMany) yield `${isFirst ? "" : "\n"}# ${session.id}\n\n`;
  const { exportedNotes } = await import("./exported-notes.ts");
  const { head, after } = await exportedNotes(session, run, "md");
  yield head;
  yield* documentOf(session, {
    after,
    thinking,
    toolDetails: tools,
    assistantMetadata: options.metadata !== false,
    renderEntry: (entry) => renderEntry(entry, { thinking, tools }),
    onBadLine: badLines.add,
  });
}

async function* jsonLines(source: ExportSource): AsyncGenerator<string> {
  const { id } = source.session;
  for await (const entry of entriesOf(source)) yield jsonLine({ session: id, ...entry });
}

async function* csvLines(source: ExportSource): AsyncGenerator<string> {
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

function lastOf({ last }: Run["options"]): number | null {
  return last === undefined ? null : wholeNumber("--last", last, 1, LAST_MAX);
}

function isDirectory(path: string): boolean {
  return path.endsWith("/") || (statOf(path)?.isDirectory() ?? false);
}

/** As bundles are called: two underscores for each slash of an id. */
function fileName({ args: [name = ""] }: Run, { ending }: ExportFormat): string {
  return `${name.replaceAll("/", "__")}.${ending}`;
}
