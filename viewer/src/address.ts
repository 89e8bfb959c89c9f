/** Address: the route in the browser's address bar, and navigation. */

import { computed, signal } from "@preact/signals";
import { formatRoute, type ListQuery, NO_FILTER, type PageRoute, parseRoute } from "./route.ts";

export const route = signal<PageRoute>(parseRoute(location.hash));

/** The filter of the list that is shown beside a session, and that "all sessions" leads back to. */
export const listFilter = signal(NO_FILTER);
export const listHref = computed(() => formatRoute({ page: "sessions", filter: listFilter.value }));

function show(shown: PageRoute): void {
  if (shown.page === "sessions") listFilter.value = shown.filter;
  route.value = shown;
}

show(route.peek());
addEventListener("hashchange", () => show(parseRoute(location.hash)));
addEventListener("popstate", () => show(parseRoute(location.hash)));

/** Navigates to a route; `isSame` replaces the current one, without a step in the history. */
export function go(to: PageRoute, isSame = false): void {
  const hash = formatRoute(to);
  if (hash === formatRoute(route.peek())) return;
  if (isSame) history.replaceState(null, "", hash);
  else history.pushState(null, "", hash);
  show(to);
}

/** Changes what the list shows; beside an open session, which stays. */
export function filterList(filter: ListQuery, isSame = false): void {
  if (route.peek().page === "session") listFilter.value = filter;
  else go({ page: "sessions", filter }, isSame);
}
