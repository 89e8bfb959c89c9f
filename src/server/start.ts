/** Start: opens the store, recovers it, and serves it. */

import { nodeHost } from "../base/node-host.ts";
import { openLocalStore } from "../streams/local-store.ts";
import { loadStreamSigner } from "../streams/signing/signing-user.ts";
import type { StreamSigner } from "../streams/signing/stream-signing.ts";
import { openFront, type RunningServer, type ServeOptions, serveStore } from "./serve.ts";
import { SERVER_SETTINGS } from "./settings.ts";

/**
 * Opens the store in `dataDirectory`, recovering what a crash left there, and serves it.
 *
 * @example
 * const server = await startServer({ dataDirectory: "./streams", port: 0 });
 * await fetch(`${server.url}/v1/stream/chat/1`, { method: "PUT" });
 * await server.close();
 */
export async function startServer(options: ServeOptions): Promise<RunningServer> {
  const front = await openFront(options); // Before recovery, which can take a while.
  const { metrics } = front;
  const { queuedAppendsMax, queuedBytesMax } = { ...SERVER_SETTINGS, ...options };
  const startedMs = performance.now();
  const open = async () =>
    openLocalStore({
      dataDirectory: options.dataDirectory,
      limits: { queueRequestsMax: queuedAppendsMax, queueBytesMax: queuedBytesMax },
      signing: options.sign === true ? await signerOf(options) : undefined,
      onBatch: (report) => metrics.batch(report),
    });
  const store = await open().catch(async (error: unknown) => {
    await front.close(0);
    throw error;
  });
  metrics.recoverySeconds = (performance.now() - startedMs) / 1000;
  return serveStore(store, options, front);
}

function signerOf({ onFault = () => {} }: ServeOptions): Promise<StreamSigner> {
  return loadStreamSigner(nodeHost, (warning) => onFault("signing", warning));
}
