/** Sessions: all of OpenCode's, from its databases and from the files of older versions. */

import { join } from "node:path";
import type { FindOptions, LookedAt } from "../../../catalog/find.ts";
import type { FoundLog } from "../../../catalog/session-row.ts";
import type { ConvertedLog } from "../../files/converted-host.ts";
import { namesIn } from "../../files/row-lines.ts";
import { linesIn, logsInDatabase, statesIn } from "../../files/session-database.ts";
import { idAt, isDatabase, nameOf, prefixAt } from "../session-id.ts";
import { tablesAt } from "./database.ts";
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
    const database = { root, path: [name], tables: tablesAt(""), isOwn: OWN.test(name) };
    for (const log of logsInDatabase(database, idAt, onUnreadable)) {
      rows.set(nameOf(log.id), Math.max(log.size, rows.get(nameOf(log.id)) ?? 0));
      yield log;
    }
  }
  for (const path of sessionFiles(root)) {
    const log = lookAtFile(root, path);
    const copied = log === null ? 0 : (rows.get(nameOf(log.id)) ?? -1);
    if (log !== null && copied <= countMessages(root, nameOf(log.id))) yield log;
  }
}

export function lookAt(root: string, path: string): LookedAt | null {
  const [first = "", session = "", ...more] = path.split("/");
  if (!isDatabase(first) || more.length > 0) return lookAtFile(root, path);
  return statesIn(join(root, first), tablesAt(""), session)?.get(session) ?? null;
}

export function convert(root: string, path: readonly string[]): ConvertedLog | null {
  if (idAt(path) === null) return null;
  const [first = "", session = ""] = path;
  const place = prefixAt(path);
  const source = join(root, isDatabase(first) ? first : path.join("/"));
  const bytes = isDatabase(first)
    ? linesIn(source, tablesAt(place), session)
    : linesOfFiles(root, path.join("/"), place);
  return bytes === null ? null : { bytes, source };
}
