/**
 * Serve: a store behind HTTP, from the first connection to the last.
 *
 * SV1  Stopping finishes what was accepted: no new connections, waiting readers are let go, requests
 *      under way are answered, and only then is the store closed. What takes longer than the grace
 *      is cut; what it was acknowledged is durable all the same.
 * SV2  Without tokens, only this machine is served: any other address is refused.
 */

import { createServer, type RequestListener, type Server } from "node:http";
import type { AddressInfo, Socket } from "node:net";
import { errnoOf, VerbatimError } from "../base/errors.ts";
import { nodeHost } from "../base/node-host.ts";
import type { StreamStore } from "../streams/stream-store.ts";
import { BodyRoom } from "./body.ts";
import type { ServerContext } from "./context.ts";
import { EventFeeds } from "./event-feed.ts";
import { LiveReaders } from "./live-readers.ts";
import { requestListener } from "./router.ts";
import { SERVER_SETTINGS, type ServerSettings } from "./settings.ts";
import { SubscriptionService } from "./subscriptions/service.ts";

export interface ServeOptions extends Partial<ServerSettings> {
  /** Where the server keeps what is its own: the keys that sign webhooks. */
  readonly dataDirectory: string;
  /** An address of this machine; 127.0.0.1 when absent. */
  readonly host?: string;
  /** 4437 when absent; 0 takes any that is free. */
  readonly port?: number;
  /** Told of faults of ours, which no client is; they go nowhere when absent. */
  readonly onFault?: (what: string, cause: unknown) => void;
}

export interface RunningServer {
  /** Where it is reached: `http://127.0.0.1:4437`. */
  readonly url: string;
  readonly port: number;
  /** Finishes what was accepted, then closes the store. */
  close(): Promise<void>;
}

export const HOST_DEFAULT = "127.0.0.1";
export const PORT_DEFAULT = 4437;

const KEEP_ALIVE_MS = 65_000;
const CLOSING_CHECK_MS = 20;
const OWN_ADDRESS = /^(?:localhost|127(?:\.\d{1,3}){3}|::1)$/i;

/** Serves the store, and closes it when it stops; also when it cannot begin. */
export async function serveStore(
  store: StreamStore,
  options: ServeOptions,
): Promise<RunningServer> {
  const { host = HOST_DEFAULT, port = PORT_DEFAULT } = options;
  const undo: (() => Promise<void>)[] = [() => store.close()];
  try {
    checkHost(host);
    const context = await newContext(store, options);
    const { subscriptions } = context;
    undo.unshift(() => subscriptions.stop());
    const listening = newServer(context);
    await listen(listening.server, host, port);
    const running = runningServer(listening, context, host);
    subscriptions.begin(running.url);
    return running;
  } catch (error) {
    for (const step of undo) await step();
    throw error;
  }
}

export function checkHost(host: string): void {
  if (OWN_ADDRESS.test(host)) return;
  throw new VerbatimError(
    "BAD_SETTING",
    `the server does not listen on ${host}: it asks nobody for a token yet, so only this machine ` +
      "may reach it; use 127.0.0.1, ::1 or localhost",
    { setting: "host", from: "flag", reason: "it is no address of this machine alone" },
  );
}

async function newContext(store: StreamStore, options: ServeOptions): Promise<ServerContext> {
  const settings: ServerSettings = { ...SERVER_SETTINGS, ...options };
  const { allowLocalWebhooks, chunkBytes, liveReadersMax } = settings;
  const { dataDirectory, onFault = () => {} } = options;
  return {
    store,
    settings,
    bodies: new BodyRoom(settings.bodiesBytesMax),
    readers: new LiveReaders(liveReadersMax),
    feeds: new EventFeeds({ store, chunkBytes, nowMs: Date.now, onFault }),
    subscriptions: await SubscriptionService.open({
      store,
      host: nodeHost,
      dataDirectory,
      allowLocalWebhooks,
      onFault,
    }),
    nowMs: Date.now,
    random: Math.random,
    onFault,
  };
}

/** What listens, and the connections over which nothing was asked yet. */
interface Listening {
  readonly server: Server;
  readonly unused: Set<Socket>;
}

function newServer(context: ServerContext): Listening {
  const unused = new Set<Socket>();
  const route = requestListener(context);
  const listener: RequestListener = (request, response) => {
    unused.delete(request.socket);
    route(request, response);
  };
  // Longer than clients keep an idle connection: closing one just as it is used again looks to
  // them like a failure.
  const server = createServer({ keepAliveTimeout: KEEP_ALIVE_MS }, listener);
  // Nothing is sent while a reader waits for data; longer silence is a reader that takes nothing.
  server.timeout = context.settings.longPollTimeoutMs + context.settings.stalledMs;
  server.on("connection", (socket) => {
    unused.add(socket);
    socket.once("close", () => unused.delete(socket));
  });
  server.on("checkContinue", (request, response) => {
    const bytes = Number(request.headers["content-length"] ?? 0);
    // One that will be refused for its size is not asked to send it.
    if (!(bytes > context.settings.bodyBytesMax)) response.writeContinue();
    listener(request, response);
  });
  return { server, unused };
}

function listen(server: Server, host: string, port: number): Promise<void> {
  return new Promise((resolve, reject) => {
    server.once("error", (cause) => {
      reject(errnoOf(cause) === "EADDRINUSE" ? portTaken(host, port) : cause);
    });
    server.listen({ host, port }, resolve);
  });
}

function portTaken(host: string, port: number): VerbatimError {
  return new VerbatimError(
    "PORT_TAKEN",
    `port ${port} of ${host} is taken by another program; choose one with --port N, or any free ` +
      "one with --port 0",
    { host, port },
  );
}

function runningServer(listening: Listening, context: ServerContext, host: string): RunningServer {
  const { server } = listening;
  const { port } = server.address() as AddressInfo;
  server.on("error", (cause) => context.onFault("the server", cause));
  const stopSweeping = sweepNowAndThen(context);
  let closed: Promise<void> | null = null;
  const close = async () => {
    context.readers.stop();
    await ended(listening, context.settings.graceMs);
    await stopSweeping();
    await context.subscriptions.stop();
    await context.store.close();
  };
  return {
    url: `http://${host.includes(":") ? `[${host}]` : host}:${port}`,
    port,
    close() {
      closed ??= close();
      return closed;
    },
  };
}

/** Resolves when every connection is closed: idle ones at once, the others when they are answered. */
async function ended({ server, unused }: Listening, graceMs: number): Promise<void> {
  const closed = new Promise<void>((resolve) => {
    server.close(() => resolve());
  });
  // Node counts a connection as idle only after its first request (20.20).
  for (const socket of unused) socket.destroy();
  const idle = setInterval(() => server.closeIdleConnections(), CLOSING_CHECK_MS);
  const grace = setTimeout(() => server.closeAllConnections(), graceMs);
  await closed;
  clearInterval(idle);
  clearTimeout(grace);
}

/** One sweep at a time. A failed one is no more than late: expired streams are not served anyway. */
function sweepNowAndThen({ store, settings, onFault }: ServerContext): () => Promise<void> {
  let sweeping: Promise<void> | null = null;
  const sweep = async () => {
    await store.sweep().catch((cause: unknown) => onFault("deleting expired streams", cause));
    sweeping = null;
  };
  const timer = setInterval(() => {
    sweeping ??= sweep();
  }, settings.sweepMs);
  return async () => {
    clearInterval(timer);
    await sweeping;
  };
}
