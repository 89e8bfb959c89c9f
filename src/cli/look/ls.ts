/**
 * `verbatim ls`: every session of the agents on this machine and of the stores found from here,
 * without reading a log twice.
 */

import { headsPath, keptListingPath, notesPath } from "../../core/base/node-paths.ts";
import { dialectNamed } from "../../dialects/all.ts";
import { iterateLogs } from "../../dialects/find.ts";
import type { FoundLog, SessionSort } from "../../dialects/session-row.ts";
import { CATALOG_VERSION } from "../../sessions/catalog/table.ts";
import { keepText, logLines, readCachedText } from "../../sessions/catalog/text-cache.ts";
import {
  type FoundStore,
  findStores,
  isGuarded,
  type StoreLookup,
  statOf,
} from "../../sessions/list/find-stores.ts";
import type { GoneSession } from "../../sessions/list/gone-sessions.ts";
import { listPage } from "../../sessions/list/list-page.ts";
import { safeText } from "../../sessions/render/text.ts";
import { mayStandOtherwise, type SessionLine } from "../../sessions/store/list.ts";
import { type Io, type Run, UsageError, wholeNumber } from "../command/command.ts";
import {
  EXIT_INTERRUPTED,
  INTERRUPTED,
  interruptible,
  progressOn,
} from "../command/interruption.ts";
import { readingWhereOf, SORTS } from "../command/options.ts";
import { CHANGED_MAX, changedListing } from "./changed-listing.ts";
import { changedLogs } from "./changed-logs.ts";
import { filterOf, hasFilter, type SessionChoice, ShownSessions } from "./chosen-sessions.ts";
import {
  endOfLife,
  type Flags,
  type FullerGenerations,
  fullerGenerations,
  fullerNotes,
  guardStamp,
  jsonLines,
  liveAmong,
} from "./listing-json.ts";
import { sessionTable, type TableOptions } from "./session-table.ts";
import { NO_STORES, warnOfJournal } from "./store-notes.ts";

export async function runLs({ options, io }: Run): Promise<number> {
  const limit = options.limit === undefined ? Infinity : wholeNumber("--limit", options.limit, 1);
  const sort = SORTS[String(options.sort)] ?? "updated";
  if (options.ids === true) {
    if (options.json === true) throw new UsageError("choose --ids or --json");
    if (hasFilter(options))
      throw new UsageError("--ids reads no log, so it takes no filter; use --json");
    await printIds(readingWhereOf(options), options.sourceGone === true, io);
    return 0;
  }
  const isJson = options.json === true;
  const choice = { ...filterOf(options), isAll: isJson || options.all === true };
  const isGone = options.sourceGone === true;
  return printListing(readingWhereOf(options), { sort, limit, isJson, choice, isGone }, io);
}

export interface ListingOptions {
  readonly sort: SessionSort;
  readonly limit: number;
  /** One session per line, as JSON. */
  readonly isJson: boolean;
  readonly choice: Omit<SessionChoice, "cwd">;
  /** Only sessions that just the guard still has. */
  readonly isGone?: boolean;
}

/** Changes when the same sessions are printed differently. */
const TEXT_VERSION = 4;

/** A session that changed this recently will change again: its text is not worth caching. */
const REST_MS = 2000;

/** Fewer sessions are not worth a cache file. */
const KEPT_FROM_SESSIONS = 1000;

/** About 64 KB: few writes, and below the size that the garbage collector treats as large. */
const LINES_PER_PRINT = 120;

