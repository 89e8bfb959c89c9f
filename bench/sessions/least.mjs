/**
 * The minimum for listing with Node and a catalog in SQLite: load the driver, read the cached rows of
 * all threads, stat each thread's directory and log, check that the log is unchanged, and print the
 * cached rows. Nothing is sorted, escaped or reported, and no command line is parsed.
 *
 *     node least.mjs <directory of threads> <catalog>
 */

import { lstatSync, readdirSync, writeSync } from "node:fs";
import { DatabaseSync } from "@photostructure/sqlite";

const [, , directory = "", catalog = ""] = process.argv;
const kept = /** @type {Record<string, string>} */ (
  new DatabaseSync(catalog)
    .prepare(
      `SELECT json_group_array(id) AS ids, json_group_array(size) AS sizes,
        json_group_array(mtime_us) AS mtimes, group_concat(json, char(10)) AS jsons FROM sessions`,
    )
    .get()
);
/** @type {number[]} */
const sizes = JSON.parse(kept.sizes ?? "");
/** @type {number[]} */
const mtimes = JSON.parse(kept.mtimes ?? "");
const jsons = (kept.jsons ?? "").split("\n");
/** @type {Map<string, number>} */
const places = new Map();
for (const id of JSON.parse(kept.ids ?? "")) places.set(id, places.size);

let text = "";
for (const name of readdirSync(directory)) {
  if (!lstatSync(`${directory}/${name}`).isDirectory()) continue;
  const log = lstatSync(`${directory}/${name}/transcript.jsonl`);
  const at = places.get(name) ?? -1;
  if (log.size !== sizes[at] || Math.round(log.mtimeMs * 1000) !== mtimes[at]) {
    throw new Error(`${name} is not as it was`);
  }
  text += `${jsons[at]}\n`;
}
if (text === "") throw new Error("nothing was found");
writeSync(1, text);
