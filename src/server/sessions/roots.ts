/**
 * Roots: which stores are served, and how a URL names a session.
 *
 * 3f2a91c0b7d4e586.aGVsbG8tMTczOTAxMjYzMA: a hash of the store, then the session's id in base64url.
 *
 * - A URL names a store by a hash of its dialect and directory, so it cannot name a directory that
 *   is not configured.
 * - A session's id is checked by its dialect and has one spelling. An invalid id, or one behind a
 *   symbolic link, is not found. (Links: core/base/node-files.ts.)
 * - An id stays the same while the session stays in its place.
 */

import { createHash } from "node:crypto";
import { resolve as resolvePath } from "node:path";
import type { SessionItem } from "../../client/session-shapes.ts";
import { VerbatimError } from "../../core/base/errors.ts";
import { isWritten, programOf, READ_DIALECT_NAMES } from "../../dialects/registry.ts";
import { realRoot } from "../../sessions/catalog/catalog.ts";
import { lookedInFor } from "../../sessions/list/agents.ts";
import {
  type FoundStore,
  isProgramRoot,
  isStore,
  type StoreLookup,
  statOf,
  storesAt,
} from "../../sessions/list/find-stores.ts";
import type { Admission } from "../auth/gate.ts";
import { hasScope, seesAllBelow } from "../auth/token-authority.ts";
import type { ReceivedStore } from "../received/received-sessions.ts";

/** Where to look: these directories, or stores found from the current and home directories. */
export type RootChoice = readonly string[] | "found";

export interface ServedStore extends FoundStore {
  readonly dialect: SessionItem["dialect"];
  /** The store's name in URLs. */
  readonly key: string;
  /** Of received sessions: what the paths of their streams begin with. */
  readonly path?: string;
}

/** Whether the sender of a request may see the sessions of a store, and which of them. */
export interface Sees {
  (store: Pick<ServedStore, "path">): boolean;
  /** Not null: only sessions of this project. */
  readonly project: string | null;
  /** Only sums: no titles and no prompts. */
  readonly isSumsOnly: boolean;
}

/** Without a token, or with one for every path and project: all of them. */
export function seenBy(pass: Pick<Admission, "paths" | "entry"> | null): Sees {
  const paths = pass?.paths ?? null;
  const seesStore = ({ path }: Pick<ServedStore, "path">) => {
    return paths === null || (path !== undefined && seesAllBelow(paths, path));
  };
  const project = pass?.entry.project ?? null;
  const isSumsOnly = pass !== null && !hasScope(pass.entry.scopes, "read");
  return Object.assign(seesStore, { project, isSumsOnly });
}

/** Of the owner of the server. */
export const SEES_ALL: Sees = seenBy(null);

const KEY_CHARS = 16;
const URL_ID = /^([0-9a-f]{16})\.([A-Za-z0-9_-]+)$/;
const utf8 = new TextDecoder("utf-8", { fatal: true, ignoreBOM: true });

export interface MoreRoots {
  /** Additional directories, at this moment. */
  readonly more?: (() => readonly string[]) | undefined;
  /** Stores of received sessions, at this moment. */
  readonly received?: (() => readonly ReceivedStore[]) | undefined;
}

export class SessionRoots {
  readonly #roots: RootChoice;
  readonly #cwd: string;
  readonly #more: () => readonly string[];
  readonly #received: () => readonly ReceivedStore[];
  /** Stores that were found in the given roots, by key. */
  readonly #known = new Map<string, ServedStore>();

  /** Throws IO_ERROR for a root that is not a directory. */
  constructor(roots: RootChoice, cwd: string, { more, received }: MoreRoots = {}) {
    this.#more = more ?? (() => []);
    this.#received = received ?? (() => []);
    this.#roots = roots === "found" ? roots : roots.map((root) => resolvePath(cwd, root));
    this.#cwd = cwd;
    if (roots !== "found") for (const root of roots) storesAt({ cwd, root });
  }

