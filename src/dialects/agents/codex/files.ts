/**
 * Rollouts: Codex's files on disk, plain or compressed. A session that has both is read from the
 * plain one, as Codex does: it deletes the other one when it has finished compressing.
 */

import { basename, join, resolve } from "node:path";
import { VerbatimError } from "../../../core/base/errors.ts";
import { surroundings } from "../../../core/base/node-paths.ts";
import { readUserFile } from "../../../core/base/node-user-files.ts";
import { readForeign } from "../../../core/sqlite/foreign-database.ts";
import type { DialectFiles } from "../../facets/files.ts";
import { type ConvertedLog, isThere, logsOnce } from "../../files/converted-host.ts";
import { bytesBelow } from "../../files/json-document.ts";
import { hasTables, namesOrNone } from "../../files/row-lines.ts";
import { decompress } from "../../files/zstd.ts";
import { COMPRESSED_ENDING, ENDING, idAt, layout, nameOf, threadOf } from "./decode.ts";

/**
 * Thread names: those that users gave, which Codex keeps in the column `name` of the table `threads`
 * of its database `state_<version>.sqlite`. Older versions write them to the rollout only.
 *
 * The database is in the directory that `sqlite_home` in config.toml names, else the variable
 * CODEX_SQLITE_HOME, else in Codex's own.
 */

const DATABASE = /^state_(\d+)\.sqlite$/;
/** A listing asks for each session: names are remembered for a moment. */
const REMEMBERED_MS = 1000;

type Names = ReadonlyMap<string, string>;

let read: { readonly root: string; readonly atMs: number; readonly names: Names } | null = null;

/** The name of a thread, by its uuid; null if it has none, or the database cannot be read. */
function nameOfThread(root: string, thread: string): string | null {
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

/** The longest compressed file. Text that is compressed this badly is not a rollout. */
const COMPRESSED_BYTES_MAX = 256 * 1024 * 1024;

export const logsIn = logsOnce(layout, { preferred: ENDING, other: COMPRESSED_ENDING });

/** Codex names the parent by its uuid, which begins with the time: its file is in that day's folder. */
export const files: DialectFiles = {
  async standingOf(_host, root, id) {
    const name = nameOfThread(root, threadOf(id) ?? "");
    const about = name === null ? {} : { about: { chosenTitle: name } };
    return { status: null, agent: null, parent: null, ...about };
  },
  idNamed(root, name) {
    const at = Number.parseInt(name.slice(0, 13).replace("-", ""), 16) || 0;
    const days = [at, at - DAY_MS, at + DAY_MS].map((ms) => {
      const day = new Date(ms).toISOString().slice(0, 10);
      return ["sessions", ...day.split("-")]; // Of the user's time zone.
    });
    for (const place of [...days, ["archived_sessions"]]) {
      const found = namesOrNone(join(root, ...place)).map((each) => idAt([...place, each]));
      const id = found.find((each) => each !== null && nameOf(each) === name);
      if (id) return id;
    }
    return null;
  },
};

const DAY_MS = 86_400_000;

/** The compressed rollout of a session that has no plain one. */
export function convert(root: string, path: readonly string[]): ConvertedLog | null {
  const plain = join(root, ...path);
  if (!plain.endsWith(ENDING) || isThere(plain)) return null;
  const source = plain.slice(0, -ENDING.length) + COMPRESSED_ENDING;
  if (!isThere(source)) return null;
  const bytes = bytesBelow(root, [...path.slice(0, -1), basename(source)], COMPRESSED_BYTES_MAX);
  try {
    return { bytes: decompress(bytes), source };
  } catch (cause) {
    // A RangeError of the decompressor, too: the file is damaged.
    const reason = cause instanceof Error ? cause.message : "unknown";
    throw new VerbatimError(
      "IO_ERROR",
      `${source} cannot be decompressed: ${reason}; check it with \`zstd --test\``,
      { path: source, operation: "decompressing", errno: "EILSEQ" },
      { cause },
    );
  }
}
