/**
 * Clean caches: removes what the user's indexes keep of a session, so that no byte of it stays in
 * them: not in free pages of a database, not in its write-ahead log, not in full-text segments.
 *
 * All of these can be made again from the logs, so a database that cannot be cleaned is deleted. The
 * usage ledger keeps counts, models and directories of our sessions, and no text.
 */

import { existsSync, rmSync } from "node:fs";
import { dirname, join } from "node:path";
import {
  catalogPath,
  keptListingPath,
  leafIndexDirectory,
  searchPathNextTo,
} from "../../core/base/node-paths.ts";
import type { Cache } from "../../core/sqlite/sqlite.ts";
import { Catalog, realRoot } from "../../sessions/catalog/catalog.ts";
import { removeRows } from "../../sessions/catalog/table.ts";
import { SearchIndex } from "../../sessions/search/search-index.ts";
import { removeIndex } from "../prove/leaf-index.ts";
import type { ErasableLog } from "./intent.ts";

/** Files next to the catalog that are made again when they are needed. */
const KEPT_FILES = ["scans.json", "scans-own.json"];
const REMOVED_AT_ONCE = 10_000;

/** Removes sessions from the caches that have text of them. */
export async function cleanCaches(targets: readonly ErasableLog[]): Promise<void> {
  const path = catalogPath();
  const cached = targets.map(({ dialect, root, id }) => {
    return { place: { dialect, root: realRoot(root) }, id };
  });
  rmSync(keptListingPath(), { force: true });
  for (const name of KEPT_FILES) rmSync(join(dirname(path), name), { force: true });
  for (const target of targets) await removeIndex(leafIndexDirectory(), target);
  await cleaned(path, async () => {
    const catalog = await Catalog.open(path);
    try {
      return await catalog.attempt((cache) => {
        for (const { place, id } of cached) removeRows(cache, place, [id]);
        return isScrubbed(cache);
      }, false);
    } finally {
      catalog.close();
    }
  });
  await cleaned(searchPathNextTo(path), async () => {
    const index = await SearchIndex.open(searchPathNextTo(path));
    try {
      for (const { place, id } of cached) {
        while (!(await index.remove(place, id, REMOVED_AT_ONCE)));
      }
      return await index.attempt((cache) => {
        // Deleted words stay in their segments until all of these are merged.
        cache.run("INSERT INTO words (words) VALUES ('optimize')");
        return isScrubbed(cache);
      });
    } finally {
      index.close();
    }
  });
}

/** Cleans a database, or deletes it. */
async function cleaned(path: string, clean: () => Promise<boolean>): Promise<void> {
  if (!existsSync(path)) return;
  const isClean = await clean().catch(() => false);
  if (isClean) return;
  for (const ending of ["-wal", "-shm", ""]) rmSync(path + ending, { force: true });
}

/** Writes the whole database again, without its free pages. */
function isScrubbed(cache: Cache): boolean {
  cache.run("VACUUM");
  const [busy] = cache.row("PRAGMA wal_checkpoint(TRUNCATE)");
  return busy === 0;
}
