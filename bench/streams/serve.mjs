/**
 * A server to be measured, in its own process: `node serve.mjs reference|ours|signed|bare <directory>`.
 * Prints a line with its URL.
 */

import { fileURLToPath } from "node:url";

const [, , kind, dataDirectory = ""] = process.argv;

/** The length of the content that the smallest server sends. */
const LONG_BYTES = 100e6;

/** `verbatim serve` as users run it, but without sessions to list. It prints its URL itself. */
async function startOurs() {
  const cli = new URL("../../dist/cli/main.js", import.meta.url);
  const options = ["--data", dataDirectory, "--root", dataDirectory, "--port", "0"];
  if (kind === "signed") options.push("--sign");
  process.argv = [process.execPath, fileURLToPath(cli), "serve", ...options];
  await import(cli.href);
}

/** All with syncs, on files, and without other options. */
async function start() {
  if (kind === "bare") {
    const { startBare } = await import("./bare.mjs");
    return startBare(dataDirectory, LONG_BYTES);
  }
  const { DurableStreamTestServer } = await import("@durable-streams/server");
  const server = new DurableStreamTestServer({ port: 0, dataDir: dataDirectory });
  await server.start();
  return server.url;
}

if (kind === "ours" || kind === "signed") await startOurs();
else process.stdout.write(`${await start()}\n`);
