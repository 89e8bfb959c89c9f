/**
 * A server to be measured, in a process of its own: `node serve.mjs reference|ours|signed|bare <directory>`.
 * Prints its URL.
 */

const [, , kind, dataDirectory = ""] = process.argv;

/** What the least server has to read. */
const LONG_BYTES = 100e6;

/** All with syncs, on files, and with nothing else switched on. */
async function start() {
  if (kind === "ours" || kind === "signed") {
    const { startServer } = await import(new URL("../../dist/server.js", import.meta.url).href);
    const { url } = await startServer({ dataDirectory, port: 0, sign: kind === "signed" });
    return url;
  }
  if (kind === "bare") {
    const { startBare } = await import("./bare.mjs");
    return startBare(dataDirectory, LONG_BYTES);
  }
  const { DurableStreamTestServer } = await import("@durable-streams/server");
  const server = new DurableStreamTestServer({ port: 0, dataDir: dataDirectory });
  await server.start();
  return server.url;
}

process.stdout.write(`${await start()}\n`);
