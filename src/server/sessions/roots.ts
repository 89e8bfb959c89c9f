/**
 * Roots: which stores are served, and how a URL names a session of one.
 *
 *   3f2a91c0b7d4e586.aGVsbG8tMTczOTAxMjYzMA
 *   the store        the session's own id, in base64url
 *
 * RT1  A URL names a store by a hash of what it is and where. It can name no directory that was not
 *      configured, since nothing of a URL is ever made into a root.
 * RT2  A session's id is taken as its dialect takes ids, one spelling of each: what is no id, or
 *      could only be reached through a link, is not there. (Links: base/node-files.ts, N1.)
 * RT3  An id stays the same for as long as the session stays where it is.
 */

import { createHash } from "node:crypto";
import { resolve as resolvePath } from "node:path";
import { VerbatimError } from "../../base/errors.ts";
import { realRoot } from "../../catalog/catalog.ts";
import { type FoundStore, findStores, statOf, type Where } from "../../listing/find-stores.ts";

/** Where to look: these directories, or what is found from the current one and the home. */
export type RootChoice = readonly string[] | "found";

export interface ServedStore extends FoundStore {
  /** What URLs call it. */
  readonly key: string;
}

const KEY_CHARS = 16;
const URL_ID = /^([0-9a-f]{16})\.([A-Za-z0-9_-]+)$/;
const utf8 = new TextDecoder("utf-8", { fatal: true, ignoreBOM: true });

export class SessionRoots {
  readonly #roots: RootChoice;
  readonly #cwd: string;
  readonly #more: () => readonly string[];

  /** Refuses a root that is no directory with IO_ERROR. `more` are served besides. */
  constructor(roots: RootChoice, cwd: string, more: () => readonly string[] = () => []) {
    this.#more = more;
    this.#roots = roots === "found" ? roots : roots.map((root) => resolvePath(cwd, root));
    this.#cwd = cwd;
    if (roots !== "found") for (const root of roots) findStores({ cwd, root });
  }

  /** The stores that are there now, by their keys: a project gets its first session any time. */
  stores(): ServedStore[] {
    const roots = this.#roots;
    const cwd = this.#cwd;
    const inside = (root: string) => {
      return statOf(root)?.isDirectory() ? sessionStores({ cwd, root }) : [];
    };
    const own = roots === "found" ? sessionStores({ cwd }) : roots.flatMap(inside);
    const found = [...own, ...this.#more().flatMap(inside)];
    const byKey = new Map<string, ServedStore>();
    for (const store of found) {
      const key = keyOf(store);
      if (!byKey.has(key)) byKey.set(key, { ...store, key });
    }
    return [...byKey.values()].sort((a, b) => (a.key < b.key ? -1 : 1));
  }

  /** Where to look for sessions that are gone, perhaps with their store. */
  get wheres(): readonly Where[] {
    const cwd = this.#cwd;
    const roots = this.#roots;
    if (roots === "found") return [{ cwd }, ...this.#more().map((root) => ({ cwd, root }))];
    return [...roots, ...this.#more()].map((root) => ({ cwd, root }));
  }

  /** The store and the id that a URL names, whether or not the session is there. */
  resolve(urlId: string): { readonly store: ServedStore; readonly id: string } {
    const [, key, encoded = ""] = URL_ID.exec(urlId) ?? [];
    const store = key === undefined ? undefined : this.stores().find((each) => each.key === key);
    const id = decoded(encoded);
    if (store === undefined || id === null || urlIdOf(store, id) !== urlId) throw notFound();
    return { store, id };
  }
}

export function servedStore(store: FoundStore): ServedStore {
  return { ...store, key: keyOf(store) };
}

export function urlIdOf(store: Pick<ServedStore, "key">, id: string): string {
  return `${store.key}.${Buffer.from(id).toString("base64url")}`;
}

export function notFound(): VerbatimError {
  return new VerbatimError(
    "SESSION_NOT_FOUND",
    "there is no such session here; GET /v1/sessions lists those that are",
    { session: "" },
  );
}

function keyOf({ dialect, root }: FoundStore): string {
  const hash = createHash("sha256").update(`${dialect}\n${realRoot(root)}`);
  return hash.digest("hex").slice(0, KEY_CHARS);
}

function decoded(encoded: string): string | null {
  try {
    return utf8.decode(Buffer.from(encoded, "base64url"));
  } catch {
    return null;
  }
}

/** Streams are served as such, below /v1/stream. */
function sessionStores(where: Where): FoundStore[] {
  return findStores(where).filter(({ dialect }) => dialect !== "streams");
}
