/** Address: the route in the browser's address bar, and navigation. */

import { signal } from "@preact/signals";
import { formatRoute, parseRoute, type Route } from "./route.ts";

export const route = signal<Route>(parseRoute(location.hash));

addEventListener("hashchange", () => {
  route.value = parseRoute(location.hash);
});

/** Navigates to a route; `isSame` replaces the current one, without a step in the history. */
export function go(to: Route, isSame = false): void {
  const hash = formatRoute(to);
  if (hash === formatRoute(route.peek())) return;
  if (isSame) history.replaceState(null, "", hash);
  else history.pushState(null, "", hash);
  route.value = to;
}

addEventListener("popstate", () => {
  route.value = parseRoute(location.hash);
});
