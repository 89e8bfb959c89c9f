/** Indexes a rye project, and prints a line for each session it begins. */

import { nodeHost } from "../../src/core/base/node-host.ts";
import { freshenIndex } from "../../src/sessions/search/freshen-index.ts";
import { SearchIndex } from "../../src/sessions/search/search-index.ts";
import { Store } from "../../src/sessions/store/store.ts";

const [path = "", root = ""] = process.argv.slice(2);
const index = await SearchIndex.open(path);
const store = await Store.open(nodeHost, { dialect: "rye", root });
const isDone = await freshenIndex(nodeHost, index, [store], {
  pace: { lines: 8, bytes: 2_000, mergePages: 4 },
  onProgress: (done) => console.log(`begun ${done}`),
  onFailure: (id, cause) => {
    throw new Error(`${id} could not be indexed`, { cause });
  },
});
index.close();
console.log(isDone ? "done" : "stopped");
