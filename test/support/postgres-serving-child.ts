/** A server on PostgreSQL in its own process, to be killed: prints its URL. */

import { serveStore } from "../../src/server/serve.ts";
import { openPostgresStore } from "../../src/streams/postgres/postgres-store.ts";

const [url = "", schema = "", dataDirectory = ""] = process.argv.slice(2);
const store = await openPostgresStore(url, { schema, durability: "memory" });
const server = await serveStore(store, { dataDirectory, port: 0 });
process.stdout.write(`${server.url}\n`);
