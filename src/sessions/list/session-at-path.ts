/**
 * Session at path: the session of a log whose path is given: by the shape of the path, and by the
 * log's first lines.
 */

import { basename, dirname, join, relative, resolve } from "node:path";
import { VerbatimError } from "../../core/base/errors.ts";
import type { Host } from "../../core/base/host.ts";
import { readStretch } from "../../core/log/bytes.ts";
import { LogReader } from "../../core/log/reader.ts";
import { dialectNamed, loadDialects, recognisedDialects } from "../../dialects/all.ts";
import type { Dialect } from "../../dialects/dialect.ts";
import { recogniseFile } from "../../dialects/files/foreign-log.ts";
import { SUPPORTED } from "../../dialects/program-formats.ts";
import { READ_DIALECT_NAMES } from "../../dialects/registry.ts";
import {
  beginsAsCopy,
  disclosedCopy,
  MAGIC_BYTES,
} from "../../trust/proof/disclosure/copy-file.ts";
import { isProgramRoot, type StoreLookup, statOf } from "./find-stores.ts";
import { type FoundSession, hasSession } from "./session-place.ts";

/** How many of a file's first lines are tried to find its dialect. */
const FIRST_LINES_MAX = 20;

/** The session whose log, or whose directory, is at a path; null if there is none. */
export async function sessionAtPath(
  host: Host,
  name: string,
  where: StoreLookup,
): Promise<FoundSession | null> {
  const { cwd, root } = where;
  const roots = root === undefined ? [cwd] : [cwd, resolve(cwd, root)];
  const places = roots.map((above) => resolve(above, name)).filter(mayHaveLog);
  if (places.length === 0) return null; // Most names are ids.
  // A path says nothing about its dialect.
  await loadDialects();
  const dialects = await recognisedDialects();
  for (const place of places) {
    const path = logIn(place, dialects);
    if (path === null) {
      const row = await sessionInFile(host, place, where, dialects);
      if (row) return row;
      continue;
    }
    await refuseCopy(host, path);
    const values = await firstValues(host, path);
    const shaped = sessionByShape(path, where, dialects, values);
    if (shaped) return shaped;
    const dialect = where.dialect ?? (await dialectOf(host, path, values));
    return { dialect, root: dirname(path), id: null, path };
  }
  return null;
}

/** A row of a database has a path as if the database were a directory. */
function mayHaveLog(place: string): boolean {
  return statOf(place) !== undefined || statOf(dirname(place))?.isFile() === true;
}

async function sessionInFile(
  host: Host,
  place: string,
  where: StoreLookup,
  dialects: readonly Dialect[],
) {
  if (statOf(place)) return null;
  const row = sessionByShape(place, where, dialects);
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
function logIn(place: string, dialects: readonly Dialect[]): string | null {
  const names = statOf(place)?.isDirectory()
    ? dialects.flatMap((each) => logNameOf(each) ?? []).map((name) => join(place, name))
    : [place];
  return names.find((path) => statOf(path)?.isFile()) ?? null;
}

/** The log's file name in a directory of its own; null if logs share a directory. */
function logNameOf({ naming: { layout } }: Dialect): string | null {
  return "logName" in layout ? layout.logName : null;
}

/**
 * The session of a log, from its path, if the path fits a store's layout. Several layouts may fit:
 * the content decides, also against the names of directories. A file without a line of any dialect
 * is what its path says.
 */
function sessionByShape(
  path: string,
  { cwd, root, dialect }: StoreLookup,
  dialects: readonly Dialect[],
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
      const id = dialectNamed(name).naming.idAt(below);
      if (id === null) continue;
      const place = { dialect: name, root: above, id, path };
      (isProgramRoot(name, above) ? shaped : misplaced).push(place);
    }
  }
  const [first = null] = shaped;
  if (first === null || dialect !== undefined) return first;
  const written = dialects.find((each) => isOf(each, values));
  const {
    program,
    reading: { readsToo },
  } = dialectNamed(first.dialect);
  if (written === undefined || program !== undefined) return first;
  if (isOf(dialectNamed(first.dialect), values)) return first;
  if (values.some((value) => readsToo?.(value))) return first;
  const isWriters = ({ dialect: name }: FoundSession) =>
    name === written.name || dialectNamed(name).reading.isOwn === written.reading.isOwn;
  return [...shaped, ...misplaced].find(isWriters) ?? null;
}

/** Whether one of these lines is the dialect's. */
function isOf({ reading: { isOwn, decode } }: Dialect, values: readonly unknown[]): boolean {
  return values.some((value) => isOwn?.(value) ?? decode(value).entry !== null);
}

/** The first lines of a file that are JSON. */
async function firstValues(host: Host, path: string): Promise<readonly unknown[]> {
  const reader = new LogReader(host, path, { onBadLine: "skip", takesUnterminated: true });
  const values: unknown[] = [];
  for await (const { value } of reader) {
    if (values.push(value) === FIRST_LINES_MAX) break;
  }
  return values;
}

/** The dialect of a file, by its first line that any dialect recognises. */
async function dialectOf(host: Host, path: string, values: readonly unknown[]): Promise<string> {
  const dialects = await recognisedDialects();
  for (const value of values) {
    const reader = dialects.find((each) => isOf(each, [value]));
    if (reader) return reader.name;
  }
  const byName = dialects.find((each) => logNameOf(each) === basename(path));
  if (byName) return byName.name;
  const dialectName = await recogniseFile(host, { logId: path, root: undefined });
  throw new VerbatimError(
    "SESSION_NOT_FOUND",
    dialectName === null
      ? `${path} begins with no line of a dialect we know. ${SUPPORTED}. If it is one of these, say ` +
          "which with --dialect"
      : `${path} is not a session that can be read: this is ${dialectName}. ${SUPPORTED}`,
    { session: path },
  );
}
