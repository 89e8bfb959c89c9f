/** Session place: where a session that a user means is, whether a store has it, and opening it. */

import { randomUUID } from "node:crypto";
import { basename, dirname, join } from "node:path";
import { VerbatimError } from "../../core/base/errors.ts";
import type { Host } from "../../core/base/host.ts";
import { LogReader } from "../../core/log/reader.ts";
import { packageVersion } from "../../core/package-file.ts";
import { dialectNamed } from "../../dialects/all.ts";
import type { Naming } from "../../dialects/facets/naming.ts";
import { Session } from "../store/session.ts";
import { Store } from "../store/store.ts";
import type { FoundStore } from "./find-stores.ts";

export interface FoundSession extends FoundStore {
  /** Null for a log outside any store: its id is unknown. */
  readonly id: string | null;
  readonly path: string;
  /** Other files of the same session, which this one was preferred to. */
  readonly preferredTo?: readonly FoundSession[];
}

/** How many of a file's last lines are tried to find its id. */
const LAST_LINES_MAX = 20;

/** Opens the session to read. One without an id is read by its path. */
export function openFoundSession(host: Host, place: FoundSession): Session {
  const { dialect, root, id, path } = place;
  if (id !== null) return new Store(host, { dialect, root }).session(id);
  return openAtPath(host, place, basename(path));
}

/**
 * The same for callers who report the session's id: for a log outside any store, its last lines
 * name it; refuses with SESSION_NOT_FOUND if they do not.
 */
export async function openIdentified(host: Host, place: FoundSession): Promise<Session> {
  if (place.id !== null) return openFoundSession(host, place);
  const id = await idSaidIn(host, place);
  if (id === null) throw noStoreError(place.path);
  return openAtPath(host, place, id);
}

export function noStoreError(path: string): VerbatimError<"SESSION_NOT_FOUND"> {
  return new VerbatimError(
    "SESSION_NOT_FOUND",
    `${path} is not in a store, so its session cannot be determined; copy it into a store`,
    { session: path },
  );
}

/** From the last lines: a fork begins with those of its parent. */
async function idSaidIn(host: Host, { dialect, path }: FoundSession): Promise<string | null> {
  const { naming, reading } = dialectNamed(dialect);
  const { sessionOf } = reading;
  if (!sessionOf) return null;
  const reader = new LogReader(host, path, { onBadLine: "skip", takesUnterminated: true });
  let judged = 0;
  for await (const { value } of reader.backward()) {
    const id = sessionOf(value);
    if (id !== null) return isId(id, naming) ? id : null;
    if (++judged === LAST_LINES_MAX) break;
  }
  return null;
}

function isId(id: string, naming: Naming): boolean {
  try {
    naming.logPath(id);
    return true;
  } catch {
    return false; // BAD_ID: no session can have this id.
  }
}

function openAtPath(host: Host, { dialect, root, path }: FoundSession, id: string): Session {
  const name = basename(path);
  const stored = dialectNamed(dialect);
  return new Session({
    host,
    id,
    root: dirname(path),
    dialect: { ...stored, naming: { ...stored.naming, logPath: () => [name] } },
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

/** Whether a store has a session with this id. */
export async function hasSession(
  host: Host,
  { dialect, root }: FoundStore,
  id: string,
): Promise<boolean> {
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

export function sessionIn({ dialect, root }: FoundStore, id: string): FoundSession {
  return { dialect, root, id, path: join(root, ...dialectNamed(dialect).naming.logPath(id)) };
}
