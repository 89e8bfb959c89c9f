/**
 * Find session: which session a user means by an id, a prefix of one, or a path.
 *
 *     an id      exactly, in the stores that are found from the current directory
 *     a path     of a log, or of the directory of a rye thread or an Entire session
 *     a prefix   of an id, or of its last part, if only one session has it
 *
 * - Reads directories, and of logs at most the first and last lines of one whose path was given.
 * - No link is followed below a store's root.
 * - An ambiguous name is never guessed: SESSION_NOT_FOUND, with the candidates. But what a store of
 *   ours recorded of an agent's session is preferred to the agent's own file of the same name.
 * - The agent's own file is preferred to the record of its hooks, which says less; but callers who
 *   need a signed session (`signed`) get the record, if it has signatures.
 */

import { basename, dirname, join } from "node:path";
import { VerbatimError } from "../../core/base/errors.ts";
import type { Host } from "../../core/base/host.ts";
import { dialectNamed } from "../../dialects/all.ts";
import { iterateLogs, type Unreadable } from "../../dialects/find.ts";
import { sidecarOf } from "../../trust/session-log.ts";
import { type FoundStore, findStores, type StoreLookups, statOf } from "./find-stores.ts";
import { sessionAtPath } from "./session-at-path.ts";
import { type FoundSession, hasSession, sessionIn } from "./session-place.ts";
import { programSessions } from "./waiting-hooks.ts";

/** Which file of a session is meant, if a program's and the record of its hooks are there. */
export type Preference = "fuller" | "signed";

const CANDIDATES_LISTED_MAX = 10;
const ROOTS_LISTED_MAX = 3;
/** Means the session that changed last, unless a session has this id. */
const LATEST = "last";
/** The one session that `name` means; refuses with SESSION_NOT_FOUND. */
export async function findSession(
  host: Host,
  name: string,
  where: StoreLookups,
  preference: Preference = "fuller",
): Promise<FoundSession> {
  const stores = await findStores(where);
  const exact = await sessionsOf(host, stores, name);
  if (exact.length > 0) return theOnly(exact, name, stores, preference);
  for (const lookup of [where].flat()) {
    const atPath = await sessionAtPath(host, name, lookup);
    if (atPath) return atPath;
  }
  const latest = name === LATEST ? latestOf(stores) : null;
  if (name === LATEST && latest === null && stores.every((store) => idsIn(store).length === 0)) {
    throw new VerbatimError("SESSION_NOT_FOUND", NO_SESSIONS, { session: name });
  }
  if (latest) return latestFile(latest, stores, preference);
  return theOnly(beginningWith(stores, name), name, stores, preference);
}

/** The preferred file of the session that changed last: the record changes last of all. */
function latestFile(
  latest: FoundSession,
  stores: readonly FoundStore[],
  preference: Preference,
): FoundSession {
  const { dialect, id } = latest;
  const of = id === null ? null : dialectNamed(dialect).naming.hooksOf?.(id);
  if (!of) return latest;
  const matches = beginningWith(stores, of.name);
  const [file] = preferredAmong(matches, preference);
  return file ?? latest;
}

const NO_SESSIONS =
  "there are no sessions yet: no agent's, and none in a store found from here; `verbatim agents` " +
  "says where it looks, and --root names a store elsewhere";

/** The session whose log changed last, or null. */
function latestOf(stores: readonly FoundStore[]): FoundSession | null {
  let latest: { readonly session: FoundSession; readonly mtimeMs: number } | null = null;
  for (const store of stores) {
    for (const { id, mtimeMs } of iterateLogs(
      store.root,
      dialectNamed(store.dialect).naming.layout,
    )) {
      if (latest && latest.mtimeMs >= mtimeMs) continue;
      latest = { session: sessionIn(store, id), mtimeMs };
    }
  }
  return latest?.session ?? null;
}

/** By ids alone, for callers who may see these stores but no other file: paths are not accepted. */
export async function findSessionById(
  host: Host,
  name: string,
  where: StoreLookups,
): Promise<FoundSession> {
  const stores = await findStores(where);
  const exact = await sessionsOf(host, stores, name);
  const matches = exact.length > 0 ? exact : beginningWith(stores, name);
  return theOnly(matches, name, stores, "fuller");
}

async function sessionsOf(
  host: Host,
  stores: readonly FoundStore[],
  id: string,
): Promise<FoundSession[]> {
  const sessions: FoundSession[] = [];
  for (const store of stores) {
    if (await hasSession(host, store, id)) sessions.push(sessionIn(store, id));
  }
  return sessions;
}

