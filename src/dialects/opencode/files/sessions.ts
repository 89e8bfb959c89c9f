/** Sessions: all of OpenCode's, from its databases and from the files of older versions. */

import { join } from "node:path";
import type { VerbatimError } from "../../../base/errors.ts";
import type { FindOptions, LookedAt, Unreadable } from "../../../catalog/find.ts";
import type { FoundLog } from "../../../catalog/session-row.ts";
import type { ConvertedLog } from "../../files/converted-host.ts";
import { namesIn, noId, otherTables } from "../../files/row-lines.ts";
import { idAt, isDatabase, nameOf, prefixAt } from "../session-id.ts";
import { linesIn, rowsIn, TABLES } from "./database.ts";
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
  for (const name of namesIn(root, "", onUnreadable).filter(isDatabase)) {
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

function readable(
  root: string,
  name: string,
  onUnreadable: (unreadable: Unreadable) => void,
): Iterable<[string, LookedAt]> {
  try {
    const found = rowsIn(join(root, name));
    if (found === null && OWN.test(name)) throw otherTables(join(root, name), TABLES);
    return found ?? [];
  } catch (cause) {
    if (OWN.test(name)) onUnreadable({ id: null, path: name, cause: cause as VerbatimError });
    return [];
  }
}
