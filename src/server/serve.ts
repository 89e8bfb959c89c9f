/**
 * Serve: a store behind HTTP, from start to stop.
 *
 * Stopping finishes accepted work: new connections are refused, waiting readers end, requests in
 * progress are answered, then the store is closed. Connections that take longer than the grace
 * period are cut; acknowledged appends are durable all the same.
 *
 * Without tokens the server listens only on addresses of this machine. There, sessions that it
 * finds itself, and those of other programs, are private (tokens/browser-keys.ts).
 */

import { VerbatimError } from "../base/errors.ts";
import { nodeHost } from "../base/node-host.ts";
import { demoRoot, userPaths } from "../base/node-paths.ts";
import { nodeTime, repeat, type Time } from "../base/time.ts";
import { readTlsFiles } from "../base/tls-files.ts";
import { Demo } from "../demo/demo.ts";
import type { Durability } from "../postgres/store-options.ts";
import { ReceivedSessions } from "../remote/receiving/received-sessions.ts";
import { newSharing, type SharingOptions } from "../share/routes.ts";
import type { BatchReport } from "../streams/commit/committer.ts";
import { openReopeningStore } from "../streams/reopening-store.ts";
import { loadStreamSigner } from "../streams/signing/signing-user.ts";
import type { StreamSigner } from "../streams/signing/stream-signing.ts";
import type { StreamStore } from "../streams/stream-store.ts";
import { BrowserKeys } from "../tokens/browser-keys.ts";
import { tokenFilePath } from "../tokens/token-file.ts";
import { validTokens } from "../tokens/tokens.ts";
import { Witness } from "../witness/witness.ts";
import { TokenGate } from "./auth/gate.ts";
import type { ServerContext } from "./context.ts";
import { descriptorLimit, fitDescriptors, loweredNote } from "./descriptors.ts";
import { watchHealth } from "./health-watch.ts";
import { AnswerRoom } from "./http/answer.ts";
import { BodyRoom, readBody } from "./http/body.ts";
import { Front } from "./http/front.ts";
import type { RequestRecord } from "./http/request-track.ts";
import { Semaphore } from "./http/semaphore.ts";
import { requestListener } from "./router.ts";
import { arePrivate, type RootChoice, seenBy } from "./sessions/roots.ts";
import { SessionService } from "./sessions/service.ts";
import { CHUNKS_READ_MAX, SERVER_SETTINGS, type ServerSettings } from "./settings.ts";
import { EventFeeds } from "./streams/event-feed.ts";
import { LiveReaders } from "./streams/live-readers.ts";
import { StreamShares } from "./streams/stream-shares.ts";
import { SubscriptionService } from "./subscriptions/service.ts";

