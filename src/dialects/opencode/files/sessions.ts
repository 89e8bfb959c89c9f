/** Sessions: all of OpenCode's, from its databases and from the files of older versions. */

import { readdirSync } from "node:fs";
import { join } from "node:path";
import { errnoOf, ioError, VerbatimError } from "../../../base/errors.ts";
import type { FindOptions, LookedAt, Unreadable } from "../../../catalog/find.ts";
import type { FoundLog } from "../../../catalog/session-row.ts";
import type { ConvertedLog } from "../../files/converted-host.ts";
import { idAt, isDatabase, nameOf, prefixAt } from "../session-id.ts";
import { linesIn, rowsIn } from "./database.ts";
import { countMessages, linesOfFiles, lookAtFile, sessionFiles } from "./json-files.ts";

/** Names of OpenCode's own databases. In the same directory may be those of other programs. */
const OWN = /^opencode(?:-[A-Za-z0-9._-]+)?\.db$/;

/**
 * A session of a database, and one in files that no database has. OpenCode left the files in place
 * when it copied them into its database; but it did not copy all.
 */
export function* logsIn(
  root: string,
  { onUnreadable = () => {} }: FindOptions,
): Generator<FoundLog> {
  const rows = new Map<string, number>();
  for (const name of databasesIn(root, onUnreadable)) {
    for (const [session, state] of readable(root, name, onUnreadable)) {
      const path = `${name}/${session}`;
      const id = idAt([name, session]);
      rows.set(session, Math.max(state.size, rows.get(session) ?? 0));
      if (id !== null) yield { id, path, ...state };
      else onUnreadable({ id: null, path: name, cause: noId(session) });
    }
  }
  for (const path of sessionFiles(root)) {
    const log = lookAtFile(root, path);
    if (log === null) continue;
    const name = nameOf(log.id);
    const isCopied = rows.has(name) && (rows.get(name) ?? 0) > countMessages(root, name);
    if (!isCopied) yield log;
  }
}

export function lookAt(root: string, path: string): LookedAt | null {
  const [first = "", session = "", ...more] = path.split("/");
  if (!isDatabase(first) || more.length > 0) return lookAtFile(root, path);
  return rowsIn(join(root, first), session)?.get(session) ?? null;
}

export function convert(root: string, path: readonly string[]): ConvertedLog | null {
  if (idAt(path) === null) return null;
  const [first = "", session = ""] = path;
  const place = prefixAt(path);
  const source = join(root, isDatabase(first) ? first : path.join("/"));
  const bytes = isDatabase(first)
    ? linesIn(source, session, place)
    : linesOfFiles(root, path.join("/"), place);
  return bytes === null ? null : { bytes, source };
}

function databasesIn(root: string, onUnreadable: (unreadable: Unreadable) => void): string[] {
  try {
    return readdirSync(root).filter(isDatabase).sort();
  } catch (cause) {
    if (errnoOf(cause) !== "ENOENT") {
      onUnreadable({ id: null, path: "", cause: ioError(root, "reading", cause) });
    }
    return [];
  }
}

function readable(
  root: string,
  name: string,
  onUnreadable: (unreadable: Unreadable) => void,
): Iterable<[string, LookedAt]> {
  try {
    const found = rowsIn(join(root, name));
    if (found === null && OWN.test(name)) throw otherTables(join(root, name));
    return found ?? [];
  } catch (cause) {
    if (OWN.test(name)) onUnreadable({ id: null, path: name, cause: cause as VerbatimError });
    return [];
  }
}

function otherTables(path: string): VerbatimError {
  const text = `${path} has no tables session, message and part that we know; it is left out`;
  return new VerbatimError("IO_ERROR", text, { path, operation: "reading", errno: "ENOTSUP" });
}

function noId(session: string): VerbatimError {
  const reason = "it is no path segment";
  const text = `the session ${JSON.stringify(session.slice(0, 99))} is left out: its id is no name`;
  return new VerbatimError("BAD_ID", text, { id: session, reason });
}
