/** Address: the route in the browser's address bar, and navigation. */

import { signal } from "@preact/signals";
import { formatRoute, NO_FILTER, type PageRoute, parseRoute } from "./route.ts";

export const route = signal<PageRoute>(parseRoute(location.hash));

/** The list as it was last shown, with its filters: what "all sessions" leads back to. */
export const listHref = signal(formatRoute({ page: "sessions", filter: NO_FILTER }));

function show(shown: PageRoute): void {
  if (shown.page === "sessions") listHref.value = formatRoute(shown);
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
