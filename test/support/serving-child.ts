/** A server in its own process, to be killed: prints its URL. */

import { startServer } from "../../src/server/serve.ts";

const [dataDirectory = "", port = "0"] = process.argv.slice(2);
const options = { dataDirectory, port: Number(port), allowLocalWebhooks: true };
const { url } = await startServer(options);
process.stdout.write(`${url}\n`);