/** The best matches: the whole last part of an id, else prefixes of either. */
function beginningWith(stores: readonly FoundStore[], name: string): FoundSession[] {
  const whole: FoundSession[] = [];
  const begun: FoundSession[] = [];
  for (const store of stores) {
    for (const id of idsIn(store)) {
      const lastPart = lastPartOf(store.dialect, id);
      if (lastPart === name) whole.push(sessionIn(store, id));
      if (id.startsWith(name) || lastPart.startsWith(name)) begun.push(sessionIn(store, id));
    }
  }
  return whole.length > 0 ? whole : begun;
}

function lastPartOf(dialect: string, id: string): string {
  return dialectNamed(dialect).naming.nameOf?.(id) ?? id.slice(id.lastIndexOf("/") + 1);
}

/** Our only record of a session, if the other matches are files of agents with its last part. */
function ownRecord(matches: readonly FoundSession[]): FoundSession | null {
  const nameOf = ({ dialect, id }: FoundSession) => (id === null ? id : lastPartOf(dialect, id));
  const [own, ...more] = matches.filter(({ dialect }) => !dialectNamed(dialect).program);
  if (!own || more.length > 0 || new Set(matches.map(nameOf)).size > 1) return null;
  return { ...own, preferredTo: matches.filter((each) => each !== own) };
}

/** Includes unreadable logs: the error is reported when one is opened. */
function idsIn(
  { dialect, root }: FoundStore,
  onHidden: (unreadable: Unreadable) => void = () => {},
): string[] {
  const ids: string[] = [];
  const onUnreadable = (unreadable: Unreadable) => {
    const { id, cause } = unreadable;
    if (id !== null && cause.code === "IO_ERROR") ids.push(id);
    else onHidden(unreadable);
  };
  for (const { id } of iterateLogs(root, dialectNamed(dialect).naming.layout, { onUnreadable }))
    ids.push(id);
  return ids;
}

/** Without the other file of sessions that have two. */
function preferredAmong(all: readonly FoundSession[], preference: Preference): FoundSession[] {
  const places = all.map((session) => ({ id: session.id, place: session, session }));
  const dropped = new Set<FoundSession>();
  const others = new Map<FoundSession, FoundSession>();
  for (const [{ session: record }, { session: own }] of programSessions(places)) {
    const isSigned = statOf(join(dirname(record.path), sidecarOf(basename(record.path))))?.isFile();
    const [kept, other] = preference === "signed" && isSigned ? [record, own] : [own, record];
    dropped.add(other);
    others.set(kept, other);
  }
  return all
    .filter((session) => !dropped.has(session))
    .map((session) => {
      const other = others.get(session);
      return other ? { ...session, preferredTo: [other] } : session;
    });
}

function theOnly(
  all: readonly FoundSession[],
  name: string,
  stores: readonly FoundStore[],
  preference: Preference,
): FoundSession {
  const matches = preferredAmong(all, preference);
  const [first, ...others] = matches;
  if (first && others.length === 0) return first;
  const record = ownRecord(matches);
  if (record) return record;
  const details = { session: name };
  if (!first) {
    // A project may be the root of several stores of different dialects.
    const roots = [...new Set(stores.map(({ root }) => root))];
    const rest = roots.length - ROOTS_LISTED_MAX;
    const places = [
      ...(rest > 1 ? roots.slice(0, ROOTS_LISTED_MAX) : roots),
      ...(rest > 1 ? [`${rest} more directories`] : []),
    ].join(", ");
    const hidden: Unreadable[] = [];
    for (const store of stores) idsIn(store, (each) => hidden.push(each));
    const doubt = hidden[0]
      ? `. It may be in a directory that could not be read: ${hidden[0].cause.message}`
      : "";
    throw new VerbatimError(
      "SESSION_NOT_FOUND",
      `there is no session ${name}: no file has this path, and ` +
        (places
          ? `no session with this id is in ${places}`
          : "no store and no agent was found from here") +
        `; \`verbatim ls\` lists sessions, and --root names a store elsewhere${doubt}`,
      details,
    );
  }
  const listed = matches.map(({ id, dialect }) => `  ${id}  (${dialect})`).sort();
  const more = listed.length - CANDIDATES_LISTED_MAX;
  throw new VerbatimError(
    "SESSION_NOT_FOUND",
    [
      `${name} may be one of ${matches.length} sessions; ` +
        `${new Set(matches.map(({ id }) => id)).size > 1 ? "say more of its id, or" : "add"} --dialect:`,
      ...listed.slice(0, CANDIDATES_LISTED_MAX),
      ...(more > 0 ? [`  and ${more} more`] : []),
    ].join("\n"),
    details,
  );
}
