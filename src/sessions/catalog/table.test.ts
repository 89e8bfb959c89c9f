import assert from "node:assert/strict";
import { join } from "node:path";
import { test } from "vitest";
import { tempDirectory } from "../../../test/support/temp-directory.ts";
import { openCache } from "../../core/sqlite/sqlite.ts";
import { SEARCH_SCHEMA } from "../search/index-table.ts";
import { SearchIndex } from "../search/search-index.ts";
import { EXTRACTION, SCHEMA } from "./table.ts";

/** A file left by a version with another extraction, with one root in it. */
async function madeBefore(schema: string): Promise<string> {
  const path = join(tempDirectory(), "cache.db");
  const older = schema.replace(`Extraction ${EXTRACTION}`, `Extraction ${EXTRACTION - 1}`);
  assert.notEqual(older, schema);
  const { cache } = await openCache(path, older);
  cache?.run("INSERT INTO roots (dialect, path) VALUES ('entire', '/project')");
  cache?.close();
  return path;
}

test("a search index with an older extraction is rebuilt", async () => {
  const index = await SearchIndex.open(await madeBefore(SEARCH_SCHEMA));
  assert.deepEqual(await index.places(), []);
  index.close();
});

test("a catalog with an older extraction is rebuilt, and one with the same is kept", async () => {
  const path = await madeBefore(SCHEMA);
  const count = "SELECT COUNT(*) FROM roots";
  const { cache } = await openCache(path, SCHEMA);
  assert.equal(cache?.value(count), 0);
  cache?.run("INSERT INTO roots (dialect, path) VALUES ('entire', '/project')");
  cache?.close();
  const again = await openCache(path, SCHEMA);
  assert.equal(again.cache?.value(count), 1);
  again.cache?.close();
});
