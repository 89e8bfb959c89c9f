/**
 * Search tool: entries of the sessions that have certain words, the latest first.
 *
 * The index is updated first, within a time limit: a store that was never searched may take longer,
 * and then the result says that it is not complete.
 */

import { catalogPath, searchPathNextTo } from "../../base/node-paths.ts";
import { againIfDamaged, SearchIndex } from "../../catalog/search/search-index.ts";
import type { Of } from "../../client/schema.ts";
import { findStores } from "../../listing/find-stores.ts";
import { freshenIndex, HURRIED } from "../../listing/indexing.ts";
import { type SearchHit, searchPage, understandQuery } from "../../listing/searching.ts";
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
  const { host, onWarning } = parts;
  const onFailure = (id: string) => onWarning(`${id} could not be read and searched`);
  const query = understandQuery(text, parts.nowMs());
  const after = cursor === undefined ? null : entryIn(cursor);
  const places = findStores(parts.where);
  const options = { places, after, limit, examinedMax: EXAMINED_MAX };
  const index = await SearchIndex.open(searchPathNextTo(catalogPath()));
  try {
    return await againIfDamaged(async () => {
      const either = AbortSignal.any([signal, AbortSignal.timeout(FRESHEN_MS_MAX)]);
      const update = { pace: HURRIED, signal: either, onFailure, onWarning };
      // Later pages are of the same moment: only the first one updates the index.
      const isComplete = after !== null || (await freshenIndex(host, index, places, update));
      signal.throwIfAborted();
      const { hits, next } = await searchPage(host, index, query, options);
      return { hits: hits.map(told), next: next === null ? null : String(next), isComplete };
    });
  } finally {
    index.close();
  }
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
