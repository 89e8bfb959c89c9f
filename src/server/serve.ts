/**
 * Serve: a store behind HTTP, from the first connection to the last.
 *
 * SV1  Stopping finishes what was accepted: no new connections, waiting readers are let go, requests
 *      under way are answered, and only then is the store closed. What takes longer than the grace
 *      is cut; what it was acknowledged is durable all the same.
 * SV2  Without tokens, only this machine is served: any other address is refused.
 */

import { VerbatimError } from "../base/errors.ts";
import { nodeHost } from "../base/node-host.ts";
import { demoRoot } from "../base/node-places.ts";
import type { StreamStore } from "../streams/stream-store.ts";
import { TokenGate } from "./auth/gate.ts";
import { tokenFilePath } from "./auth/token-file.ts";
import { validTokens } from "./auth/tokens.ts";
import type { ServerContext } from "./context.ts";
import { Demo } from "./demo/demo.ts";
import { AnswerRoom } from "./http/answer-room.ts";
import { BodyRoom } from "./http/body.ts";
import { Front } from "./http/front.ts";
import type { RequestRecord } from "./http/request-track.ts";
import { Semaphore } from "./http/semaphore.ts";
import { readTlsFiles } from "./http/tls.ts";
import { requestListener } from "./router.ts";
import type { RootChoice } from "./sessions/roots.ts";
import { SessionService } from "./sessions/service.ts";
import { CHUNKS_READ_MAX, SERVER_SETTINGS, type ServerSettings } from "./settings.ts";
import { EventFeeds } from "./streams/event-feed.ts";
import { LiveReaders } from "./streams/live-readers.ts";
import { StreamShares } from "./streams/stream-shares.ts";
import { SubscriptionService } from "./subscriptions/service.ts";

export interface ServeOptions extends Partial<ServerSettings> {
  /** Where the server keeps what is its own: tokens, and the keys that sign webhooks. */
  readonly dataDirectory: string;
  /**
   * Where sessions are served from: directories, or "found" for what lies above the current one and
   * in the home. None when absent.
   */
  readonly roots?: RootChoice;
  /** Show sessions made up for it while there are none (demo/demo.ts); only to this machine. */
  readonly demo?: boolean;
  /** Sign streams with the user's key, which is made when there is none; not when absent. */
  readonly sign?: boolean;
  /** 127.0.0.1 when absent. One that others can reach needs tokens (`verbatim token create`). */
  readonly host?: string;
  /** 4437 when absent; 0 takes any that is free. */
  readonly port?: number;
  /** Paths of a key and a certificate, in PEM: with them the server speaks TLS. */
  readonly tls?: { readonly keyPath: string; readonly certPath: string };
  /** How others reach it, where a proxy stands before it: `https://streams.example.com`. */
  readonly publicUrl?: string;
  /** Told of each request when it is over. */
  readonly onRequest?: (record: RequestRecord) => void;
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

const OWN_ADDRESS = /^(?:localhost|127(?:\.\d{1,3}){3}|::1)$/i;

/** Listens, before there is a store: whoever asks is told that the server is recovering. */
export async function openFront(options: ServeOptions): Promise<Front> {
  const { host = HOST_DEFAULT, port = PORT_DEFAULT, tls } = options;
  checkHost(host, options.dataDirectory);
  return Front.open({
    host,
    port,
    tls: tls === undefined ? null : readTlsFiles(tls.keyPath, tls.certPath),
    settings: { ...SERVER_SETTINGS, ...options },
    onRequest: options.onRequest ?? null,
    monotonicMs: () => performance.now(),
  });
}

/** Serves the store, and closes it when it stops; also when it cannot begin. */
export async function serveStore(
  store: StreamStore,
  options: ServeOptions,
  opened?: Front,
): Promise<RunningServer> {
  const undo: (() => Promise<void>)[] = [() => store.close()];
  try {
    const front = opened ?? (await openFront(options));
    undo.unshift(() => front.close(0));
    const context = await newContext(store, options, front);
    const { subscriptions } = context;
    undo.unshift(() => subscriptions.stop());
    const running = runningServer(context);
    subscriptions.begin(options.publicUrl ?? running.url);
    return running;
  } catch (error) {
    for (const step of undo) await step();
    throw error;
  }
}

/** Whether only this machine can reach it. */
export function isOwnAddress(host: string): boolean {
  return OWN_ADDRESS.test(host);
}

function checkHost(host: string, dataDirectory: string): void {
  if (isOwnAddress(host) || validTokens(tokenFilePath(dataDirectory), Date.now()) > 0) return;
  throw new VerbatimError(
    "BAD_SETTING",
    `the server does not listen on ${host}: there are no tokens in ${dataDirectory}, and without ` +
      "them only this machine may reach it; make one with `verbatim token create`, or use 127.0.0.1",
    { setting: "host", from: "flag", reason: "others can reach it, and there are no tokens" },
  );
}

async function newContext(
  store: StreamStore,
  options: ServeOptions,
  front: Front,
): Promise<ServerContext> {
  const settings: ServerSettings = { ...SERVER_SETTINGS, ...options };
  const { allowLocalWebhooks, chunkBytes, liveReadersMax } = settings;
  const { dataDirectory, host = HOST_DEFAULT, onFault = () => {} } = options;
  const isLocal = isOwnAddress(host);
  const demo = new Demo(nodeHost, demoRoot());
  if (options.demo === true && isLocal) {
    const failed = (cause: unknown) => onFault("making the demo", cause);
    await demo.showWhenEmpty(process.cwd()).catch(failed);
  }
  const gate = new TokenGate({
    tokenPath: tokenFilePath(dataDirectory),
    isRequired: !isLocal,
    nowMs: Date.now,
    onFault,
  });
  return {
    store,
    demo,
    settings,
    isLocal,
    front,
    gate,
    bodies: new BodyRoom(settings.bodiesBytesMax),
    reads: new Semaphore(CHUNKS_READ_MAX, settings.requestsMax),
    answers: new AnswerRoom(settings.answersBytesMax),
    shares: new StreamShares(settings),
    readers: new LiveReaders(liveReadersMax, (pass) => gate.holds(pass)),
    feeds: new EventFeeds({ store, chunkBytes, nowMs: Date.now, onFault }),
    sessions: new SessionService({
      host: nodeHost,
      roots: options.roots ?? [],
      moreRoots: () => (demo.isShown ? [demo.root] : []),
      cwd: process.cwd(),
      limits: settings.sessions,
      nowMs: Date.now,
      onFault,
    }),
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

function runningServer(context: ServerContext): RunningServer {
  const { front, readers, settings, subscriptions, sessions, store, onFault } = context;
  front.serve(requestListener(context), (cause) => onFault("the server", cause));
  const stopSweeping = sweepNowAndThen(context);
  let closed: Promise<void> | null = null;
  const close = async () => {
    readers.stop();
    sessions.followers.stop();
    await front.close(settings.graceMs);
    await stopSweeping();
    await subscriptions.stop();
    await sessions.close();
    await store.close();
  };
  const { url, port } = front; // A server that was closed has no port any more.
  return {
    url,
    port,
    close() {
      closed ??= close();
      return closed;
    },
  };
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
