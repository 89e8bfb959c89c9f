/**
 * `verbatim search`: updates the search index, runs a query, and prints the results.
 *
 * Everything printed is escaped here, whatever the sessions contain.
 */

import { statSync } from "node:fs";
import { VerbatimError } from "../../core/base/errors.ts";
import { nodeHost } from "../../core/base/node-host.ts";
import { catalogPath, searchPathNextTo } from "../../core/base/node-paths.ts";
import { versionOf } from "../../core/sqlite/sqlite.ts";
import type { FoundLog } from "../../dialects/session-row.ts";
import { entryFound, KnownNames, type SessionNames } from "../../history/search.ts";
import { keepText, logLines, readCachedText } from "../../sessions/catalog/text-cache.ts";
import { type FoundStore, findStores, type StoreLookup } from "../../sessions/list/find-stores.ts";
import { notUnderstood } from "../../sessions/list/not-understood.ts";
import { agentOf, programIdOf, projectName } from "../../sessions/list/whose.ts";
import { safeLine } from "../../sessions/render/text.ts";
import { freshenIndex, HURRIED } from "../../sessions/search/freshen-index.ts";
import { indexedIds, SEARCH_SCHEMA } from "../../sessions/search/index-table.ts";
import type { QueryFilter } from "../../sessions/search/query.ts";
import { againIfDamaged, SearchIndex } from "../../sessions/search/search-index.ts";
import {
  type HIT_ORDERS,
  readHits,
  type SearchHit,
  type SearchQuery,
  sortedEntries,
  understandQuery,
} from "../../sessions/search/search-page.ts";
import { listedMarks } from "../../sessions/search/session-marks.ts";
import type { SnippetPiece } from "../../sessions/search/snippet.ts";
import { Store } from "../../sessions/store/store.ts";
import { type Io, type Run, UsageError, wholeNumber } from "../command/command.ts";
import {
  EXIT_INTERRUPTED,
  INTERRUPTED,
  interruptible,
  progressOn,
} from "../command/interruption.ts";
import { readingWhereOf } from "../command/options.ts";
import { ChunkedOutput, jsonLine } from "../command/output.ts";
import { cutTo, widthOf } from "../command/table.ts";
import { changedLogs } from "./changed-logs.ts";
import { choiceOf, filterOf, type IsChosen } from "./chosen-sessions.ts";
import { relativeTime, shortIds, TITLE_SHARE } from "./session-table.ts";
import { NO_STORES, warnOfJournal } from "./store-notes.ts";

export async function searchCommand(run: Run): Promise<number> {
  const { args, options, io } = run;
  const query = args.join(" ").trim();
  const isRebuilt = options.rebuild === true;
  if (query === "" && !isRebuilt) throw new UsageError("give words to search for");
  const limit = wholeNumber("--limit", options.limit, 1);
  const order = options.sort === "oldest" ? "oldest" : "newest";
  const { since, until } = filterOf(options);
  const times = { since, until };
  const isChosen = await choiceOf(run, false);
  const isJson = options.json === true;
  const words = query === "" ? null : query;
  const asked = { query: words, limit, order, times, isChosen, isRebuilt, isJson } as const;
  return runSearch(readingWhereOf(options), asked, io);
}

export interface SearchRequest {
  /** Null: only update the index. */
  readonly query: string | null;
  readonly limit: number;
  readonly order: (typeof HIT_ORDERS)[number];
  /** Entries of then or later, and before then: milliseconds. */
  readonly times: { readonly since: number | undefined; readonly until: number | undefined };
  /** Which sessions; null: all. */
  readonly isChosen: IsChosen | null;
  readonly isJson: boolean;
  readonly isRebuilt: boolean;
}

const EXIT_NOTHING_FOUND = 1;
const NOTHING_FOUND = "nothing found; try fewer words, or a beginning with * (`conn*`)";
/** Maximum sessions of a store that are checked and counted as not searchable. */
const WORDLESS_MAX = 20;
/** A larger one is not read again with each search only to report why it is not searchable. */
const WORDLESS_BYTES_MAX = 64 * 2 ** 20;

