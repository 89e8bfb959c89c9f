/** Start: a server on streams kept in files, recovered and listening. */

import { openLocalStore } from "../streams/local-store.ts";
import { checkHost, type RunningServer, type ServeOptions, serveStore } from "./serve.ts";

/**
 * Opens the store in `dataDirectory`, recovering what a crash left there, and serves it.
 *
 * @example
 * const server = await startServer({ dataDirectory: "./streams", port: 0 });
 * await fetch(`${server.url}/v1/stream/chat/1`, { method: "PUT" });
 * await server.close();
 */
export async function startServer(options: ServeOptions): Promise<RunningServer> {
  const { dataDirectory, host } = options;
  if (host !== undefined) checkHost(host); // Before recovery, which may take a while.
  return serveStore(await openLocalStore({ dataDirectory }), options);
}
