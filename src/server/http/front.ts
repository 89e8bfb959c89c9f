/**
 * Front: what listens, from before the store is open until the last connection is closed.
 *
 * FR1  It listens before recovery: until there is somebody to hand requests to, each is told that
 *      the server is recovering, and a taken port is known at once.
 * FR2  Connections, requests under way and requests sent ahead on one connection are bounded. Past
 *      it the answer is 503, or the connection is closed where it is itself what is too much.
 * FR3  Who is slow to send is cut: the head of a request and the whole of it have their time, and so
 *      has the handshake of TLS, before which a connection counts as well.
 * FR4  Every answer is told when its connection is gone ("close"), those too that wait for others.
 */

import { createServer, type IncomingMessage, type Server, type ServerResponse } from "node:http";
import { createServer as createTlsServer } from "node:https";
import type { AddressInfo, Socket } from "node:net";
import { errnoOf, VerbatimError } from "../../base/errors.ts";
import { ServerMetrics } from "../metrics/server-metrics.ts";
import type { ServerSettings } from "../settings.ts";
import { answerError, answerJson, badRequest, newHeaders } from "./answer.ts";
import { answerBroken } from "./broken-request.ts";
import { type RequestRecord, RequestTrack } from "./request-track.ts";
import { hasSeveralHosts, rawPath, takeHostOfTarget } from "./target.ts";
import type { TlsFiles } from "./tls.ts";

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
  /** Milliseconds that only go forward. */
  readonly monotonicMs: () => number;
}

/** Connections that are told why they are refused; any more are closed without a word. */
const REFUSED_TOGETHER_MAX = 256;
/** Connections that wait to be taken, as far as the kernel allows; past it, it refuses them. */
const BACKLOG_MAX = 4096;
const CLOSING_CHECK_MS = 20;
/** How often Node looks for requests that take too long. */
const TIMEOUT_CHECKS_MS = 1000;

interface Connection {
  /** Answers that are not over yet. */
  readonly pending: Set<ServerResponse>;
  readonly isTooMany: boolean;
}

export class Front {
  readonly metrics = new ServerMetrics();
  readonly #options: FrontOptions;
  readonly #server: Server;
  readonly #connections = new Map<Socket, Connection>();
  /** Those over which nothing was asked yet. */
  readonly #unused = new Set<Socket>();
  /** With TLS, those that have not shaken hands yet, by their peers. */
  readonly #handshakes = new Map<string, Socket>();
  #handler: Handler = answerRecovering;
  #inFlight = 0;

  /** Listens; refuses with PORT_TAKEN. */
  static async open(options: FrontOptions): Promise<Front> {
    const front = new Front(options);
    await listen(front.#server, options);
    return front;
  }

  private constructor(options: FrontOptions) {
    const { settings, tls } = options;
    this.#options = options;
    const timeouts = {
      // Longer than clients keep an idle connection: closing one just as it is used again looks
      // to them like a failure.
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
    // Past a number Node would drop headers in silence; their bytes are bounded anyway.
    server.maxHeadersCount = 0;
    server.maxConnections = settings.connectionsMax + REFUSED_TOGETHER_MAX;
    // Nothing is sent while a reader waits for data; longer silence is a reader that takes nothing.
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
      // One that will be refused for its size is not asked to send it.
      if (!(bytes > settings.bodyBytesMax)) response.writeContinue();
      this.#take(request, response);
    });
    server.on("clientError", (error: Error, socket: Socket) => {
      this.metrics.broken(answerBroken(error, socket));
    });
  }

  get url(): string {
    const { host, tls } = this.#options;
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

  /** From now on requests go there. */
  serve(handler: Handler, onError: (cause: unknown) => void): void {
    this.#handler = handler;
    this.#server.on("error", onError);
  }

  /** Resolves when every connection is closed: idle ones at once, the others when answered. */
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

  /** Another socket than the one that came, to the same peer. */
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
    if (connection === undefined) return; // It was closed while this was being parsed.
    this.#unused.delete(socket);
    const { settings, monotonicMs, onRequest } = this.#options;
    const { pending } = connection;
    pending.add(response);
    this.#inFlight++;
    const track = new RequestTrack(request, monotonicMs(), onRequest !== null);
    response.on("close", () => {
      if (!pending.delete(response)) return;
      this.#inFlight--;
      track.finish(response, this.metrics, monotonicMs(), onRequest);
    });
    const isTooMuch = this.#inFlight > settings.requestsMax;
    if (pending.size > settings.pipelinedMax || (isTooMuch && pending.size > 1)) {
      this.metrics.broken("pipelined");
      socket.destroy(); // Nobody waits for that many answers; and each costs more than its request.
    } else if (isTooMuch || connection.isTooMany) {
      const limit = isTooMuch ? "requestsMax" : "connectionsMax";
      response.shouldKeepAlive = false;
      this.metrics.error("OVERLOADED");
      answerError(response, overloaded(limit, settings[limit]));
    } else if (hasSeveralHosts(request)) {
      this.metrics.error("BAD_REQUEST");
      answerError(response, badRequest("Host", "is given more than once"));
    } else {
      takeHostOfTarget(request);
      this.#handler(request, response, track);
    }
  }
}

function peerOf({ remoteAddress, remotePort }: Socket): string {
  return `${remoteAddress} ${remotePort}`;
}

/** FR4: Node tells only the one of them whose turn it is, which alone has the socket (20.20). */
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

const RECOVERING = "the server is putting its data in order; ask again in a moment";
const PROBES: ReadonlySet<string> = new Set(["/live", "/health", "/ready"]);

function answerRecovering(request: IncomingMessage, response: ServerResponse): void {
  const path = rawPath(request.url ?? "/");
  if (!PROBES.has(path)) {
    answerError(response, new VerbatimError("RECOVERING", RECOVERING, { what: "streams" }));
    return;
  }
  const headers = newHeaders();
  headers.push("Cache-Control", "no-store");
  // A restart would only begin the recovery again, so the liveness probe must not ask for one.
  const isLive = path === "/live";
  if (!isLive) headers.push("Retry-After", "1");
  const body = { status: "recovering", reason: RECOVERING };
  answerJson(response, isLive ? 200 : 503, body, headers);
}

function overloaded(limit: string, max: number): VerbatimError<"OVERLOADED"> {
  return new VerbatimError(
    "OVERLOADED",
    `the server has as much to do as it takes at once (${limit} is ${max}); ask again in a moment`,
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