export async function runSearch(where: StoreLookup, asked: SearchRequest, io: Io): Promise<number> {
  const query = asked.query === null ? null : understood(asked.query);
  const stores = await findStores(where);
  if (stores.length === 0) io.err(NO_STORES);
  await warnOfJournal(stores, io);
  const index = await SearchIndex.open(searchPathNextTo(catalogPath()));
  try {
    if (asked.isRebuilt) await index.clear();
    const logs = new IndexedLogs(index.path, stores, Date.now());
    if (!logs.areCurrent()) {
      const fresh = await interruptible(io, (signal) => {
        return againIfDamaged(() => freshen(index, stores, logs, io, signal));
      });
      if (fresh === INTERRUPTED) return EXIT_INTERRUPTED;
    }
    if (query === null) return 0;
    const hitCount = await printHits(index, query, stores, asked, io);
    await tellWordless(index, stores, io);
    if (hitCount === 0 && io.isTerminal) io.err(NOTHING_FOUND);
    return hitCount > 0 ? 0 : EXIT_NOTHING_FOUND;
  } finally {
    io.progress(null);
    index.close();
  }
}

/** As a query has it. */
function timeFilter(by: "since" | "until", at: number | undefined): QueryFilter[] {
  return at === undefined ? [] : [{ by, value: new Date(at).toISOString(), isNot: false }];
}

function understood(text: string): SearchQuery {
  try {
    return understandQuery(text, Date.now());
  } catch (cause) {
    if (!(cause instanceof VerbatimError && cause.code === "SEARCH_QUERY")) throw cause;
    throw new UsageError(cause.message);
  }
}

async function freshen(
  index: SearchIndex,
  stores: readonly FoundStore[],
  logs: IndexedLogs,
  io: Io,
  signal: AbortSignal | undefined,
): Promise<void> {
  let unreadable = 0;
  const tell = progressOn(io, "sessions indexed");
  await freshenIndex(nodeHost, index, stores, {
    pace: HURRIED,
    onProgress: (...progress) => tell(null, ...progress),
    onLog: logs.add,
    ...(signal && { signal }),
    onFailure: () => {
      unreadable++;
    },
  });
  io.progress(null);
  const sessions = unreadable === 1 ? "1 session" : `${unreadable} sessions`;
  if (unreadable > 0) io.err(`warning: ${sessions} could not be read and searched`);
  else logs.keep();
}

/** Names sessions that cannot be found because none of their messages was understood. */
async function tellWordless(
  index: SearchIndex,
  stores: readonly FoundStore[],
  io: Io,
): Promise<void> {
  const names: string[] = [];
  for (const place of stores) {
    const store = new Store(nodeHost, { ...place, onWarning: () => {} });
    for (const { id, size } of await index.wordless(place, WORDLESS_MAX)) {
      if (size <= WORDLESS_BYTES_MAX && !(await isWordless(store, id))) continue;
      names.push(safeLine(programIdOf(place.dialect, id)));
    }
  }
  if (names.length === 0) return;
  const [first] = names;
  const are = names.length === 1 ? "1 session is" : `${names.length} sessions are`;
  const which = names.length === 1 ? "" : `, ${first} among them`;
  io.err(
    `warning: ${are} not searched, because no message was understood${which}; ` +
      `verbatim doctor ${first} reports why`,
  );
}

async function isWordless(store: Store, id: string): Promise<boolean> {
  try {
    return (await notUnderstood(nodeHost, store.session(id))) !== null;
  } catch (cause) {
    if (!(cause instanceof VerbatimError)) throw cause;
    return false; // Unreadable: reported when it was indexed.
  }
}

async function printHits(
  index: SearchIndex,
  query: SearchQuery,
  places: readonly FoundStore[],
  { limit, isJson, order, times: { since, until }, isChosen }: SearchRequest,
  io: Io,
): Promise<number> {
  const filters = [...query.filters, ...timeFilter("since", since), ...timeFilter("until", until)];
  const onWarning = (warning: string) => io.err(`warning: ${warning}`);
  const marks = await listedMarks(nodeHost, query, places, { onWarning });
  const found = await sortedEntries(index, { ...query, filters }, places, order, marks);
  const entries = isChosen ? found.filter(({ place, id }) => isChosen(place, id)) : found;
  const short = isJson || !io.isTerminal ? null : await shortIdsOf(index, places);
  const sessions = new KnownNames(nodeHost);
  const output = new ChunkedOutput(io);
  let count = 0;
  for await (const hit of readHits(nodeHost, query, entries)) {
    if (++count > limit) break;
    const about = await sessions.of(hit);
    const name = short?.(hit) ?? hit.id;
    await output.add(isJson ? jsonLine(entryFound(hit, about)) : hitText(hit, name, about, io));
  }
  await sessions.close();
  await output.flush();
  if (count > limit && !isJson) io.err(`there are more; --limit ${2 * limit} shows them`);
  return Math.min(count, limit);
}

