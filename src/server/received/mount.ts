/** Received: the mount of sessions that agents on other machines sent (docs/remote.md). */

import { nodeHost } from "../../core/base/node-host.ts";
import type { ServerContext } from "../context.ts";
import type { OpenMount } from "../router/mount.ts";
import { ReceivedSessions } from "./received-sessions.ts";

export async function receivedMount(context: ServerContext): Promise<OpenMount> {
  const { store, options, onFault } = context;
  const { dataDirectory } = options;
  const received = await ReceivedSessions.open({ host: nodeHost, store, dataDirectory, onFault });
  return { close: () => received.close(), parts: { received } };
}
