/**
 * Route: parses the address of a page, and makes it.
 *
 *     #/?q=…&agent=…&project=…&sort=…   the sessions      #/s/ID?at=OFFSET&q=…&f=…   one
 *     #/usage                            usage
 *     #/insights?agent=…&tool=…&figure=… insights, or the sessions behind a figure of them
 *     #/copy                             a disclosed copy  #/share/TOKEN              a shared one
 *
 * VR1  Any text is some route, and a route is read back from its address.
 */

/** What the list shows, and how; "" for any, or for the default. */
export interface ListQuery {
  readonly q: string;
  readonly agent: string;
  readonly project: string;
  readonly model: string;
  readonly verdict: string;
  readonly machine: string;
  readonly user: string;
  readonly tag: string;
  /** "true": only those with the user's star. */
  readonly starred: string;
  readonly status: string;
  /** "true": only those that are being written. */
  readonly live: string;
  /** Days back from now. */
  readonly since: string;
  /** Default: by time. */
  readonly sort: string;
  /** Which entries a search finds. */
  readonly kind: string;
  /** "all": also sessions that another one began. */
  readonly subagents: string;
}

export type PageRoute =
  | { readonly page: "sessions"; readonly filter: ListQuery }
  | {
      readonly page: "session";
      readonly id: string;
      readonly at: number | null;
      readonly q: string;
      /** The kinds of entries that are shown; "" for all (session/filter.ts). */
      readonly f: string;
    }
  | { readonly page: "usage" }
  | { readonly page: "insights"; readonly query: InsightQuery }
  | { readonly page: "copy" }
  | { readonly page: "share"; readonly token: string }
  | { readonly page: "unknown" };

/** Which insights are shown; "" for any. */
export const NO_INSIGHT = {
  /** Up to now; default: all. */
  days: "",
  agent: "",
  project: "",
  machine: "",
  user: "",
  /** Of the sessions behind a figure. */
  figure: "",
  since: "",
  until: "",
  tool: "",
  file: "",
  hour: "",
  model: "",
};
export type InsightQuery = Readonly<typeof NO_INSIGHT>;

export const NO_FILTER: ListQuery = {
  q: "",
  agent: "",
  project: "",
  model: "",
  verdict: "",
  machine: "",
  user: "",
  tag: "",
  starred: "",
  status: "",
  live: "",
  since: "",
  sort: "",
  kind: "",
  subagents: "",
};

export function parseRoute(hash: string): PageRoute {
  const [path = "", query = ""] = split(hash.replace(/^#/, ""), "?");
  const values = new URLSearchParams(query);
  const text = (name: string) => values.get(name) ?? "";
  if (path === "" || path === "/") {
    return { page: "sessions", filter: textsIn(NO_FILTER, values) };
  }
  if (path === "/insights") return { page: "insights", query: textsIn(NO_INSIGHT, values) };
  if (path === "/usage") return { page: "usage" };
  if (path === "/copy") return { page: "copy" };
  const token = /^\/share\/([\w-]+)$/.exec(path)?.[1];
  if (token !== undefined) return { page: "share", token };
  const id = decoded(/^\/s\/([^/]+)$/.exec(path)?.[1] ?? "");
  if (id === "") return { page: "unknown" };
  const at = /^\d{1,15}$/.test(text("at")) ? Number(text("at")) : null;
  return { page: "session", id, at, q: text("q"), f: text("f") };
}

export function formatRoute(route: PageRoute): string {
  switch (route.page) {
    case "sessions":
      return `#/${queryOf({ ...route.filter })}`;
    case "session": {
      const at = route.at === null ? "" : String(route.at);
      return `#/s/${encodeURIComponent(route.id)}${queryOf({ at, q: route.q, f: route.f })}`;
    }
    case "insights":
      return `#/insights${queryOf(route.query)}`;
    case "usage":
    case "copy":
      return `#/${route.page}`;
    case "share":
      return `#/share/${route.token}`;
    case "unknown":
      return "#/";
  }
}

/** The address of a session, or of an entry in it. */
export function sessionHref(id: string, at: number | null = null, q = "", f = ""): string {
  return formatRoute({ page: "session", id, at, q, f });
}

function textsIn<T extends object>(names: T, values: URLSearchParams): T {
  const texts = Object.keys(names).map((name) => [name, values.get(name) ?? ""]);
  return Object.fromEntries(texts) as T;
}

function queryOf(values: Readonly<Record<string, string>>): string {
  const query = new URLSearchParams(Object.entries(values).filter(([, value]) => value !== ""));
  return query.size === 0 ? "" : `?${query}`;
}

function split(text: string, mark: string): string[] {
  const at = text.indexOf(mark);
  return at < 0 ? [text] : [text.slice(0, at), text.slice(at + 1)];
}

function decoded(text: string): string {
  try {
    return decodeURIComponent(text);
  } catch {
    return ""; // Not one of our addresses.
  }
}