export interface ServeOptions extends Partial<ServerSettings> {
  /** Directory for the server's own files: tokens, and keys that sign webhooks. */
  readonly dataDirectory: string;
  /**
   * Directories to serve sessions from, or "found" for stores above the current directory and in
   * the home directory. Default: none. "found", and directories of other programs, are private:
   * their sessions need a link (`newLink` of the server) or a token, on this machine too.
   */
  readonly roots?: RootChoice;
  /**
   * Show example sessions while there are no others (demo/demo.ts), to this machine only. Default:
   * no.
   */
  readonly demo?: boolean;
  /**
   * The URL of a PostgreSQL database to keep streams in, shared with other servers:
   * `postgres://user@host/database`. Default: files in the data directory.
   */
  readonly store?: string;
  /**
   * What an acknowledged append must survive in that database (`openPostgresStore`). Default:
   * "disk".
   */
  readonly durability?: Durability;
  /** How long a statement of that database may take, and connecting to it. Default: 5 seconds. */
  readonly statementMs?: number;
  readonly connectMs?: number;
  /** Sign streams with the user's key, which is created if missing. Default: no. */
  readonly sign?: boolean;
  /**
   * Default: 127.0.0.1. An address that others can reach needs tokens (`verbatim token create`).
   */
  readonly host?: string;
  /** Default: 4437. 0 picks a free port. */
  readonly port?: number;
  /**
   * Path of a list of logs to cosign: the server is a witness (docs/witnesses.md). Default: it is
   * not.
   */
  readonly witness?: string;
  /** Paths of a PEM key and certificate. If set, the server uses TLS. */
  readonly tls?: { readonly keyPath: string; readonly certPath: string };
  /** The public URL behind a proxy: `https://streams.example.com`. */
  readonly publicUrl?: string;
  /** Makes shares for `POST /v1/shares`. Default: only the command line makes them. */
  readonly createShare?: SharingOptions["create"];
  /** The clock and timers of requests, tokens, shares and expiry. Default: the real ones. */
  readonly time?: Time;
  /** Called after each request. */
  readonly onRequest?: (record: RequestRecord) => void;
  /** Called when the server starts, with what its operator should know. Default: ignored. */
  readonly onNote?: (note: string) => void;
  /** Called for each fault of the server; clients only see INTERNAL. Default: ignored. */
  readonly onFault?: (what: string, cause: unknown) => void;
}

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
    const { subscriptions, received } = context;
    undo.unshift(() => received.close());
    undo.unshift(() => subscriptions.stop());
    const running = runningServer(context);
    subscriptions.begin(options.publicUrl ?? running.url);
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

