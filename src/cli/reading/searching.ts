/**
 * Searching: updates the search index, runs a query, and prints the results.
 *
 * Everything printed is escaped here, whatever the sessions contain.
 */

import { basename } from "node:path";
import { VerbatimError } from "../../base/errors.ts";
import { nodeHost } from "../../base/node-host.ts";
import { catalogPath, searchPathNextTo } from "../../base/node-paths.ts";
import { Catalog } from "../../catalog/catalog.ts";
import type { FindOptions } from "../../catalog/search/find-entries.ts";
import { againIfDamaged, SearchIndex } from "../../catalog/search/search-index.ts";
import type { SnippetPiece } from "../../catalog/search/snippet.ts";
import { type Io, UsageError } from "../../command/command.ts";
import { jsonLine } from "../../command/json-line.ts";
import { cutTo, widthOf } from "../../command/table.ts";
import { type FoundStore, findStores, type Where } from "../../listing/find-stores.ts";
import { freshenIndex, HURRIED } from "../../listing/indexing.ts";
import { knownRowOf } from "../../listing/known-row.ts";
import { notUnderstood, notUnderstoodText } from "../../listing/not-understood.ts";
import {
  type HitPage,
  type SearchHit,
  type SearchQuery,
  searchPage,
  understandQuery,
} from "../../listing/searching.ts";
import { agentOf, nameIn, projectOf } from "../../listing/whose.ts";
import { safeLine } from "../../render/text.ts";
import { Store } from "../../store/store.ts";
import { IndexedLogs } from "./indexed-logs.ts";
import { EXIT_INTERRUPTED, INTERRUPTED, interruptible, progressOn } from "./interruption.ts";
import { warnOfJournal } from "./journal-warning.ts";
import { NO_STORES } from "./reading.ts";

export interface SearchAsked {
  /** Null: only update the index. */
  readonly query: string | null;
  readonly limit: number;
  readonly isJson: boolean;
  readonly isRebuilt: boolean;
}

const EXIT_NOTHING_FOUND = 1;
const NOTHING_FOUND = "nothing found; try fewer words, or a beginning with * (`conn*`)";
/** Entries per page; a page is printed before the next one is searched. */
const PAGE = 50;
/** Maximum sessions of a store that are checked and listed as not searchable. */
const WORDLESS_MAX = 20;
/** A larger one is not read again with each search only to report why it is not searchable. */
const WORDLESS_BYTES_MAX = 64 * 2 ** 20;
/** Entries examined before progress is printed. */
const EXAMINED = 50_000;

export async function runSearch(where: Where, asked: SearchAsked, io: Io): Promise<number> {
  const query = asked.query === null ? null : understood(asked.query);
  const stores = findStores(where);
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
    const sessions = new HitSessions();
    const found = await printHits({ index, sessions }, query, stores, asked, io);
    await sessions.close();
    for (const store of stores) await tellWordless(index, store, io);
    if (found === 0 && io.isTerminal) io.err(NOTHING_FOUND);
    return found > 0 ? 0 : EXIT_NOTHING_FOUND;
  } finally {
    io.progress(null);
    index.close();
  }
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

/** Lists sessions that cannot be found because none of their messages was understood. */
async function tellWordless(index: SearchIndex, place: FoundStore, io: Io): Promise<void> {
  const store = new Store(nodeHost, { ...place, onWarning: () => {} });
  for (const { id, size } of await index.wordless(place, WORDLESS_MAX)) {
    const warn = (why: string) => io.err(`warning: ${safeLine(id)} is not searched: ${why}`);
    if (size > WORDLESS_BYTES_MAX) {
      const bytes = `${Math.round(size / 1e6)} MB`;
      const name = safeLine(nameIn(place.dialect, id));
      warn(`no message was found in its ${bytes}; verbatim doctor ${name} reports why`);
      continue;
    }
    try {
      const found = await notUnderstood(nodeHost, store.session(id));
      if (found) warn(notUnderstoodText(found));
    } catch (cause) {
      if (!(cause instanceof VerbatimError)) throw cause; // Unreadable: reported when it was indexed.
    }
  }
}

async function printHits(
  { index, sessions }: { readonly index: SearchIndex; readonly sessions: HitSessions },
  query: SearchQuery,
  places: readonly FoundStore[],
  { limit, isJson }: SearchAsked,
  io: Io,
): Promise<number> {
  let found = 0;
  let after: number | null = null;
  for (;;) {
    const room = Math.min(PAGE, limit - found);
    const options: FindOptions<FoundStore> = { places, after, limit: room, examinedMax: EXAMINED };
    const { hits, next }: HitPage = await searchPage(nodeHost, index, query, options);
    const texts: string[] = [];
    for (const hit of hits) {
      const about = await sessions.of(hit);
      texts.push(isJson ? jsonLine(hitJson(hit, about)) : hitText(hit, about, io));
    }
    if (texts.length > 0) await io.print(texts.join(""));
    found += hits.length;
    if (next === null || found >= limit) {
      if (next !== null && !isJson) io.err(`there may be more; --limit ${2 * limit} shows them`);
      return found;
    }
    after = next;
  }
}

/** What a hit's session is called: its agent, project and title. */
interface AboutSession {
  readonly agent: string;
  readonly project: string | null;
  readonly title: string | null;
}

/** Looks each session up once. */
class HitSessions {
  readonly #known = new Map<string, AboutSession>();
  #catalog: Promise<Catalog> | null = null;

  async of({ place, id }: SearchHit): Promise<AboutSession> {
    const { dialect, root } = place;
    const key = `${dialect}\0${root}\0${id}`;
    const known = this.#known.get(key);
    if (known) return known;
    this.#catalog ??= Catalog.open(catalogPath());
    const row = await knownRowOf(nodeHost, await this.#catalog, place, id);
    const { agent = null, project = null, title = null } = row ?? {};
    const about = {
      agent: agentOf({ dialect, agent }),
      project: projectOf({ dialect, root, agent, project }),
      title,
    };
    this.#known.set(key, about);
    return about;
  }

  async close(): Promise<void> {
    (await this.#catalog)?.close();
  }
}

function hitJson(hit: SearchHit, { agent, project, title }: AboutSession) {
  const { place, id, start, end, role, at, tools, snippet } = hit;
  const { dialect, root } = place;
  const session = { session: id, dialect, root, agent, project, title };
  return { ...session, start, end, role, at, tools, snippet };
}

function hitText(
  { id, role, at, tools, snippet }: SearchHit,
  { agent, project, title }: AboutSession,
  io: Io,
): string {
  const whose = [agent, project && basename(project), title].filter(Boolean).join(" · ");
  const about = [role, tools.length > 0 ? tools.join(", ") : null, at].filter(Boolean).join("  ");
  const head = safeLine(`${id}  ${about}`.trimEnd());
  const line = snippet.map((piece) => pieceText(piece, io)).join("");
  const session = safeLine(whose);
  const isCut = io.isTerminal && widthOf(session) > io.columns - 2;
  const shown = isCut ? cutTo(session, io.columns - 2) : session;
  return `${io.hasColour ? bold(head) : head}\n  ${shown}\n    ${line}\n`;
}

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