  /** The existing stores, by key: a project can get its first session any time. */
  stores(): ServedStore[] {
    const roots = this.#roots;
    const cwd = this.#cwd;
    const inside = (root: string) => {
      return statOf(root)?.isDirectory() ? storesAt({ cwd, root }).flatMap(servedStoresOf) : [];
    };
    const own =
      roots === "found" ? storesAt({ cwd }).flatMap(servedStoresOf) : roots.flatMap(inside);
    if (roots !== "found") for (const store of own) this.#known.set(store.key, store);
    const received = this.#received().map((store) => ({ ...store, key: keyOf(store) }));
    const found = [...own, ...this.#more().flatMap(inside), ...received] as ServedStore[];
    const byKey = new Map<string, ServedStore>();
    for (const store of found) {
      if (!byKey.has(store.key)) byKey.set(store.key, store);
    }
    return [...byKey.values()].sort((a, b) => (a.key < b.key ? -1 : 1));
  }

  /** Where sessions were looked for, for a user who finds none. */
  get lookedIn(): ReturnType<typeof lookedInFor> {
    const roots = this.#roots;
    return roots === "found" ? lookedInFor() : [{ label: "Sessions of any agent", roots }];
  }

  /** Where to look for sessions that are gone, perhaps with their store. */
  get wheres(): readonly StoreLookup[] {
    const cwd = this.#cwd;
    const roots = this.#roots;
    if (roots === "found") return [{ cwd }, ...this.#more().map((root) => ({ cwd, root }))];
    return [...roots, ...this.#more()].map((root) => ({ cwd, root }));
  }

  /**
   * The store and the id that a URL names, whether the session exists or not. `own`: a store that
   * the server may not have found yet.
   */
  resolve(
    urlId: string,
    sees: Sees,
    own?: ServedStore,
  ): { readonly store: ServedStore; readonly id: string } {
    const [, key, encoded = ""] = URL_ID.exec(urlId) ?? [];
    const store = key === undefined || key === own?.key ? own : this.#store(key);
    const id = decoded(encoded);
    if (store === undefined || id === null || urlIdOf(store, id) !== urlId) throw sessionNotFound();
    if (!sees(store)) throw sessionNotFound();
    return { store, id };
  }

  /** Without looking into all roots for each request: what was found is only looked at again. */
  #store(key: string): ServedStore | undefined {
    const known = this.#known.get(key);
    if (known && isStore(known.dialect, known.root) && keyOf(known) === key) return known;
    return this.stores().find((each) => each.key === key);
  }
}

/** Dialects whose sessions are served: all but streams, which are below /v1/stream. */
export const SERVED_DIALECTS = READ_DIALECT_NAMES.filter(isServed);

function isServed(dialect: string): boolean {
  return isWritten(dialect) || programOf(dialect) !== null;
}

/**
 * Whether sessions may be among these that the user did not name, or that belong to another
 * program. Decided by names alone: a program can create its directory while the server runs.
 */
export function arePrivate(roots: RootChoice, cwd: string): boolean {
  if (roots === "found") return true;
  const programs = READ_DIALECT_NAMES.filter(programOf);
  return roots.some((root) => programs.some((name) => isProgramRoot(name, resolvePath(cwd, root))));
}

/** The store as it is served; none for streams, which are served below /v1/stream. */
export function servedStoresOf(store: FoundStore): ServedStore[] {
  const { dialect, root } = store;
  return isServed(dialect) ? [{ dialect, root, key: keyOf(store) }] : [];
}

export function urlIdOf(store: Pick<ServedStore, "key">, id: string): string {
  return `${store.key}.${Buffer.from(id).toString("base64url")}`;
}

export function sessionNotFound(): VerbatimError {
  return new VerbatimError(
    "SESSION_NOT_FOUND",
    "there is no such session; GET /v1/sessions lists all sessions",
    { session: "" },
  );
}

/** Of received sessions it is the same on all servers that share a database. */
export function keyOf({ dialect, root, path }: FoundStore & Pick<ServedStore, "path">): string {
  const hash = createHash("sha256").update(`${dialect}\n${path ?? realRoot(root)}`);
  return hash.digest("hex").slice(0, KEY_CHARS);
}

function decoded(encoded: string): string | null {
  try {
    return utf8.decode(Buffer.from(encoded, "base64url"));
  } catch {
    return null;
  }
}
