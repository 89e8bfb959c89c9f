/**
 * Front: listens, from before the store is open until the last connection is closed.
 *
 * - It listens before recovery: until then every request gets "recovering", and a taken port is
 *   reported at once.
 * - Connections, unanswered requests and pipelined requests are limited. Above a limit the answer
 *   is 503, or the connection is closed.
 * - Slow senders are cut: there are timeouts for the head, the whole request and the TLS handshake,
 *   during which a connection already counts.
 * - Every answer gets "close" when its connection is gone, pipelined ones too.
 */

import { createServer, type IncomingMessage, type Server, type ServerResponse } from "node:http";
import { createServer as createTlsServer } from "node:https";
import type { AddressInfo, Socket } from "node:net";
import { createSecureContext } from "node:tls";
import { errnoOf, VerbatimError } from "../../core/base/errors.ts";
import { readUserFile, type UserFileRules } from "../../core/base/node-user-files.ts";
import { ServerMetrics } from "../metrics/server-metrics.ts";
import type { ServerSettings } from "../settings/limits.ts";
import { answerBroken, answerError, answerJson, badRequest, newHeaders } from "./answer.ts";
import { type RequestRecord, RequestTrack } from "./request-track.ts";
import { hasSeveralHosts, rawPath, takeHostOfTarget } from "./target.ts";

export type Handler = (
  request: IncomingMessage,
  response: ServerResponse,
  track: RequestTrack,
) => void;

export interface FrontOptions {
  readonly host: string;
  readonly port: number;
  readonly tls: TlsFiles | null;
  readonly settings: ServerSettings;
  readonly onRequest: ((record: RequestRecord) => void) | null;
  /** Monotonic milliseconds. */
  readonly monotonicMs: () => number;
}

/** The listen backlog, as far as the kernel allows. */
const BACKLOG_MAX = 4096;
const CLOSING_CHECK_MS = 20;
/** How often Node checks for requests that take too long. */
const TIMEOUT_CHECKS_MS = 1000;

/** Of addresses that mean all of this machine. */
const LOOPBACK: Readonly<Record<string, string>> = { "0.0.0.0": "127.0.0.1", "::": "::1" };

interface Connection {
  /** Answers in progress. */
  readonly pending: Set<ServerResponse>;
  readonly isTooMany: boolean;
}

export class Front {
  readonly metrics = new ServerMetrics();
  readonly #options: FrontOptions;
  readonly #server: Server;
  readonly #connections = new Map<Socket, Connection>();
  /** Connections that have not sent a request yet. */
  readonly #unused = new Set<Socket>();
  /** With TLS: connections before the end of the handshake, by peer. */
  readonly #handshakes = new Map<string, Socket>();
  #handler: Handler = answerRecovering;
  #inFlight = 0;