function checkHost(host: string, { dataDirectory, time = nodeTime }: ServeOptions): void {
  if (isOwnAddress(host) || validTokens(tokenFilePath(dataDirectory), time.nowMs()) > 0) return;
  throw new VerbatimError(
    "BAD_SETTING",
    `the server does not listen on ${host}: there are no tokens, and without them only this ` +
      `machine may reach it; run verbatim token create --data ${dataDirectory}, or use 127.0.0.1`,
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
  const { dataDirectory, host = HOST_DEFAULT, time = nodeTime, onFault = () => {} } = options;
  const { nowMs } = time;
  const isLocal = isOwnAddress(host);
  const demo = new Demo(nodeHost, demoRoot());
  if (options.demo === true && isLocal) {
    const failed = (cause: unknown) => onFault("making the demo", cause);
    await demo.showWhenEmpty(process.cwd()).catch(failed);
  }
  const isPrivate = isLocal && arePrivate(options.roots ?? [], process.cwd());
  const browsers = isPrivate
    ? await BrowserKeys.open(nodeHost, dataDirectory, front.url, nowMs)
    : null;
  const gate = new TokenGate({
    tokenPath: tokenFilePath(dataDirectory),
    isRequired: !isLocal,
    browsers,
    nowMs,
    onFault,
  });
  const witness =
    options.witness === undefined ? null : await openWitness(options.witness, options);
  const received = await ReceivedSessions.open({ host: nodeHost, store, dataDirectory, onFault });
  const sessions = new SessionService({
    host: nodeHost,
    roots: options.roots ?? [],
    moreRoots: () => (demo.isShown ? [demo.root] : []),
    received: () => received.stores(),
    cwd: process.cwd(),
    limits: settings.sessions,
    nowMs,
    onFault,
  });
  return {
    store,
    demo,
    settings,
    isLocal,
    front,
    gate,
    browsers,
    bodies: new BodyRoom(settings.bodiesBytesMax),
    reads: new Semaphore(CHUNKS_READ_MAX, settings.requestsMax),
    answers: new AnswerRoom(settings.answersBytesMax),
    shares: new StreamShares(settings),
    readers: new LiveReaders(liveReadersMax, (pass) => gate.holds(pass), time),
    feeds: new EventFeeds({ store, chunkBytes, time, onFault }),
    received,
    witness,
    sessions,
    sharing: await newSharing({
      host: nodeHost,
      dataDirectory,
      time,
      onFault,
      readBody,
      ...{ create: options.createShare ?? null, database: options.store ?? null },
      run: (work) => sessions.wholeReads.run(work),
      session: async (urlId) => {
        const { store, session } = await sessions.open(urlId, seenBy(null));
        return { dialect: store.dialect, root: store.root, id: session.id, logId: session.logId };
      },
    }),
    subscriptions: await SubscriptionService.open({
      store,
      host: nodeHost,
      dataDirectory,
      allowLocalWebhooks,
      onFault,
    }),
    time,
    random: Math.random,
    onFault,
  };
}

function runningServer(context: ServerContext): RunningServer {
  const { front, readers, settings, subscriptions, sessions, received, sharing, store, onFault } =
    context;
  front.serve(requestListener(context), (cause) => onFault("the server", cause));
  const stopSweeping = sweepNowAndThen(context);
  const stopWatching = watchHealth(store, onFault);
  let closed: Promise<void> | null = null;
  const close = async () => {
    stopWatching();
    readers.stop();
    sessions.followers.stop();
    sharing.copies.stop();
    await front.close(settings.graceMs);
    await stopSweeping();
    await subscriptions.stop();
    await sessions.close();
    await received.close();
    await sharing.shares.close();
    await store.close();
  };
  const { url, port } = front; // A closed server has no port any more.
  return {
    url,
    port,
    get needsToken() {
      return context.gate.isRequired;
    },
    witnessKey: context.witness?.verifierKey ?? null,
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
 * Opens the store, recovers it, and serves it.
 *
 * Opens the store in `dataDirectory`, recovering what a crash left there, and serves it.
 *
 * @example
 * const server = await startServer({ dataDirectory: "./streams", port: 0 });
 * await fetch(`${server.url}/v1/stream/chat/1`, { method: "PUT" });
 * await server.close();
 */
export async function startServer(choices: ServeOptions): Promise<RunningServer> {
  const options = withinDescriptors(choices);
  const front = await openFront(options); // Before recovery, which can take a while.
  const { metrics } = front;
  const { queuedAppendsMax, queuedBytesMax, openFilesMax } = { ...SERVER_SETTINGS, ...options };
  const startedMs = performance.now();
  const limits = { queueRequestsMax: queuedAppendsMax, queueBytesMax: queuedBytesMax };
  const onBatch = (report: BatchReport) => metrics.batch(report);
  const open = async () => {
    const { store: url, durability, statementMs, connectMs } = options;
    const signing = options.sign === true ? await signerOf(options) : undefined;
    if (url !== undefined) {
      const { openPostgresStore } = await import("../postgres/postgres-store.ts");
      const times = { statementMs, connectMs };
      return openPostgresStore(url, { durability, limits, signing, onBatch, ...times });
    }
    const { dataDirectory, time = nodeTime } = options;
    return openReopeningStore({
      dataDirectory,
      openFilesMax,
      limits,
      signing,
      onBatch,
      now: time.nowMs,
      time,
    });
  };
  const openChecked = async () => {
    const store = await open();
    for (const { message } of await store.refusedForks()) options.onFault?.("streams", message);
    return store;
  };
  const store = await openChecked().catch(async (error: unknown) => {
    await front.close(0);
    throw error;
  });
  metrics.recoverySeconds = (performance.now() - startedMs) / 1000;
  return serveStore(store, options, front);
}

function withinDescriptors(options: ServeOptions): ServeOptions {
  const settings = { ...SERVER_SETTINGS, ...options };
  const limit = descriptorLimit();
  const fitted = fitDescriptors(settings, limit);
  const note = loweredNote(settings, fitted, limit);
  if (note !== null) options.onNote?.(note);
  return { ...options, ...fitted };
}

function openWitness(
  listPath: string,
  { dataDirectory, time = nodeTime }: ServeOptions,
): Promise<Witness> {
  const { nowMs } = time;
  return Witness.open({ host: nodeHost, dataDirectory, listPath, places: userPaths(), nowMs });
}

function signerOf({ onFault = () => {} }: ServeOptions): Promise<StreamSigner> {
  return loadStreamSigner(nodeHost, (warning) => onFault("signing", warning));
}
