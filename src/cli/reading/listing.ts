/**
 * Listing: prints the sessions of the stores found from a place, as text or JSON.
 *
 * Runs for each `verbatim ls`, so it loads little.
 *
 * The printed text of many sessions is cached (catalog/kept-text.ts). Not if it may change
 * without a change of a log: for running threads, for relative times on a terminal, and only until
 * the first live session is no longer live. Nor if something could not be read, which is reported
 * each time.
 *
 * Everything printed is escaped here, whatever the catalog contains.
 */

import { headsPath, keptListingPath } from "../../base/node-paths.ts";
import { eachLog } from "../../catalog/find.ts";
import { keepText, keptText } from "../../catalog/kept-text.ts";
import type { FoundLog, RowLine, SessionSort } from "../../catalog/session-row.ts";
import { CATALOG_VERSION } from "../../catalog/table.ts";
import type { Io } from "../../command/command.ts";
import { type Column, formatTable } from "../../command/table.ts";
import { dialectNamed } from "../../dialects/all.ts";
import { type FoundStore, findStores, statOf, type Where } from "../../listing/find-stores.ts";
import type { GoneSession } from "../../listing/gone-sessions.ts";
import { listPage } from "../../listing/list-page.ts";
import { safeText } from "../../render/text.ts";
import { mayStandOtherwise, type SessionLine, summaryOf, unclosedJson } from "../../store/list.ts";
import type { SessionSummary } from "../../store/published.ts";
import { warnOfJournal } from "./journal-warning.ts";

export interface ListingOptions {
  readonly sort: SessionSort;
  readonly limit: number;
  /** One session per line, as JSON. */
  readonly isJson: boolean;
}

/** A session counts as live when it was appended to within this time. */
const LIVE_MS = 60_000;

/** A session that changed this recently will change again: its text is not worth caching. */
const REST_MS = 2000;

/** Fewer sessions are not worth a cache file. */
const KEPT_FROM_SESSIONS = 1000;

/** About 64 KB: few writes, and below the size that the garbage collector treats as large. */
const LINES_PER_PRINT = 120;

export async function printListing(where: Where, options: ListingOptions, io: Io): Promise<void> {
  const { sort, limit, isJson } = options;
  const stores = findStores(where);
  await warnOfJournal(stores, io);
  const nowMs = Date.now();
  const question = isKept(options, io) ? questionOf(stores, options) : null;
  let isWhole = true;
  if (question !== null) {
    const onUnreadable = () => {
      isWhole = false;
    };
    const logs = logsOf(stores, onUnreadable);
    const kept = keptText(keptListingPath(), { question, nowMs }, logs);
    if (kept !== null && isWhole) return io.print(kept);
  }

  const onWarning = (warning: string) => {
    isWhole = false;
    io.err(`warning: ${warning}`);
  };
  const onProgress = (dialect: string, done: number, total: number) =>
    io.progress(`${dialect}: ${done} of ${total} sessions read`);
  const gone = await goneFrom(where);
  if (gone.length > 0) isWhole = false; // Reported each time.
  let found: readonly SessionLine[] = [];
  const onFound = (lines: readonly SessionLine[]) => {
    found = found.concat(lines);
  };
  const tell = { onProgress, onFound, onWarning };
  const page = await listPage(stores, { sort, limit, gone, ...tell });
  io.progress(null);
  const sessions = page?.sessions ?? [];
  const pieces: string[] = [];
  for (const piece of textOf(sessions, isJson, nowMs, io)) {
    pieces.push(piece);
    await io.print(piece);
  }
  const isWorthIt = isWhole && found.length >= KEPT_FROM_SESSIONS;
  if (question !== null && isWorthIt && found.every((session) => isAtRest(session, nowMs))) {
    const untilMs = endOfLife(found, nowMs);
    keepText(keptListingPath(), { question, untilMs }, found.map(logOf), pieces.join(""));
  }
  if (gone.length > 0) io.err(missingWarning(gone));
  if (sessions.length === 0) {
    const places = stores.map(({ root }) => root).join(" and ");
    io.err(
      places
        ? `no sessions in ${places}`
        : "no session store was found from here; name one with --root",
    );
  }
}

/** The ids alone, for completions and scripts. */
export async function printIds(where: Where, io: Io): Promise<void> {
  const ids = Array.from(
    logsOf(findStores(where), () => {}),
    ({ id }) => `${id}\n`,
  );
  await io.print(safeText(ids.join("")));
}

/** Sessions with a pinned head and no log; without pins nothing is loaded. */
async function goneFrom(where: Where): Promise<readonly GoneSession[]> {
  if (pinsStamp() === null) return [];
  const { nodeHost } = await import("../../base/node-host.ts");
  const { goneSessions } = await import("../../listing/gone-sessions.ts");
  return goneSessions(nodeHost, [where]);
}

