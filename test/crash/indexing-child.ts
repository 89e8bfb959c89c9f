/** Indexes a rye project, and prints a line for each session it begins. */

import { nodeHost } from "../../src/base/node-host.ts";
import { SearchIndex } from "../../src/catalog/search/search-index.ts";
import { freshenIndex } from "../../src/listing/indexing.ts";
import { Store } from "../../src/store/store.ts";

const [path = "", root = ""] = process.argv.slice(2);
const index = await SearchIndex.open(path);
const store = new Store(nodeHost, { dialect: "rye", root });
const isDone = await freshenIndex(nodeHost, index, [store], {
  pace: { lines: 8, bytes: 2_000, mergePages: 4 },
  onProgress: (done) => console.log(`begun ${done}`),
  onFailure: (id, cause) => {
    throw new Error(`${id} could not be indexed`, { cause });
  },
});
index.close();
console.log(isDone ? "done" : "stopped");
