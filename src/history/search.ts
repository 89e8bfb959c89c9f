/** Search: entries of all sessions with certain words, as they are in their logs now. */

import type { Host } from "../core/base/host.ts";
import { catalogPath, searchPathNextTo } from "../core/base/node-paths.ts";
import type { Role } from "../core/model/entry.ts";
import { labelOf } from "../dialects/registry.ts";
import { Catalog } from "../sessions/catalog/catalog.ts";
import type { FoundStore } from "../sessions/list/find-stores.ts";
import { knownRowOf } from "../sessions/list/listing-row.ts";
import type { FindEntriesOptions } from "../sessions/search/find-entries.ts";
import { freshenIndex, HURRIED } from "../sessions/search/freshen-index.ts";
import type { QueryFilter } from "../sessions/search/query.ts";
import { againIfDamaged, SearchIndex } from "../sessions/search/search-index.ts";
import {
  type HitPage,
  type SearchHit,
  searchPage,
  understandQuery,
} from "../sessions/search/search-page.ts";
import { listedMarks } from "../sessions/search/session-marks.ts";
import { endOf, type HistorySearchOptions, timeOf } from "./options.ts";
import type { Places } from "./places.ts";
import { sessionChoice } from "./session-list.ts";

/** What the session of a hit is called. */
export interface SessionNames {
  readonly program: string | null;
  readonly agent: string | null;
  readonly project: string | null;
  readonly title: string | null;
}

/** An entry that was found, and whose it is. */
export interface EntryFound extends SessionNames {
  readonly session: string;
  readonly dialect: string;
  readonly root: string;
  /** Where its line is in the log. */
  readonly start: number;
  readonly end: number;
  readonly role: Role | null;
  readonly at: string | null;
  readonly tools: readonly string[];
  /** A note of the user on the session, or on the entry at `start`, has the words. */
  readonly isNote?: true;
  /** Text around the words. */
  readonly snippet: readonly { readonly text: string; readonly isHit: boolean }[];
}

/** Entries per page. */
const PAGE = 50;
/** Entries examined before the signal is looked at. */
const EXAMINED = 50_000;

export async function* searchEntries(
  places: Places,
  text: string,
  options: HistorySearchOptions,
): AsyncGenerator<EntryFound> {
  const { limit = Number.POSITIVE_INFINITY, signal, since, until, ...choice } = options;
  const words = understandQuery(text, Date.now());
  const query = { ...words, filters: [...words.filters, ...times(since, until)] };
  const { stores, isChosen } = await sessionChoice(places, choice);
  const index = await SearchIndex.open(searchPathNextTo(catalogPath()));
  const names = new KnownNames(places.host);
  try {
    await againIfDamaged(() => update(places, index, stores, options));
    const { host, onWarning } = places;
    const marks = await listedMarks(host, query, stores, {
      onWarning,
      ...(signal && { signal }),
    });
    let after: number | null = null;
    for (let count = 0; count < limit; ) {
      signal?.throwIfAborted();
      const room = Math.min(PAGE, limit - count);
      const asked: FindEntriesOptions<FoundStore> = {
        places: stores,
        isWanted: isChosen,
        marks,
        after,
        limit: room,
        examinedMax: EXAMINED,
      };
      const { hits, next }: HitPage = await searchPage(places.host, index, query, asked);
      for (const hit of hits) yield entryFound(hit, await names.of(hit));
      if (next === null) return;
      count += hits.length;
      after = next;
    }
  } finally {
    await names.close();
    index.close();
  }
}

function times(since: string | undefined, until: string | undefined): QueryFilter[] {
  const filter = (by: "since" | "until", ms: number): QueryFilter => {
    return { by, value: new Date(ms).toISOString(), isNot: false };
  };
  return [
    ...(since === undefined ? [] : [filter("since", timeOf(since))]),
    ...(until === undefined ? [] : [filter("until", endOf(until))]),
  ];
}

async function update(
  { host, onWarning }: Places,
  index: SearchIndex,
  stores: readonly FoundStore[],
  { signal, onProgress = () => {} }: HistorySearchOptions,
): Promise<void> {
  let unreadable = 0;
  await freshenIndex(host, index, stores, {
    pace: HURRIED,
    onProgress: (done, total) => onProgress(done, total),
    onFailure: () => {
      unreadable++;
    },
    onWarning,
    ...(signal && { signal }),
  });
  signal?.throwIfAborted();
  if (unreadable > 0) onWarning(`${unreadable} sessions could not be read, and are not searched`);
}

export function entryFound(hit: SearchHit, names: SessionNames): EntryFound {
  const { place, id, start, end, role, at, tools, snippet } = hit;
  const { dialect, root } = place;
  const isNote = hit.note !== null && { isNote: true as const };
  return { session: id, dialect, root, ...names, start, end, role, at, tools, ...isNote, snippet };
}

/** Looks each session up once. */
export class KnownNames {
  readonly #host: Host;
  readonly #known = new Map<string, SessionNames>();
  #catalog: Promise<Catalog> | null = null;

  constructor(host: Host) {
    this.#host = host;
  }

  async of({ place, id }: SearchHit): Promise<SessionNames> {
    const { dialect, root } = place;
    const key = `${dialect}\0${root}\0${id}`;
    const known = this.#known.get(key);
    if (known) return known;
    this.#catalog ??= Catalog.open(catalogPath());
    const row = await knownRowOf(this.#host, await this.#catalog, place, id);
    const { agent = null, project = null, title = null } = row ?? {};
    const names = {
      program: labelOf(dialect),
      agent,
      project,
      title,
    };
    this.#known.set(key, names);
    return names;
  }

  async close(): Promise<void> {
    (await this.#catalog)?.close();
  }
}
