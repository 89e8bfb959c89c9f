/**
 * Serve: a store behind HTTP, from start to stop.
 *
 * Stopping finishes accepted work: new connections are refused, waiting readers end, requests in
 * progress are answered, then the store is closed. Connections that take longer than the grace
 * period are cut; acknowledged appends are durable all the same.
 *
 * Without tokens the server listens only on addresses of this machine. There, sessions that it
 * finds itself, and those of other programs, are private (auth/browser-keys.ts).
 */

import { nodeHost } from "../core/base/node-host.ts";
import { nodeTime, repeat, type Time } from "../core/base/time.ts";
import type { BatchReport } from "../streams/commit/committer.ts";
import { openReopeningStore } from "../streams/files/reopening-store.ts";
import type { StreamStore } from "../streams/files/stream-store.ts";
import { loadStreamSigner } from "../streams/signing/signing-user.ts";
import type { StreamSigner } from "../streams/signing/stream-signing.ts";
import { BrowserKeys } from "./auth/browser-keys.ts";
import { openServerTokens, requireToken } from "./auth/server-tokens.ts";
import { readTokenFile, tokenFilePath } from "./auth/tokens.ts";
import type { ServerContext } from "./context.ts";
import { AnswerRoom } from "./http/answer.ts";
import { BodyRoom } from "./http/body.ts";
import { Front, readTlsFiles } from "./http/front.ts";
import { Semaphore } from "./http/semaphore.ts";
import { watchHealth } from "./pages/pages.ts";
import { chosenMounts, type OpenMounts, openMounts } from "./router/mounts.ts";
import { requestListener } from "./router/router.ts";
import {
  CHUNKS_READ_MAX,
  descriptorLimit,
  fitDescriptors,
  loweredNote,
  SERVER_SETTINGS,
  type ServerSettings,
} from "./settings/limits.ts";
import type { ServeOptions } from "./settings/serve-options.ts";
import { EventFeeds } from "./streams/event-feed.ts";
import { LiveReaders } from "./streams/live-readers.ts";
import { StreamShares } from "./streams/stream-shares.ts";

export interface RunningServer {
  /** The URL of the server: `http://127.0.0.1:4437`. */
  readonly url: string;
  readonly port: number;
  /** Whether every request about streams needs a token now. */
  readonly needsToken: boolean;
  /** Of a witness: its name and public key, in one word; else null. */
  readonly witnessKey: string | null;
  /**
   * A URL that lets one browser see the private sessions: it works once, for an hour. Null if
   * sessions are not private, or tokens are required because others can reach the server.
   */
  newLink(): string | null;
  /** Finishes accepted work, then closes the store. */
  close(): Promise<void>;
}

export const HOST_DEFAULT = "127.0.0.1";
export const PORT_DEFAULT = 4437;

const OWN_ADDRESS = /^(?:localhost|127(?:\.\d{1,3}){3}|::1)$/i;

/** Listens before the store is open: requests are answered with 503, "recovering". */
export async function openFront(options: ServeOptions): Promise<Front> {
  const { host = HOST_DEFAULT, port = PORT_DEFAULT, tls } = options;
  checkHost(host, options);
  return Front.open({
    host,
    port,
    tls: tls === undefined ? null : readTlsFiles(tls.keyPath, tls.certPath),
    settings: { ...SERVER_SETTINGS, ...options },
    onRequest: options.onRequest ?? null,
    monotonicMs: () => performance.now(),
  });
}

/** Serves the store and closes it on stop, also when starting fails. */
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
    undo.unshift(() => context.tokens.close());
    const mounts = await openMounts(context, chosenMounts(options.mounts));
    undo.unshift(() => mounts.close());
    const running = runningServer(context, mounts);
    mounts.begin();
    return running;
  } catch (error) {
    for (const step of undo) await step();
    throw error;
  }
}

/** Whether the address is of this machine only. */
export function isOwnAddress(host: string): boolean {
  return OWN_ADDRESS.test(host);
}

/** Tokens in a database are looked at once it is open. */
function checkHost(host: string, options: ServeOptions): void {
  const { dataDirectory, time = nodeTime, store } = options;
  if (isOwnAddress(host) || store !== undefined) return;
  requireToken(options, readTokenFile(tokenFilePath(dataDirectory)), time);
}

async function newContext(
  store: StreamStore,
  options: ServeOptions,
  front: Front,
): Promise<ServerContext> {
  const settings: ServerSettings = { ...SERVER_SETTINGS, ...options };
  const { host = HOST_DEFAULT, time = nodeTime, onFault = () => {} } = options;
  const isLocal = isOwnAddress(host);
  const browsers = isLocal ? await browsersOf(options, front.url, time) : null;
  const limits = settings.tokenLimits;
  const tokens = await openServerTokens({
    store,
    options,
    isLocal,
    browsers,
    limits,
    time,
    onFault,
  });
  const { gate } = tokens;
  return {
    options,
    settings,
    store,
    baseUrl: options.publicUrl ?? front.url,
    isLocal,
    front,
    gate,
    tokens,
    browsers,
    bodies: new BodyRoom(settings.bodiesBytesMax),
    reads: new Semaphore(CHUNKS_READ_MAX, settings.requestsMax),
    answers: new AnswerRoom(settings.answersBytesMax),
    shares: new StreamShares(settings),
    readers: new LiveReaders(settings.liveReadersMax, (pass) => gate.holds(pass), time),
    feeds: new EventFeeds({ store, chunkBytes: settings.chunkBytes, time, onFault }),
    time,
    random: Math.random,
    onFault,
  };
}

