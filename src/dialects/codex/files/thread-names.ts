/**
 * Thread names: those that users gave, which Codex keeps in the column `name` of the table `threads`
 * of its database `state_<version>.sqlite`. Older versions write them to the rollout only.
 *
 * The database is in the directory that `sqlite_home` in config.toml names, else the variable
 * CODEX_SQLITE_HOME, else in Codex's own.
 */

import { join, resolve } from "node:path";
import { surroundings } from "../../../base/node-paths.ts";
import { readUserFile } from "../../../base/node-user-files.ts";
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
  try {
    const directory = databaseHome(root);
    const files = namesOrNone(directory).filter((file) => versionOf(file) >= 0);
    const newest = files.sort((a, b) => versionOf(b) - versionOf(a))[0];
    if (newest === undefined) return new Map();
    const rows = readForeign(join(directory, newest), (database) => {
      if (!hasTables(database, { threads: ["id", "name"] })) return [];
      return database.tell("id, name", "threads WHERE name <> ''");
    });
    return new Map(rows?.map(([id, name]) => [String(id), String(name)]));
  } catch {
    return new Map(); // A title is not worth an error: the first prompt is shown.
  }
}

const CONFIG_BYTES_MAX = 2 ** 20;
/** A string of the first table; none of the escapes that TOML has is needed in a path. */
const SQLITE_HOME = /^[ \t]*sqlite_home[ \t]*=[ \t]*(?:"([^"\\\n]+)"|'([^'\n]+)')/m;

function databaseHome(root: string): string {
  const { environment, home } = surroundings();
  const access = { bytesMax: CONFIG_BYTES_MAX, access: "anyone", followsLinks: true } as const;
  const [beforeTables = ""] =
    readUserFile(join(root, "config.toml"), access)?.text?.split(/^\[/m) ?? [];
  const [, plain, literal] = SQLITE_HOME.exec(beforeTables) ?? [];
  const set = plain ?? literal;
  if (set !== undefined)
    return resolve(
      root,
      set.replace(/^~(?=\/|$)/, () => home),
    );
  const named = environment.CODEX_SQLITE_HOME?.trim();
  return named ? resolve(named) : root;
}