function missingWarning(gone: readonly GoneSession[]): string {
  const [first] = gone;
  const are = gone.length === 1 ? "1 session is" : `${gone.length} sessions are`;
  return safeText(
    `warning: ${are} missing: signed before, and the log is gone (rollback). If it was deleted on ` +
      `purpose: verbatim head forget ${first?.row.id}`,
  );
}

/** State of the pins file, which determines the missing sessions; null for no file. */
function pinsStamp(): string | null {
  const stats = statOf(headsPath());
  return stats === undefined ? null : `${stats.size} ${stats.mtimeMs}`;
}

/** The logs of all stores, lazily. */
function* logsOf(stores: readonly FoundStore[], onUnreadable: () => void): Generator<FoundLog> {
  for (const { dialect, root } of stores) {
    yield* eachLog(root, dialectNamed(dialect).layout, { onUnreadable });
  }
}

/** The log as it was when its line was made; lines come in the order in which logs are found. */
function logOf({ line: { id, size, mtimeMs, logPathJson } }: SessionLine): FoundLog {
  return { id, path: JSON.parse(logPathJson) as string, size, mtimeMs };
}

/** A terminal gets relative times, which change each time. */
function isKept({ limit }: ListingOptions, io: Io): boolean {
  return limit === Infinity && !io.isTerminal;
}

/** Whether a session's line will probably stay the same. */
function isAtRest({ line: { status, mtimeMs }, place }: SessionLine, nowMs: number): boolean {
  return !mayStandOtherwise(place.dialect, status) && nowMs - mtimeMs >= REST_MS;
}

/** When the first live session is no longer live; null if none is live. */
function endOfLife(sessions: readonly SessionLine[], nowMs: number): number | null {
  let endMs = Infinity;
  for (const { line } of sessions) {
    if (isLive(line, nowMs)) endMs = Math.min(endMs, line.mtimeMs + LIVE_MS);
  }
  return endMs === Infinity ? null : endMs;
}

/** Everything that the output depends on except the logs. */
function questionOf(stores: readonly FoundStore[], { sort, isJson }: ListingOptions): string {
  const places = stores.map(({ dialect, root }) => [dialect, root]);
  return JSON.stringify([CATALOG_VERSION, places, sort, isJson, pinsStamp()]);
}

function* textOf(
  sessions: readonly SessionLine[],
  isJson: boolean,
  nowMs: number,
  io: Io,
): Generator<string> {
  if (!isJson) {
    if (sessions.length > 0) yield `${describe(sessions, nowMs, io).join("\n")}\n`;
    return;
  }
  for (let at = 0; at < sessions.length; at += LINES_PER_PRINT) {
    const lines = sessions
      .slice(at, at + LINES_PER_PRINT)
      .map((session) => `${unclosedJson(session)},${flagsOf(session, nowMs)}}\n`);
    yield safeText(lines.join(""));
  }
}

function flagsOf({ line, isMissing }: SessionLine, nowMs: number): string {
  return isMissing ? '"live":false,"missing":true' : `"live":${isLive(line, nowMs)}`;
}

const COLUMNS: readonly Column[] = [
  { heading: "ID", widthMin: 16 },
  { heading: "AGENT", widthMin: 8 },
  { heading: "MODEL", widthMin: 8 },
  { heading: "STATUS" },
  { heading: "TURNS", align: "right" },
  { heading: "TOKENS", align: "right" },
  { heading: "COST", align: "right" },
  { heading: "UPDATED" },
];

function describe(sessions: readonly SessionLine[], nowMs: number, io: Io): string[] {
  const rows = sessions.map((line) => {
    const session = summaryOf(line);
    return [
      session.id,
      session.agent ?? "–",
      session.model ?? "–",
      line.isMissing ? "missing" : statusOf(session, nowMs),
      String(session.turns),
      session.totalTokens === null ? "–" : String(session.totalTokens),
      session.spend === null ? "–" : `$${session.spend.toFixed(4)}`,
      updated(session, io.isTerminal ? nowMs : null),
    ];
  });
  return formatTable(COLUMNS, rows, io.isTerminal ? io.columns : null);
}

function statusOf(session: SessionSummary, nowMs: number): string {
  const isNow = isLive(session, nowMs);
  return [session.status, isNow ? "live" : null].filter(Boolean).join(" ") || "–";
}

function isLive({ mtimeMs }: Pick<RowLine, "mtimeMs">, nowMs: number): boolean {
  return nowMs - mtimeMs < LIVE_MS;
}

/** A relative time; with null, the exact time. */
function updated({ updatedAt, mtimeMs }: SessionSummary, nowMs: number | null): string {
  const at = updatedAt ?? new Date(mtimeMs).toISOString();
  if (nowMs === null) return at;
  const seconds = Math.max(0, Math.round((nowMs - Date.parse(at)) / 1000));
  for (const [unit, length] of [
    ["d", 86_400],
    ["h", 3_600],
    ["min", 60],
  ] as const) {
    if (seconds >= length) return `${Math.floor(seconds / length)} ${unit} ago`;
  }
  return `${seconds} s ago`;
}