/** Returns the exit code. */
export async function printListing(
  where: StoreLookup,
  options: ListingOptions,
  io: Io,
): Promise<number> {
  const { sort, limit, isJson } = options;
  const chosen = new ShownSessions({ ...options.choice, cwd: where.cwd });
  const all = (await findStores(where)).filter((store) => !options.isGone || isGuarded(store));
  const stores = chosen.storesOf(all);
  await warnOfJournal(stores, io);
  const nowMs = Date.now();
  const question = isKept(options, io) ? questionOf(stores, where.cwd, options) : null;
  if (question !== null && (await printKept(question, stores, options, nowMs, io))) return 0;

  let isWhole = true;
  const onWarning = (warning: string) => {
    isWhole = false;
    io.err(`warning: ${warning}`);
  };
  const gone = await goneFrom(where);
  if (gone.length > 0) isWhole = false; // Reported each time.
  let found: readonly SessionLine[] = [];
  const onFound = (lines: readonly SessionLine[]) => {
    found = found.concat(lines);
    chosen.found(lines);
  };
  let records: ReadonlyMap<SessionLine, SessionLine> = new Map();
  const onRecords = (own: typeof records) => {
    records = own;
  };
  const tell = {
    onProgress: progressOn(io),
    onFound,
    onRecords,
    onWarning,
    ...(chosen.isShown && { isShown: chosen.isShown }),
  };
  const pageLimit = sort === "spend" ? Infinity : limit;
  const page = await interruptible(io, (signal) => {
    return listPage(stores, { sort, limit: pageLimit, gone, ...tell, ...(signal && { signal }) });
  });
  if (page === INTERRUPTED) return EXIT_INTERRUPTED;
  const costs =
    sort === "spend" ? await costsOf(page?.sessions ?? [], stores, where.cwd, io) : null;
  const sessions = [...(costs?.keys() ?? page?.sessions ?? [])].slice(0, limit);
  if (sessions.length === 0) {
    io.err(chosen.whyNone() ?? (options.isGone ? NONE_GONE : nothingIn(all)));
  }
  const fuller = fullerGenerations(sessions);
  const live = await liveAmong(sessions, nowMs);
  const about = { found, fuller, live, costs, records: recordsByOwn(records) };
  const shown = { isJson, sort, nowMs, ...about };
  const text = await printPieces(textOf(sessions, shown, io), io);
  const notes = [...(isJson ? [] : textNotes(fuller, records.size)), ...hiddenNotes(chosen.hidden)];
  if (notes.length > 0) isWhole = false; // Reported each time.
  for (const note of notes) io.err(note);
  if (question !== null && isWhole) keepListing(text, { question, found, live, nowMs });
  if (gone.length > 0) io.err(missingWarning(gone));
  return 0;
}

/** For the next listing, unless there are few sessions, or one is being written. */
function keepListing(
  text: string,
  {
    question,
    found,
    live,
    nowMs,
  }: Pick<TextOptions, "found" | "live" | "nowMs"> & { question: string },
): void {
  if (found.length < KEPT_FROM_SESSIONS) return;
  if (!found.every((session) => isAtRest(session, nowMs))) return;
  keepText(
    keptListingPath(),
    { question, untilMs: endOfLife(live) },
    logLines(found.map(logOf)),
    text,
  );
}

/** What each session cost; counts sessions that changed. */
async function costsOf(
  sessions: readonly SessionLine[],
  stores: readonly FoundStore[],
  cwd: string,
  io: Io,
): Promise<ReadonlyMap<SessionLine, number | null>> {
  const [{ sessionCosts }, { nodeHost }] = await Promise.all([
    import("../../history/session-facts.ts"),
    import("../../core/base/node-host.ts"),
  ]);
  const costs = await sessionCosts(nodeHost, sessions, {
    cwd,
    stores,
    onProgress: (done, total) => io.progress(`counting ${done} of ${total} sessions`),
    onFailure: (id) => io.err(`warning: ${safeText(id)} could not be counted`),
  });
  io.progress(null);
  return costs;
}

/** Resolves to all of it when the last piece is printed. */
async function printPieces(pieces: Iterable<string>, io: Io): Promise<string> {
  let text = "";
  for (const piece of pieces) {
    text += piece;
    await io.print(piece);
  }
  return text;
}

/** Of what the JSON says of the sessions themselves. */
function textNotes(fuller: FullerGenerations, recordCount: number): string[] {
  const notes = fullerNotes(fuller).map(safeText);
  if (recordCount === 0) return notes;
  const those = sessionCount(recordCount);
  return [
    ...notes,
    `${those} also recorded by hooks: the agent's own file is listed; --json names both`,
  ];
}

function hiddenNotes(count: number): string[] {
  return count === 0 ? [] : [`${sessionCount(count)} of subagents not listed; --all lists them`];
}

function sessionCount(count: number): string {
  return count === 1 ? "1 session" : `${count} sessions`;
}

function recordsByOwn(records: ReadonlyMap<SessionLine, SessionLine>) {
  return new Map(Array.from(records, ([record, own]) => [own, record]));
}

