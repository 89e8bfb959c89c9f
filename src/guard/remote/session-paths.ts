/**
 * Session paths: the streams of a session on a server (docs/formats/remote.md).
 *
 *     /sessions/<folder>/<dialect>/<path of the log>                log
 *     /sessions/<folder>/<dialect>/<path of the log>.checkpoints    its sidecar
 *     /sessions/<folder>/<dialect>@<n>/…                            generation n of a guard's copy
 *     /sessions/<folder>/<dialect>@<n>.rows/…                       the same, of kind `rows`
 *     /sessions/<folder>/@<machine>/<user>/<dialect>/…              each of these, with its sender
 *
 * The path of a log is the one below its store's root, which its dialect derives from the id.
 *
 * - A stream path from the network becomes a file path only through `sentFilePlaceOf`: the folder has one
 *   form, the dialect is known, and the dialect accepts the path as that of a session's log.
 */

import { VerbatimError } from "../../core/base/errors.ts";
import { logSegments } from "../../core/base/ids.ts";
import { dialectNamed } from "../../dialects/all.ts";
import { rowsRootName } from "../../dialects/files/guard-rows.ts";
import { isWritten, programOf, READ_DIALECT_NAMES } from "../../dialects/registry.ts";
import { type Sender, senderPath } from "../../sessions/list/whose.ts";
import { sidecarOf } from "../../trust/session-log.ts";

/** Sessions of one dialect that are sent to one folder. */
export interface SentStore {
  readonly folder: string;
  /** As the sender says; null: it does not. */
  readonly sender: Sender | null;
  readonly dialect: string;
  /** Of a guard's copies; null for sessions of a store. */
  readonly generation: number | null;
  /** A guard's copy of kind `rows`: the last line of each message counts. */
  readonly isRows?: boolean;
}

export interface SentFilePlace {
  readonly store: SentStore;
  /** The log's path below the root of its store. */
  readonly path: string;
  readonly isSidecar: boolean;
}

export const SESSIONS_PATH = "/sessions";
const FOLDER = /^[A-Za-z0-9][A-Za-z0-9_-]*(?:\.[A-Za-z0-9_-]+)*$/;
export const FOLDER_CHARS_MAX = 64;
const STORE_NAME = /^([a-z0-9-]+)(?:@([1-9]\d{0,8})(\.rows)?)?$/;
/** Characters that ids may have and stream paths may not, and the one that escapes them. */
const ESCAPED = /[%:<>|"?]/g;
const SIDECAR_ENDING = sidecarOf("");
/** All but streams, which are on the server already. */
const SENT_DIALECTS = READ_DIALECT_NAMES.filter(
  (name) => isWritten(name) || programOf(name) !== null,
);

export function isFolder(text: string): boolean {
  return text.length <= FOLDER_CHARS_MAX && FOLDER.test(text);
}

/** The part of a path that says whose sessions they are. */
export function folderOf({ folder, sender }: SentStore): string {
  return sender === null ? folder : `${folder}/${senderPath(sender)}`;
}

export function nameOfStore({ dialect, generation, isRows = false }: SentStore): string {
  if (generation === null) return dialect;
  return isRows ? rowsRootName(dialect, generation) : `${dialect}@${generation}`;
}

/** The part of the path that all sessions of a store share. */
export function pathOfStore(store: SentStore): string {
  return `${SESSIONS_PATH}/${folderOf(store)}/${nameOfStore(store)}`;
}

/** The stream of a log; throws BAD_ID for a log that would be taken for another's sidecar. */
export function streamOf(store: SentStore, path: string): string {
  if (path.endsWith(SIDECAR_ENDING)) {
    const reason = `its log would be named like a sidecar (${SIDECAR_ENDING})`;
    throw new VerbatimError("BAD_ID", `${path} cannot be sent: ${reason}`, { id: path, reason });
  }
  return streamBelow(pathOfStore(store), path);
}

/** The same of a store whose path is known. */
export function streamBelow(storePath: string, path: string): string {
  return `${storePath}/${escaped(path)}`;
}

function escaped(path: string): string {
  return path.replace(ESCAPED, (each) => encodeURIComponent(each));
}

export function sidecarStreamOf(stream: string): string {
  return sidecarOf(stream);
}

/** The stream of a copied file, by its path below the directory of received sessions. */
export function streamOfCopy(path: string): string {
  const segments = path.split("/");
  const folders = segments[1]?.startsWith("@") ? 4 : 2;
  const [above, below] = [segments.slice(0, folders), segments.slice(folders).join("/")];
  return [SESSIONS_PATH, ...above, escaped(below)].join("/");
}

/** What a stream holds; null if it is no file of a session. */
export function sentFilePlaceOf(stream: string): SentFilePlace | null {
  const [empty, sessions, folder = "", ...below] = stream.split("/");
  if (empty !== "" || `/${sessions}` !== SESSIONS_PATH || !isFolder(folder)) return null;
  const sender = below[0]?.startsWith("@") ? senderIn(below) : null;
  if (sender === undefined) return null;
  const [name = "", ...rest] = sender === null ? below : below.slice(2);
  const [, dialect = "", number, rows] = STORE_NAME.exec(name) ?? [];
  if (!SENT_DIALECTS.some((each) => each === dialect)) return null;
  const generation = number === undefined ? null : +number;
  const store = { folder, sender, dialect, generation, ...(rows && { isRows: true }) };
  const isSidecar = stream.endsWith(SIDECAR_ENDING);
  const path = decoded(
    isSidecar ? rest.join("/").slice(0, -SIDECAR_ENDING.length) : rest.join("/"),
  );
  if (path === null || !isLogPath(dialect, path)) return null;
  const file = { store, path, isSidecar };
  // One spelling: two streams are never one file.
  const spelled = streamOf(store, path);
  return (isSidecar ? sidecarStreamOf(spelled) : spelled) === stream ? file : null;
}

/** Undefined: no machine or user can have such a name. */
function senderIn([machine = "", user = ""]: readonly string[]): Sender | undefined {
  const sender = { machine: machine.slice(1), user };
  return isFolder(sender.machine) && isFolder(user) ? sender : undefined;
}

function isLogPath(dialect: string, path: string): boolean {
  const { idAt } = dialectNamed(dialect).naming;
  try {
    return idAt(logSegments(path)) !== null && !path.endsWith(SIDECAR_ENDING);
  } catch {
    return false; // It has a segment that no path may have.
  }
}

function decoded(path: string): string | null {
  try {
    return decodeURIComponent(path);
  } catch {
    return null;
  }
}
