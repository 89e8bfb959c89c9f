/** Session marks: the tags and stars that the filters of a query ask for. */

import type { Host } from "../../core/base/host.ts";
import { parseRow } from "../../dialects/session-row.ts";
import type { FoundStore } from "../list/find-stores.ts";
import { listPage } from "../list/list-page.ts";
import type { MarksOf, SessionMarks } from "./find-entries.ts";
import type { SearchQuery } from "./query.ts";

export function needsMarks({ filters }: SearchQuery): boolean {
  return filters.some(({ by }) => by === "tag" || by === "starred");
}

/** By the sessions as they are listed now; undefined if the query does not ask. */
export async function listedMarks(
  host: Host,
  query: SearchQuery,
  places: readonly FoundStore[],
  options: { readonly signal?: AbortSignal; readonly onWarning: (warning: string) => void },
): Promise<MarksOf | undefined> {
  if (!needsMarks(query)) return undefined;
  const page = await listPage(places, { host, limit: Number.POSITIVE_INFINITY, ...options });
  const marks = new MarkTable();
  for (const { place, id, line } of page?.sessions ?? []) marks.add(place, parseRow(line), id);
  return marks.of;
}

export class MarkTable {
  readonly #marks = new Map<string, SessionMarks>();

  add({ dialect, root }: FoundStore, { tags, starred = false }: SessionMarks, id: string): void {
    if (tags.length > 0 || starred)
      this.#marks.set(`${dialect}\0${root}\0${id}`, { tags, starred });
  }

  readonly of: MarksOf = ({ dialect, root }, id) => this.#marks.get(`${dialect}\0${root}\0${id}`);
}