/** Prints the kept listing, if it is of these logs, or can be brought up to date with few of them. */
async function printKept(
  question: string,
  stores: readonly FoundStore[],
  { sort, isJson, choice }: ListingOptions,
  nowMs: number,
  io: Io,
): Promise<boolean> {
  const path = keptListingPath();
  const kept = readCachedText(path, { question, nowMs });
  if (kept === null) return false;
  const isUnfiltered = new ShownSessions({ ...choice, cwd: "" }).isShown === null;
  const mayChange = isJson && sort === "updated" && isUnfiltered;
  const changed = changedLogs(kept.logs, stores, mayChange ? CHANGED_MAX : 0);
  if (changed === null) return false;
  if (changed.length === 0) {
    await io.print(kept.text);
    return true;
  }
  const listing = await changedListing(kept.text, changed, nowMs);
  if (listing === null) return false;
  const { text, sessions, live } = listing;
  await io.print(text);
  if (sessions.every((session) => isAtRest(session, nowMs))) {
    const ends = [kept.untilMs, endOfLife(live)].filter((end) => end !== null);
    const untilMs = ends.length === 0 ? null : Math.min(...ends);
    keepText(path, { question, untilMs }, kept.logs.lines, text);
  }
  return true;
}

const NONE_GONE = "the guard has no session that its agent deleted; `verbatim ls` lists the others";

function nothingIn(stores: readonly FoundStore[]): string {
  const places = [...new Set(stores.map(({ root }) => root))].join(" and ");
  return places === "" ? NO_STORES : `no sessions in ${places}`;
}

/** The ids alone, for completions and scripts; `isGone`: only those that just the guard still has. */
export async function printIds(where: StoreLookup, isGone: boolean, io: Io): Promise<void> {
  const stores = (await findStores(where)).filter((store) => !isGone || isGuarded(store));
  const ids = Array.from(
    logsOf(stores, () => {}),
    ({ id }) => `${id}\n`,
  );
  await io.print(safeText(ids.join("")));
}

/** Sessions with a pinned head and no log; without pins nothing is loaded. */
async function goneFrom(where: StoreLookup): Promise<readonly GoneSession[]> {
  if (stampOf(headsPath()) === null) return [];
  const { nodeHost } = await import("../../core/base/node-host.ts");
  const { goneSessions } = await import("../../sessions/list/gone-sessions.ts");
  return goneSessions(nodeHost, [where]);
}

function missingWarning(gone: readonly GoneSession[]): string {
  const [first] = gone;
  const are = gone.length === 1 ? "1 session is" : `${gone.length} sessions are`;
  return safeText(
    `warning: ${are} missing: signed before, and the log is gone (rollback). If it was deleted on ` +
      `purpose: verbatim keys head forget ${first?.row.id}`,
  );
}

/** State of a file of the user's; null for no file. */
function stampOf(path: string): string | null {
  const stats = statOf(path);
  return stats === undefined ? null : `${stats.size} ${stats.mtimeMs} ${stats.ino}`;
}

/** The logs of all stores, lazily. */
function* logsOf(stores: readonly FoundStore[], onUnreadable: () => void): Generator<FoundLog> {
  for (const { dialect, root } of stores) {
    yield* iterateLogs(root, dialectNamed(dialect).naming.layout, { onUnreadable });
  }
}

/** The log as it was when its line was made; lines come in the order in which logs are found. */
function logOf({ line: { id, size, mtimeMs, logPathJson } }: SessionLine): FoundLog {
  return { id, path: JSON.parse(logPathJson) as string, size, mtimeMs };
}

/** A terminal gets relative times, which change each time; costs change with prices. */
function isKept({ limit, sort }: ListingOptions, io: Io): boolean {
  return limit === Infinity && sort !== "spend" && !io.isTerminal;
}

/** Whether a session's line will probably stay the same. */
function isAtRest({ line: { status, mtimeMs }, place }: SessionLine, nowMs: number): boolean {
  return !mayStandOtherwise(place.dialect, status) && nowMs - mtimeMs >= REST_MS;
}

/** Everything that the output depends on except the logs. */
function questionOf(
  stores: readonly FoundStore[],
  cwd: string,
  { sort, isJson, choice }: ListingOptions,
): string {
  const places = stores.map(({ dialect, root }) => [dialect, root]);
  const chosen = choice.project === undefined ? choice : { ...choice, cwd };
  // Pins determine the missing sessions; notes are shown with the others.
  const stamps = [stampOf(headsPath()), stampOf(notesPath()), guardStamp()];
  return JSON.stringify([CATALOG_VERSION, TEXT_VERSION, places, sort, isJson, chosen, stamps]);
}

type TextOptions = TableOptions & Flags & Pick<ListingOptions, "isJson">;

function* textOf(
  sessions: readonly SessionLine[],
  options: TextOptions,
  io: Io,
): Generator<string> {
  if (!options.isJson) {
    if (sessions.length > 0) yield `${sessionTable(sessions, options, io).join("\n")}\n`;
    return;
  }
  for (let at = 0; at < sessions.length; at += LINES_PER_PRINT) {
    yield jsonLines(sessions.slice(at, at + LINES_PER_PRINT), options);
  }
}
