/** A server in its own process, to be killed: prints its URL, and then what it notes at its start. */

import { startServer } from "../../src/server/serve.ts";

const [dataDirectory = "", port = "0"] = process.argv.slice(2);
const notes: string[] = [];
const onNote = (note: string) => notes.push(note);
const options = { dataDirectory, port: Number(port), allowLocalWebhooks: true, onNote };
const { url } = await startServer(options);
for (const line of [url, ...notes]) process.stdout.write(`${line}\n`);
