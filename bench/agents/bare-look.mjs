/**
 * The least that a next listing takes, or, with a query, a search: looks at each file, compares the
 * sum of sizes with the last listing that the command line kept, and prints that, or finds the words in
 * the search index. Reads no session.
 */

import { lstatSync, readdirSync, readFileSync } from "node:fs";
import { createRequire } from "node:module";
import { join } from "node:path";

const [home = "", query] = process.argv.slice(2);
const kept = readFileSync(join(home, "cache/verbatim/last-listing"));
const start = kept.indexOf(10) + 1;
const end = start + JSON.parse(kept.toString("utf8", 0, start)).logsBytes;
let left = 0;
for (const line of kept.toString("utf8", start, end).split("\n")) {
  left += Number(line.slice(line.indexOf("\0") + 1, line.lastIndexOf(" ")));
}

const look = (directory) => {
  for (const entry of readdirSync(directory, { withFileTypes: true })) {
    const below = `${directory}/${entry.name}`;
    if (entry.isDirectory()) look(below);
    else left -= lstatSync(below).size;
  }
};
look(join(home, ".claude/projects"));
look(join(home, ".codex/sessions"));
if (query === undefined) {
  process.stdout.write(kept.subarray(end));
} else {
  const { DatabaseSync } = createRequire(import.meta.url)("@photostructure/sqlite");
  const database = new DatabaseSync(join(home, "cache/verbatim/search.db"));
  const match = "SELECT rowid FROM words WHERE words MATCH ? ORDER BY rowid DESC LIMIT 20";
  const hits = database.prepare(match).all(query);
  if (hits.length === 0) throw new Error("nothing was found");
}
process.stdout.write(`${left}\n`);
