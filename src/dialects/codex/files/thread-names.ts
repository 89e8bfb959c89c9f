/**
 * Thread names: those that users gave, which Codex keeps in the column `name` of the table `threads`
 * of its database `state_<version>.sqlite`. Older versions write them to the rollout only.
 */

import { join } from "node:path";
import { readForeign } from "../../../catalog/foreign-database.ts";
import { hasTables, namesOrNone } from "../../files/row-lines.ts";

const DATABASE = /^state_(\d+)\.sqlite$/;
/** A listing asks for each session: names are remembered for a moment. */
const REMEMBERED_MS = 1000;

type Names = ReadonlyMap<string, string>;

let read: { readonly root: string; readonly atMs: number; readonly names: Names } | null = null;

/** The name of a thread, by its uuid; null if it has none, or the database cannot be read. */
export function nameOfThread(root: string, thread: string): string | null {
  if (read?.root !== root || Date.now() - read.atMs > REMEMBERED_MS) {
    read = { root, atMs: Date.now(), names: namesIn(root) };
  }
  return read.names.get(thread) ?? null;
}

function namesIn(root: string): Names {
  const versionOf = (file: string) => Number(DATABASE.exec(file)?.[1] ?? -1);
  const files = namesOrNone(root).filter((file) => versionOf(file) >= 0);
  const newest = files.sort((a, b) => versionOf(b) - versionOf(a))[0];
  if (newest === undefined) return new Map();
  try {
    const rows = readForeign(join(root, newest), (database) => {
      if (!hasTables(database, { threads: ["id", "name"] })) return [];
      return database.tell("id, name", "threads WHERE name <> ''");
    });
    return new Map(rows?.map(([id, name]) => [String(id), String(name)]));
  } catch {
    return new Map(); // A title is not worth an error: the first prompt is shown.
  }
}