/** Null unless it serves sessions, and they are private. */
async function browsersOf(
  { roots = [], mounts, dataDirectory }: ServeOptions,
  url: string,
  { nowMs }: Time,
): Promise<BrowserKeys | null> {
  if (roots.length === 0 || !chosenMounts(mounts).includes("sessions")) return null;
  const { arePrivate } = await import("./sessions/roots.ts"); // It knows every program.
  if (!arePrivate(roots, process.cwd())) return null;
  return BrowserKeys.open(nodeHost, dataDirectory, url, nowMs);
}

function runningServer(context: ServerContext, mounts: OpenMounts): RunningServer {
  const { front, readers, settings, store, onFault } = context;
  front.serve(requestListener(context, mounts), (cause) => onFault("the server", cause));
  const stopSweeping = sweepNowAndThen(context);
  const stopWatching = watchHealth(store, onFault);
  let closed: Promise<void> | null = null;
  const close = async () => {
    stopWatching();
    readers.stop();
    mounts.stop();
    await front.close(settings.graceMs);
    await stopSweeping();
    await mounts.close();
    await context.tokens.close();
    await store.close();
  };
  const { url, port } = front; // A closed server has no port any more.
  return {
    url,
    port,
    get needsToken() {
      return context.gate.isRequired;
    },
    witnessKey: mounts.parts.witnessKey ?? null,
    newLink: () => context.browsers?.newLink() ?? null,
    close() {
      closed ??= close();
      return closed;
    },
  };
}

/** One sweep at a time. A failed sweep only delays deletion: expired streams are not served. */
function sweepNowAndThen({ store, settings, time, onFault }: ServerContext): () => Promise<void> {
  let sweeping: Promise<void> | null = null;
  const sweep = async () => {
    await store.sweep().catch((cause: unknown) => onFault("deleting expired streams", cause));
    sweeping = null;
  };
  const stop = repeat(time, settings.sweepMs, () => {
    sweeping ??= sweep();
  });
  return async () => {
    stop();
    await sweeping;
  };
}

/**
 * Opens the store in `dataDirectory`, recovering what a crash left there, and serves it.
 *
 * @example
 * const server = await startServer({ dataDirectory: "./streams", port: 0 });
 * await fetch(`${server.url}/v1/stream/chat/1`, { method: "PUT" });
 * await server.close();
 */
export async function startServer(choices: ServeOptions): Promise<RunningServer> {
  chosenMounts(choices.mounts); // A wrong name is refused before anything is opened.
  const options = withinDescriptors(choices);
  const front = await openFront(options); // Before recovery, which can take a while.
  const startedMs = performance.now();
  const store = await openStore(options, front).catch(async (error: unknown) => {
    await front.close(0);
    throw error;
  });
  front.metrics.recoverySeconds = (performance.now() - startedMs) / 1000;
  return serveStore(store, options, front);
}

async function openStore(options: ServeOptions, { metrics }: Front): Promise<StreamStore> {
  const { queuedAppendsMax, queuedBytesMax, openFilesMax } = { ...SERVER_SETTINGS, ...options };
  const { dataDirectory, store: url, time = nodeTime, onFault } = options;
  const shared = {
    limits: { queueRequestsMax: queuedAppendsMax, queueBytesMax: queuedBytesMax },
    signing: options.sign === true ? await signerOf(options) : undefined,
    keepDeletedMs: options.keepReceivedMs === undefined ? undefined : 0,
    onBatch: (report: BatchReport) => metrics.batch(report),
  };
  const openFiles = () => {
    const now = time.nowMs;
    return openReopeningStore({ dataDirectory, openFilesMax, ...shared, now, time });
  };
  const openDatabase = async (database: string) => {
    const { openPostgresStore } = await import("../streams/postgres/postgres-store.ts");
    const { durability, statementMs, connectMs } = options;
    return openPostgresStore(database, { durability, ...shared, statementMs, connectMs });
  };
  const store = await (url === undefined ? openFiles() : openDatabase(url));
  for (const { message } of await store.refusedForks()) onFault?.("streams", message);
  return store;
}

function withinDescriptors(options: ServeOptions): ServeOptions {
  const settings = { ...SERVER_SETTINGS, ...options };
  const limit = descriptorLimit();
  const fitted = fitDescriptors(settings, limit);
  const note = loweredNote(settings, fitted, limit);
  if (note !== null) options.onNote?.(note);
  return { ...options, ...fitted };
}

function signerOf({ onFault = () => {} }: ServeOptions): Promise<StreamSigner> {
  return loadStreamSigner(nodeHost, (warning) => onFault("signing", warning));
}