  /** Listens; throws PORT_TAKEN. */
  static async open(options: FrontOptions): Promise<Front> {
    const front = new Front(options);
    await listen(front.#server, options);
    return front;
  }

  private constructor(options: FrontOptions) {
    const { settings, tls } = options;
    this.#options = options;
    const timeouts = {
      // Longer than clients keep idle connections: closing one while the client reuses it looks
      // like a failure.
      keepAliveTimeout: settings.keepAliveTimeoutMs,
      headersTimeout: settings.headersTimeoutMs,
      requestTimeout: settings.requestTimeoutMs,
      connectionsCheckingInterval: Math.min(TIMEOUT_CHECKS_MS, settings.headersTimeoutMs),
      maxHeaderSize: settings.headerBytesMax,
    };
    const server = tls
      ? createTlsServer({
          ...timeouts,
          ...tls,
          minVersion: "TLSv1.2",
          handshakeTimeout: settings.headersTimeoutMs,
        })
      : createServer(timeouts);
    this.#server = server;
    // Above a number Node drops headers silently; their bytes are limited anyway.
    server.maxHeadersCount = 0;
    server.maxConnections = settings.connectionsMax + settings.refusedConnectionsMax;
    // Nothing is sent while a reader waits for data; a longer silence means it does not read.
    server.timeout = settings.longPollTimeoutMs + settings.stalledMs;
    if (tls) {
      server.on("connection", (socket: Socket) => this.#shaking(socket));
      server.on("secureConnection", (socket: Socket) => this.#shaken(socket));
    } else {
      server.on("connection", (socket: Socket) => this.#connected(socket));
    }
    server.on("drop", () => this.metrics.refusedConnection());
    server.on("request", (request, response) => this.#take(request, response));
    server.on("checkContinue", (request, response) => {
      const bytes = Number(request.headers["content-length"] ?? 0);
      // A body that is too large is refused before it is sent.
      if (!(bytes > settings.bodyBytesMax)) response.writeContinue();
      this.#take(request, response);
    });
    server.on("clientError", (error: Error, socket: Socket) => {
      this.metrics.broken(answerBroken(error, socket));
    });
  }

  /** One that works on this machine: `0.0.0.0` is no address to connect to. */
  get url(): string {
    const { host: given, tls } = this.#options;
    const host = LOOPBACK[given] ?? given;
    const name = host.includes(":") ? `[${host}]` : host;
    return `${tls ? "https" : "http"}://${name}:${this.port}`;
  }

  get port(): number {
    return (this.#server.address() as AddressInfo).port;
  }

  get connectionCount(): number {
    return this.#connections.size + this.#handshakes.size;
  }

  get inFlight(): number {
    return this.#inFlight;
  }

  /** Passes requests to this handler from now on. */
  serve(handler: Handler, onError: (cause: unknown) => void): void {
    this.#handler = handler;
    this.#server.on("error", onError);
  }

  /** Resolves when every connection is closed: idle ones at once, others when answered. */
  async close(graceMs: number): Promise<void> {
    const server = this.#server;
    const closed = new Promise<void>((resolve) => {
      server.close(() => resolve());
    });
    // Node counts a connection as idle only after its first request (20.20).
    for (const socket of this.#unused) socket.destroy();
    for (const socket of this.#handshakes.values()) socket.destroy();
    const idle = setInterval(() => server.closeIdleConnections(), CLOSING_CHECK_MS);
    const grace = setTimeout(() => server.closeAllConnections(), graceMs);
    await closed;
    clearInterval(idle);
    clearTimeout(grace);
  }

  #shaking(socket: Socket): void {
    const peer = peerOf(socket);
    this.#handshakes.set(peer, socket);
    socket.once("close", () => {
      if (this.#handshakes.get(peer) === socket) this.#handshakes.delete(peer);
    });
  }

  /** A TLS socket is not the accepted one, but has the same peer. */
  #shaken(socket: Socket): void {
    this.#handshakes.delete(peerOf(socket));
    this.#connected(socket);
  }

  #connected(socket: Socket): void {
    const isTooMany = this.connectionCount >= this.#options.settings.connectionsMax;
    if (isTooMany) this.metrics.refusedConnection();
    const connection: Connection = { pending: new Set(), isTooMany };
    this.#connections.set(socket, connection);
    this.#unused.add(socket);
    socket.once("close", () => {
      this.#unused.delete(socket);
      this.#connections.delete(socket);
      for (const response of connection.pending) tellGone(response);
    });
  }

  #take(request: IncomingMessage, response: ServerResponse): void {
    const { socket } = request;
    const connection = this.#connections.get(socket);
    if (connection === undefined) return; // Closed while the request was parsed.
    this.#unused.delete(socket);
    const { settings, monotonicMs, onRequest } = this.#options;
    const { pending } = connection;
    pending.add(response);
    this.#inFlight++;
    const track = new RequestTrack(request, this.metrics, monotonicMs(), onRequest !== null);
    response.on("close", () => {
      if (!pending.delete(response)) return;
      this.#inFlight--;
      track.finish(response, monotonicMs(), onRequest);
    });
    const isTooMuch = this.#inFlight > settings.requestsMax;
    if (pending.size > settings.pipelinedMax || (isTooMuch && pending.size > 1)) {
      this.metrics.broken("pipelined");
      socket.destroy(); // Answers cost more than the requests, and no client waits for so many.
    } else if (isTooMuch || connection.isTooMany) {
      const limit = isTooMuch ? "requestsMax" : "connectionsMax";
      response.shouldKeepAlive = false;
      track.failed("OVERLOADED");
      answerError(response, overloaded(limit, settings[limit]));
    } else if (hasSeveralHosts(request)) {
      track.failed("BAD_REQUEST");
      answerError(response, badRequest("Host", "must occur only once"));
    } else {
      takeHostOfTarget(request);
      this.#handler(request, response, track);
    }
  }
}

function peerOf({ remoteAddress, remotePort }: Socket): string {
  return `${remoteAddress} ${remotePort}`;
}

/** Node emits "close" only on the answer that has the socket, not on pipelined ones (20.20). */
function tellGone(response: ServerResponse): void {
  if (response.socket !== null) return;
  response.destroy();
  response.emit("close");
}

function listen(server: Server, { host, port }: FrontOptions): Promise<void> {
  return new Promise((resolve, reject) => {
    const failed = (cause: unknown) => {
      reject(errnoOf(cause) === "EADDRINUSE" ? portTaken(host, port) : cause);
    };
    server.once("error", failed);
    server.listen({ host, port, backlog: BACKLOG_MAX }, () => {
      server.off("error", failed);
      resolve();
    });
  });
}

const RECOVERING = "the server is recovering its data; retry in a moment";
const PROBES: ReadonlySet<string> = new Set(["/live", "/health", "/ready"]);

function answerRecovering(
  request: IncomingMessage,
  response: ServerResponse,
  track: RequestTrack,
): void {
  const path = rawPath(request.url ?? "/");
  if (!PROBES.has(path)) {
    track.failed("RECOVERING");
    answerError(response, new VerbatimError("RECOVERING", RECOVERING, { what: "streams" }));
    return;
  }
  const headers = newHeaders();
  headers.push("Cache-Control", "no-store");
  // A restart would begin the recovery again, so the liveness probe must succeed.
  const isLive = path === "/live";
  if (!isLive) headers.push("Retry-After", "1");
  const body = { status: "recovering", reason: RECOVERING };
  answerJson(response, isLive ? 200 : 503, body, headers);
}

function overloaded(limit: string, max: number): VerbatimError<"OVERLOADED"> {
  return new VerbatimError(
    "OVERLOADED",
    `the server is at its limit (${limit} is ${max}); retry in a moment`,
    { limit, max },
  );
}

function portTaken(host: string, port: number): VerbatimError {
  return new VerbatimError(
    "PORT_TAKEN",
    `port ${port} of ${host} is taken by another program; choose one with --port N, or any free ` +
      "one with --port 0",
    { host, port },
  );
}

const PEM_BYTES_MAX = 1024 * 1024;

interface TlsFiles {
  readonly key: string;
  readonly cert: string;
}

/** Reads the server's key and certificate; refuses a key that others can read, and files that are not a matching pair. */
export function readTlsFiles(keyPath: string, certPath: string): TlsFiles {
  const key = readPem("tlsKey", keyPath, "secret");
  const cert = readPem("tlsCert", certPath, "anyone");
  try {
    createSecureContext({ key, cert, minVersion: "TLSv1.2" });
  } catch (cause) {
    const reason = "the files are not a matching key and certificate in PEM";
    throw tlsRefused("tlsKey", `${keyPath} and ${certPath}`, reason, cause);
  }
  return { key, cert };
}

function readPem(setting: string, path: string, access: UserFileRules["access"]): string {
  // Renewal changes a symbolic link; the check is about the file behind it.
  const file = readUserFile(path, { bytesMax: PEM_BYTES_MAX, access, followsLinks: true });
  if (file === null) throw tlsRefused(setting, path, "there is no such file");
  if (file.fault !== null) throw tlsRefused(setting, path, file.fault);
  return file.text;
}

function tlsRefused(setting: string, path: string, reason: string, cause?: unknown): VerbatimError {
  return new VerbatimError(
    "BAD_SETTING",
    `${path} is refused for TLS: ${reason}`,
    { setting, from: "flag", reason },
    { cause },
  );
}
