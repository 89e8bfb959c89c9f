/** Session steps: from an open session to the next or the previous one of its list. */

import { go, listFilter } from "../address.ts";
import { parseRoute } from "../route.ts";
import { client } from "../server.ts";
import { listStoreFor } from "./list-store.ts";

/** Sessions with hits, where a search is shown beside the session. */
const HITS = ".list-column .hit-group h2 a";

export async function stepSession(id: string, by: 1 | -1): Promise<void> {
  const links = [...document.querySelectorAll<HTMLAnchorElement>(HITS)];
  const hits = links.map(({ hash }) => parseRoute(hash));
  const at = hits.findIndex((hit) => hit.page === "session" && hit.id === id);
  const store = listStoreFor(client.peek(), listFilter.peek());
  const to = hits.length > 0 ? hits[at + by] : sessionRoute(await store.neighbour(id, by));
  if (to !== undefined) go(to);
}

function sessionRoute(id: string | undefined) {
  return id === undefined ? undefined : ({ page: "session", id, at: null, q: "", f: "" } as const);
}
