/**
 * A server on PostgreSQL, in its own process: `node serve.mjs grouped|single|pooled <directory> <url>
 * <schema>`. Prints its URL.
 *
 * grouped: as users run it. single: one transaction per append (`batchRequestsMax: 1`). pooled: the
 * same, on eight connections at once, each for an eighth of the streams.
 */

import { openPostgresStore } from "../../dist/doors/postgres.js";
import { serveStore } from "../../dist/server/serve.js";

const [, , kind, dataDirectory = "", url = "", schema = ""] = process.argv;
const CONNECTIONS = 8;

const limits = kind === "grouped" ? {} : { batchRequestsMax: 1 };
const open = () => openPostgresStore(url, { schema, limits });

/** Appends and creations go to the store of their path, everything else to the first. */
async function pooled() {
  const stores = [];
  for (let n = 0; n < CONNECTIONS; n++) stores.push(await open());
  const storeOf = (path) => stores[path.charCodeAt(path.length - 1) % CONNECTIONS];
  return new Proxy(stores[0], {
    get(first, name) {
      if (name === "append" || name === "create")
        return (path, ...more) => storeOf(path)[name](path, ...more);
      const value = first[name];
      return typeof value === "function" ? value.bind(first) : value;
    },
  });
}

const store = kind === "pooled" ? await pooled() : await open();
const server = await serveStore(store, { dataDirectory, port: 0 });
process.stdout.write(`${server.url}\n`);
