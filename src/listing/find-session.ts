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

import { randomUUID } from "node:crypto";
import { basename, dirname, join, relative, resolve } from "node:path";
import { VerbatimError } from "../base/errors.ts";
import type { Host } from "../base/host.ts";
import { packageVersion } from "../base/package-file.ts";
import { eachLog, type Unreadable } from "../catalog/find.ts";
import { dialectNamed, READ_DIALECT_NAMES, RECOGNISED } from "../dialects/all.ts";
import type { Dialect } from "../dialects/dialect.ts";
import { recogniseFile } from "../dialects/files/foreign-log.ts";
import { SUPPORTED } from "../dialects/recognise.ts";
import { readStretch } from "../log/bytes.ts";
import { LogReader } from "../log/reader.ts";
import { beginsAsCopy, disclosedCopy, MAGIC_BYTES } from "../proof/disclosure/copy-file.ts";
import { sidecarOf } from "../signing/session-log.ts";
import { Session } from "../store/session.ts";
import { Store } from "../store/store.ts";
import { type FoundStore, findStores, isProgramsOwn, statOf, type Where } from "./find-stores.ts";
import { programsOwn } from "./hook-records.ts";

export interface FoundSession extends FoundStore {
  /** Null for a log outside any store: its id is unknown. */
  readonly id: string | null;
  readonly path: string;
  /** Other files of the same session, which this one was preferred to. */
  readonly preferredTo?: readonly FoundSession[];
}

/** Which file of a session is meant, if a program's and the record of its hooks are there. */
export type Preference = "fuller" | "signed";

const CANDIDATES_LISTED_MAX = 10;
const ROOTS_LISTED_MAX = 3;
/** Means the session that changed last, unless a session has this id. */
const LATEST = "last";
/**
 * How many of a file's first lines are tried to find its dialect, and of its last lines to find its
 * id.
 */
const JUDGED_LINES_MAX = 20;

