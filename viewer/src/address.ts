/** Address: the route that the browser shows, and going to another. */

import { signal } from "@preact/signals";
import { formatRoute, parseRoute, type Route } from "./route.ts";

export const route = signal<Route>(parseRoute(location.hash));

addEventListener("hashchange", () => {
  route.value = parseRoute(location.hash);
});

/** Goes to a route; `isSame` for one that is the same place said more exactly: no step back. */
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
