/**
 * Reverse proxy: passes HTTP calls on to providers, and gives what passes to recorded calls.
 *
 * - Bytes are the same in both directions, and none waits for another: a chunk goes on when it
 *   comes, and is collected after that. Only the headers of a connection are made again.
 * - The first folder of a path names the provider. No call goes anywhere else: a key of one provider
 *   never reaches another.
 * - If either side breaks off, so does the other: what was cut is never taken for an end.
 */

import type { ServerResponse } from "node:http";
import { createServer, type IncomingMessage, request as plainRequest } from "node:http";
import { request as tlsRequest } from "node:https";
import type { AddressInfo } from "node:net";
import type { Headers } from "../wire/body.ts";
import { Call, CallRoom, type CallSink } from "../wire/call.ts";

export interface ProxyOptions {
  /** Where calls go, by the first folder of their path; "": all of them, whatever the path. */
  readonly upstreams: ReadonlyMap<string, URL>;
  /** 0: any that is free. */
  readonly port: number;
  readonly sink: CallSink;
}

export interface ReverseProxy {
  readonly url: string;
  /** Calls to models so far. */
  readonly calls: () => number;
  /** Resolves when open calls have ended. */
  close(): Promise<void>;
}

/** Of one connection, not of the call. */
const HOP_HEADERS: readonly string[] = [
  "connection",
  "keep-alive",
  "proxy-connection",
  "te",
  "trailer",
  "transfer-encoding",
  "upgrade",
];

const LOOPBACK = "127.0.0.1";
const LOCAL_HOST = /^(?:127\.0\.0\.1|localhost|\[::1\])(?::\d+)?$/;

export async function startProxy({ upstreams, port, sink }: ProxyOptions): Promise<ReverseProxy> {
  const room = new CallRoom();
  let calls = 0;
  const server = createServer((incoming, response) => {
    const target = targetOf(incoming, upstreams);
    if (typeof target === "string") return refuse(response, 404, target);
    if (!isLocal(incoming)) return refuse(response, 403, "only programs on this machine may call");
    const { method = "GET", url = "/" } = incoming;
    const headers = headersIn(incoming);
    const call = Call.begin({ method, target: url, headers }, sink, room);
    if (call !== null) calls++;
    passOn(incoming, response, target, call);
  });
  // A model may think for minutes.
  server.requestTimeout = 0;
  server.headersTimeout = 0;
  await new Promise<void>((resolve, reject) => {
    server.once("error", reject);
    server.listen(port, LOOPBACK, resolve);
  });
  return {
    url: `http://${LOOPBACK}:${(server.address() as AddressInfo).port}`,
    calls: () => calls,
    close: () =>
      new Promise((resolve) => {
        server.close(() => resolve());
        server.closeIdleConnections();
      }),
  };
}

/** The URL that a call goes to; a text: why there is none. */
function targetOf({ url = "/" }: IncomingMessage, upstreams: ReadonlyMap<string, URL>) {
  const all = upstreams.get("");
  const [, folder = "", rest = ""] = all ? ["", "", url] : (/^\/([^/?]*)(.*)$/s.exec(url) ?? []);
  const base = upstreams.get(folder);
  if (base === undefined) {
    const names = [...upstreams.keys()].map((name) => `/${name}`).join(", ");
    return `the path must begin with one of ${names}: use the addresses that verbatim proxy printed`;
  }
  return new URL(base.origin + base.pathname.replace(/\/$/, "") + rest);
}

/** A page in a browser must not write sessions. */
function isLocal({ headers }: IncomingMessage): boolean {
  return LOCAL_HOST.test(headers.host ?? "") && (headers["sec-fetch-site"] ?? "none") === "none";
}

function refuse(response: ServerResponse, status: number, message: string): void {
  response.writeHead(status, { "content-type": "application/json" });
  response.end(JSON.stringify({ error: { type: "verbatim_proxy", message } }));
}

function passOn(
  incoming: IncomingMessage,
  response: ServerResponse,
  target: URL,
  call: Call | null,
): void {
  const send = target.protocol === "https:" ? tlsRequest : plainRequest;
  const headers = ["host", target.host, ...passed(incoming.rawHeaders, ["host"])];
  const upstream = send(target, { method: incoming.method, headers });
  incoming.on("data", (chunk: Buffer) => {
    if (!upstream.write(chunk)) incoming.pause();
    call?.request(chunk);
  });
  upstream.on("drain", () => incoming.resume());
  incoming.on("end", () => {
    upstream.end();
    call?.requestEnd();
  });
  response.on("close", () => {
    if (!response.writableFinished) call?.end("cancelled");
    upstream.destroy();
  });
  upstream.on("error", (cause: NodeJS.ErrnoException) => {
    if (response.destroyed) return;
    call?.end(response.headersSent ? "cut" : "unreachable");
    if (response.headersSent) response.destroy();
    else refuse(response, 502, `${target.origin} cannot be reached: ${cause.code ?? "failed"}`);
  });
  upstream.on("response", (answer) => {
    const { statusCode = 502, statusMessage = "" } = answer;
    response.writeHead(statusCode, statusMessage, passed(answer.rawHeaders, []));
    response.flushHeaders();
    call?.answer(statusCode, headersIn(answer));
    answer.on("data", (chunk: Buffer) => {
      if (!response.write(chunk)) answer.pause();
      call?.data(chunk);
    });
    response.on("drain", () => answer.resume());
    answer.on("end", () => {
      response.end();
      call?.end("whole");
    });
    answer.on("error", () => {
      call?.end(response.destroyed ? "cancelled" : "cut");
      response.destroy();
    });
  });
}

/** Names and values in turn, as they came. */
function passed(raw: readonly string[], without: readonly string[]): string[] {
  const dropped = [...HOP_HEADERS, ...without, ...namedBy(raw)];
  return raw.filter((_, at) => !dropped.includes((raw[at - (at % 2)] ?? "").toLowerCase()));
}

/** Headers that `connection` calls its own. */
function namedBy(raw: readonly string[]): string[] {
  const at = raw.findIndex((name, n) => n % 2 === 0 && name.toLowerCase() === "connection");
  return at < 0 ? [] : (raw[at + 1] ?? "").toLowerCase().split(/\s*,\s*/);
}

function headersIn({ headers }: IncomingMessage): Headers {
  const texts = Object.entries(headers).map(([name, value]) => [name, [value].flat().join("; ")]);
  return Object.fromEntries(texts);
}
