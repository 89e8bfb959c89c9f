/** Node's own server below a test's server, to end its time limits. */

import assert from "node:assert/strict";
import { subscribe, unsubscribe } from "node:diagnostics_channel";
import type { Server } from "node:http";
import type { AddressInfo } from "node:net";

/**
 * The server of Node that answers at a URL. Node reads its limits whenever it looks for slow
 * connections, so a test can end minutes when it is ready, however slow the machine is.
 */
export async function nodeServer(
  url: string,
  ask: () => Promise<unknown> = () => fetch(`${url}/health`),
): Promise<Server> {
  const servers: Server[] = [];
  const take = (message: unknown) => servers.push((message as { server: Server }).server);
  subscribe("http.server.request.start", take);
  await ask().finally(() => unsubscribe("http.server.request.start", take));
  const { port } = new URL(url);
  const isAsked = (server: Server) => (server.address() as AddressInfo).port === Number(port);
  return servers.find(isAsked) ?? assert.fail("no server");
}

/** Ends the time of every request that is not whole. Node exchanges the two if the second is less. */
export function endTime(node: Server): () => void {
  const { headersTimeout, requestTimeout } = node;
  Object.assign(node, { headersTimeout: 1, requestTimeout: 1 });
  return () => Object.assign(node, { headersTimeout, requestTimeout });
}
