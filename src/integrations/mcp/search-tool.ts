/**
 * Search tool: entries of the sessions that have certain words, the latest first.
 *
 * The index is updated first, within a time limit: a store that was never searched may take longer,
 * and then the result says that it is not complete.
 */

import { catalogPath, searchPathNextTo } from "../../base/node-paths.ts";
import { IndexBegunAnew, SearchIndex } from "../../catalog/search/search-index.ts";
import type { Of } from "../../client/schema.ts";
import { type FoundStore, findStores } from "../../listing/find-stores.ts";
import { freshenIndex, HURRIED } from "../../listing/indexing.ts";
import { type SearchHit, searchPage, understandQuery } from "../../listing/searching.ts";
import { Store } from "../../store/store.ts";
import type { SEARCH_ARGUMENTS } from "./arguments.ts";
import { badCursor, type McpParts } from "./parts.ts";

const LIMIT_DEFAULT = 20;
/** Entries examined per result. */
const EXAMINED_MAX = 50_000;
/** Maximum wait for the index before answering with what it has. */
const FRESHEN_MS_MAX = 20_000;

export async function searchTool(
  parts: McpParts,
  { query: text, limit = LIMIT_DEFAULT, cursor }: Of<typeof SEARCH_ARGUMENTS>,
  signal: AbortSignal,
): Promise<object> {
  const query = understandQuery(text, parts.nowMs());
  const after = cursor === undefined ? null : entryIn(cursor);
  const places = findStores(parts.where);
  const options = { places, after, limit, examinedMax: EXAMINED_MAX };
  const index = await SearchIndex.open(searchPathNextTo(catalogPath()));
  const search = async () => {
    // Later pages are of the same moment: only the first one updates the index.
    const isComplete = after !== null || (await freshen(index, places, parts, signal));
    signal.throwIfAborted();
    const { hits, next } = await searchPage(parts.host, index, query, options);
    return { hits: hits.map(told), next: next === null ? null : String(next), isComplete };
  };
  try {
    return await search().catch((cause: unknown) => {
      if (cause instanceof IndexBegunAnew) return search(); // It was damaged, and is empty now.
      throw cause;
    });
  } finally {
    index.close();
  }
}

/** Whether the index has everything in the stores now. */
async function freshen(
  index: SearchIndex,
  places: readonly FoundStore[],
  { host, onWarning }: McpParts,
  signal: AbortSignal,
): Promise<boolean> {
  const either = AbortSignal.any([signal, AbortSignal.timeout(FRESHEN_MS_MAX)]);
  const onFailure = (id: string) => onWarning(`${id} could not be read and searched`);
  const stores = places.map((place) => new Store(host, { ...place, onWarning }));
  return freshenIndex(host, index, stores, { pace: HURRIED, signal: either, onFailure });
}

/** Hits are between «guillemets». */
function told({ id, place, start, end, role, at, tools, snippet }: SearchHit): object {
  const text = snippet.map((piece) => (piece.isHit ? `«${piece.text}»` : piece.text)).join("");
  return { session: id, dialect: place.dialect, start, end, role, at, tools, snippet: text };
}

function entryIn(cursor: string): number {
  const entry = /^\d{1,15}$/.test(cursor) ? Number(cursor) : 0;
  if (entry > 0) return entry;
  throw badCursor();
}
