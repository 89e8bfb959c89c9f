/**
 * The least that a next listing takes, or, with a query, a search: looks at each file, compares the
 * sum of sizes with that in the database that the command line keeps, and reads the rows to print, or
 * finds the words. Reads no session.
 */

import { lstatSync, readdirSync } from "node:fs";
import { createRequire } from "node:module";
import { join } from "node:path";

const { DatabaseSync } = createRequire(import.meta.url)("@photostructure/sqlite");
const [home = "", query] = process.argv.slice(2);
const isSearch = query !== undefined;
const path = join(home, "cache/verbatim", isSearch ? "search.db" : "catalog.db");
const database = new DatabaseSync(path);
const columns = ["json_group_array(size)", "json_group_array(mtime_us)"];
if (!isSearch) columns.push("group_concat(json, char(10))");
const [sizes, , text = ""] = Object.values(
  database.prepare(`SELECT ${columns.join(", ")} FROM sessions`).get(),
);
let left = JSON.parse(sizes).reduce((sum, size) => sum + size, 0);

const look = (directory) => {
  for (const entry of readdirSync(directory, { withFileTypes: true })) {
    const below = `${directory}/${entry.name}`;
    if (entry.isDirectory()) look(below);
    else left -= lstatSync(below).size;
  }
};
look(join(home, ".claude/projects"));
look(join(home, ".codex/sessions"));
const match = "SELECT rowid FROM words WHERE words MATCH ? ORDER BY rowid DESC LIMIT 20";
const hits = isSearch ? database.prepare(match).all(query) : [];
if (isSearch && hits.length === 0) throw new Error("nothing was found");
process.stdout.write(`${text}${left}`);