/** The shortest name of each session, for people to type. */
async function shortIdsOf(index: SearchIndex, places: readonly FoundStore[]) {
  const keyOf = ({ dialect, root }: FoundStore, id: string) => `${dialect}\0${root}\0${id}`;
  const named = await index.attempt((cache) => {
    return places.flatMap((place) => indexedIds(cache, place).map((id) => ({ id, place })));
  });
  const short = new Map(
    Array.from(shortIds(named), ([{ id, place }, name]) => [keyOf(place, id), name]),
  );
  return ({ place, id }: SearchHit) => short.get(keyOf(place, id));
}

/** The title, the id and the age, whole in a pipe; below them whose entry it is, and the text. */
function hitText(
  { place, role, at, tools, snippet, note }: SearchHit,
  name: string,
  { agent, project, title }: SessionNames,
  io: Io,
): string {
  const by = agentOf({ dialect: place.dialect, agent });
  const about = [by, project && projectName(project), note !== null && "your note", role, ...tools]
    .filter(Boolean)
    .join(" · ");
  const age = at !== null && io.isTerminal ? relativeTime(at, Date.now()) : at;
  const names = [name, age].filter((each) => each !== null).join("  ");
  const room = io.columns - widthOf(names) - 2;
  const isOneLine = !io.isTerminal || room >= io.columns * TITLE_SHARE;
  const head = fitted(safeLine(title ?? NO_TITLE), isOneLine ? room : io.columns, io);
  const where = `${isOneLine ? "" : "\n"}  ${safeLine(names)}`;
  const line = snippet.map((piece) => pieceText(piece, io)).join("");
  const facts = fitted(safeLine(about), io.columns - 2, io);
  return `${io.hasColour ? bold(head) : head}${where}\n  ${facts}\n    ${line}\n`;
}

/** Cut to a width on a terminal. */
function fitted(text: string, width: number, io: Io): string {
  return io.isTerminal && widthOf(text) > width ? cutTo(text, width) : text;
}

const NO_TITLE = "(no title)";

/** Without colours, hits are not marked. */
function pieceText({ text, isHit }: SnippetPiece, io: Io): string {
  const safe = safeLine(text);
  return isHit && io.hasColour ? hitColour(safe) : safe;
}

function bold(text: string): string {
  return `\u001b[1m${text}\u001b[0m`;
}

function hitColour(text: string): string {
  return `\u001b[1;31m${text}\u001b[0m`;
}

/** Fewer logs are not worth a file. */
const KEPT_FROM_LOGS = 100;
/** A file that changed more recently may change again without getting another time. */
const REST_MS = 1000;

class IndexedLogs {
  readonly #path: string;
  readonly #stores: readonly FoundStore[];
  readonly #question: string;
  readonly #nowMs: number;
  readonly #isAtRest: boolean;
  readonly #found: FoundLog[] = [];
  #isAll = true;

  /** Call it after the index was opened. */
  constructor(indexPath: string, stores: readonly FoundStore[], nowMs: number) {
    const files = [indexPath, `${indexPath}-wal`].map((path) => {
      const stats = statSync(path, { throwIfNoEntry: false });
      return stats && stats.size > 0 ? [stats.ino, stats.size, stats.mtimeMs] : null;
    });
    const places = stores.map(({ dialect, root }) => [dialect, root]);
    this.#path = `${indexPath}.logs`;
    this.#stores = stores;
    this.#question = JSON.stringify([versionOf(SEARCH_SCHEMA), files, places]);
    this.#nowMs = nowMs;
    this.#isAtRest = files.every((file) => nowMs - (file?.[2] ?? 0) >= REST_MS);
  }

  /** Whether the index has all logs as they are. */
  areCurrent(): boolean {
    const kept = readCachedText(this.#path, { question: this.#question, nowMs: this.#nowMs });
    return kept !== null && changedLogs(kept.logs, this.#stores, 0) !== null;
  }

  readonly add = (log: FoundLog, isIndexed: boolean): void => {
    this.#found.push(log);
    if (!isIndexed) this.#isAll = false;
  };

  /** Stores the list, unless the index lacks a log. */
  keep(): void {
    if (!this.#isAll || !this.#isAtRest || this.#found.length < KEPT_FROM_LOGS) return;
    keepText(this.#path, { question: this.#question, untilMs: null }, logLines(this.#found), "");
  }
}