/** The one session that `name` means; refuses with SESSION_NOT_FOUND. */
export async function findSession(
  host: Host,
  name: string,
  where: Where,
  preference: Preference = "fuller",
): Promise<FoundSession> {
  const stores = findStores(where);
  const exact = await sessionsOf(host, stores, name);
  if (exact.length > 0) return theOnly(exact, name, stores, preference);
  const atPath = await sessionAtPath(host, name, where);
  if (atPath) return atPath;
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
  const of = id === null ? null : dialectNamed(dialect).hooksOf?.(id);
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
    for (const { id, mtimeMs } of eachLog(store.root, dialectNamed(store.dialect).layout)) {
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
  where: Where,
): Promise<FoundSession> {
  const stores = findStores(where);
  const exact = await sessionsOf(host, stores, name);
  const matches = exact.length > 0 ? exact : beginningWith(stores, name);
  return theOnly(matches, name, stores, "fuller");
}

async function sessionsOf(
  host: Host,
  stores: readonly FoundStore[],
  id: string,
): Promise<FoundSession[]> {
  const found: FoundSession[] = [];
  for (const store of stores) {
    if (await hasSession(host, store, id)) found.push(sessionIn(store, id));
  }
  return found;
}

/** Opens the session to read. One without an id is read by its path. */
export function openFound(host: Host, found: FoundSession): Session {
  const { dialect, root, id, path } = found;
  if (id !== null) return new Store(host, { dialect, root }).session(id);
  return openAtPath(host, found, basename(path));
}

/**
 * The same for callers who report the session's id: for a log outside any store, its last lines
 * name it; refuses with SESSION_NOT_FOUND if they do not.
 */
export async function openIdentified(host: Host, found: FoundSession): Promise<Session> {
  if (found.id !== null) return openFound(host, found);
  const id = await idSaidIn(host, found);
  if (id === null) throw ofNobody(found.path);
  return openAtPath(host, found, id);
}

export function ofNobody(path: string): VerbatimError<"SESSION_NOT_FOUND"> {
  return new VerbatimError(
    "SESSION_NOT_FOUND",
    `${path} is not in a store, so its session cannot be determined; copy it into a store`,
    { session: path },
  );
}

/** From the last lines: a fork begins with those of its parent. */
async function idSaidIn(host: Host, { dialect, path }: FoundSession): Promise<string | null> {
  const { sessionOf, logPath } = dialectNamed(dialect);
  if (!sessionOf) return null;
  const reader = new LogReader(host, path, { onBadLine: "skip", takesUnterminated: true });
  let judged = 0;
  for await (const { value } of reader.backward()) {
    const id = sessionOf(value);
    if (id !== null) return isId(id, logPath) ? id : null;
    if (++judged === JUDGED_LINES_MAX) break;
  }
  return null;
}

function isId(id: string, logPath: Dialect["logPath"]): boolean {
  try {
    logPath(id);
    return true;
  } catch {
    return false; // BAD_ID: no session can have this id.
  }
}

function openAtPath(host: Host, { dialect, root, path }: FoundSession, id: string): Session {
  const name = basename(path);
  return new Session({
    host,
    id,
    root: dirname(path),
    dialect: { ...dialectNamed(dialect), logPath: () => [name] },
    agent: null,
    newId: randomUUID,
    nowMs: Date.now,
    cwd: root,
    version: packageVersion(),
    model: null,
    logOptions: {},
    openDerived: null,
    adopt: null,
    onClosed: () => {},
  });
}

async function hasSession(host: Host, { dialect, root }: FoundStore, id: string): Promise<boolean> {
  try {
    return await new Store(host, { dialect, root }).hasLog(id);
  } catch (cause) {
    // An invalid id, or a path below a file, means that no such session exists.
    const { code, details } = cause instanceof VerbatimError ? cause : { code: "", details: {} };
    if (code === "BAD_ID") return false;
    if (code === "IO_ERROR" && "errno" in details && details.errno === "ENOTDIR") return false;
    // A program's damaged database must not hide the sessions of all other programs.
    if (code === "IO_ERROR" && dialectNamed(dialect).program) return false;
    throw cause;
  }
}

function sessionIn({ dialect, root }: FoundStore, id: string): FoundSession {
  return { dialect, root, id, path: join(root, ...dialectNamed(dialect).logPath(id)) };
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
  return dialectNamed(dialect).nameOf?.(id) ?? id.slice(id.lastIndexOf("/") + 1);
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
  for (const { id } of eachLog(root, dialectNamed(dialect).layout, { onUnreadable })) ids.push(id);
  return ids;
}

/** Without the other file of sessions that have two. */
function preferredAmong(all: readonly FoundSession[], preference: Preference): FoundSession[] {
  const places = all.map((session) => ({ id: session.id, place: session, session }));
  const dropped = new Set<FoundSession>();
  const others = new Map<FoundSession, FoundSession>();
  for (const [{ session: record }, { session: own }] of programsOwn(places)) {
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
  const own = ownRecord(matches);
  if (own) return own;
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

async function sessionAtPath(host: Host, name: string, where: Where): Promise<FoundSession | null> {
  const { cwd, root } = where;
  const places = [resolve(cwd, name), ...(root === undefined ? [] : [resolve(cwd, root, name)])];
  for (const place of places) {
    const path = logIn(place);
    if (path === null) {
      const row = await sessionInFile(host, place, where);
      if (row) return row;
      continue;
    }
    await refuseCopy(host, path);
    const values = await firstValues(host, path);
    const shaped = sessionByShape(path, where, values);
    if (shaped) return shaped;
    const dialect = where.dialect ?? (await dialectOf(host, path, values));
    return { dialect, root: dirname(path), id: null, path };
  }
  return null;
}

/** A row of a database has a path as if the database were a directory. */
async function sessionInFile(host: Host, place: string, where: Where) {
  if (statOf(place) || !statOf(dirname(place))?.isFile()) return null;
  const row = sessionByShape(place, where);
  return row?.id != null && (await hasSession(host, row, row.id)) ? row : null;
}

async function refuseCopy(host: Host, path: string): Promise<void> {
  const directory = await host.files.openDirectory(dirname(path), { create: false });
  try {
    const file = directory.open(basename(path), "read");
    try {
      if (beginsAsCopy(await readStretch(file, 0, MAGIC_BYTES))) throw disclosedCopy(path);
    } finally {
      file.close();
    }
  } finally {
    directory.close();
  }
}

/** The log at a path: the file itself, or the log in that directory. */
function logIn(place: string): string | null {
  const names = statOf(place)?.isDirectory()
    ? RECOGNISED.flatMap((each) => logNameOf(each) ?? []).map((name) => join(place, name))
    : [place];
  return names.find((path) => statOf(path)?.isFile()) ?? null;
}

/** The log's file name in a directory of its own; null if logs share a directory. */
function logNameOf({ layout }: Dialect): string | null {
  return "logName" in layout ? layout.logName : null;
}

/**
 * The session of a log, from its path, if the path fits a store's layout. Several layouts may fit:
 * the content decides, also against the names of directories. A file without a line of any dialect
 * is what its path says.
 */
function sessionByShape(
  path: string,
  { cwd, root, dialect }: Where,
  values: readonly unknown[] = [],
): FoundSession | null {
  const segments = path.split("/");
  const roots = segments.map((_, at) => segments.slice(0, at + 1).join("/") || "/").reverse();
  // The given root first, then the nearest one above the log.
  if (root !== undefined) roots.unshift(resolve(cwd, root));
  const shaped: FoundSession[] = [];
  const misplaced: FoundSession[] = [];
  for (const above of roots) {
    const below = relative(above, path).split("/");
    for (const name of dialect === undefined ? READ_DIALECT_NAMES : [dialect]) {
      const id = dialectNamed(name).idAt(below);
      if (id === null) continue;
      const found = { dialect: name, root: above, id, path };
      (isProgramsOwn(name, above) ? shaped : misplaced).push(found);
    }
  }
  const [first = null] = shaped;
  if (first === null || dialect !== undefined) return first;
  const written = RECOGNISED.find((each) => isOf(each, values));
  const { program, readsToo } = dialectNamed(first.dialect);
  if (written === undefined || program !== undefined) return first;
  if (isOf(dialectNamed(first.dialect), values)) return first;
  if (values.some((value) => readsToo?.(value))) return first;
  const isWriters = ({ dialect: name }: FoundSession) =>
    name === written.name || dialectNamed(name).isOwn === written.isOwn;
  return [...shaped, ...misplaced].find(isWriters) ?? null;
}

/** Whether one of these lines is the dialect's. */
function isOf({ isOwn, decode }: Dialect, values: readonly unknown[]): boolean {
  return values.some((value) => isOwn?.(value) ?? decode(value).entry !== null);
}

/** The first lines of a file that are JSON. */
async function firstValues(host: Host, path: string): Promise<readonly unknown[]> {
  const reader = new LogReader(host, path, { onBadLine: "skip", takesUnterminated: true });
  const values: unknown[] = [];
  for await (const { value } of reader) {
    if (values.push(value) === JUDGED_LINES_MAX) break;
  }
  return values;
}

/** The dialect of a file, by its first line that any dialect recognises. */
async function dialectOf(host: Host, path: string, values: readonly unknown[]): Promise<string> {
  for (const value of values) {
    const found = RECOGNISED.find((each) => isOf(each, [value]));
    if (found) return found.name;
  }
  const named = RECOGNISED.find((each) => logNameOf(each) === basename(path));
  if (named) return named.name;
  const found = await recogniseFile(host, { logId: path, root: undefined });
  throw new VerbatimError(
    "SESSION_NOT_FOUND",
    found === null
      ? `${path} begins with no line of a dialect we know. ${SUPPORTED}. If it is one of these, say ` +
          "which with --dialect"
      : `${path} is not a session that can be read: this is ${found}. ${SUPPORTED}`,
    { session: path },
  );
}
