/**
 * Reverse proxy: passes HTTP calls on to providers, and gives what passes to recorded calls; or
 * answers them from a recording.
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
import { BODY_BYTES_MAX, type Headers } from "../wire/body.ts";
import { Call, CallRoom, type CallSink } from "../wire/call.ts";
import { apiOf } from "../wire/provider-api.ts";
import type { RecordedAnswer, Recording, Unrecorded } from "./recording.ts";

export interface Replay {
  readonly recording: Recording;
  /** So many calls to models are answered from it; those after them are passed on. */
  readonly callsMax: number;
  readonly onUnrecorded: (call: number, why: Unrecorded) => void;
}

export interface ProxyOptions {
  /** Where calls go, by the first folder of their path; "": all of them, whatever the path. */
  readonly upstreams: ReadonlyMap<string, URL>;
  /** 0: any that is free. */
  readonly port: number;
  readonly sink: CallSink;
  readonly replay?: Replay | null;
}

export interface ReverseProxy {
  readonly url: string;
  /** Calls to models so far, and how many of them were answered from a recording. */
  readonly calls: { readonly all: number; readonly replayed: number };
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

export async function startProxy(options: ProxyOptions): Promise<ReverseProxy> {
  const { upstreams, port, sink, replay = null } = options;
  const room = new CallRoom();
  const calls = { all: 0, replayed: 0 };
  const server = createServer((incoming, response) => {
    const { method = "GET", url = "/" } = incoming;
    const route = routeOf(url, upstreams);
    if (typeof route === "string") return refuse(response, 404, route);
    if (!isLocal(incoming)) return refuse(response, 403, "only programs on this machine may call");
    const { target } = route;
    const isToModel = apiOf(method, target) !== null;
    const isReplayed = replay !== null && calls.all < replay.callsMax;
    if (isToModel) calls.all++;
    if (isReplayed && !isToModel) return refuse(response, 404, "only calls to models are recorded");
    if (isReplayed) {
      calls.replayed++;
      return void answerFrom(replay, calls.all, target, incoming, response);
    }
    const call = Call.begin({ method, target, headers: headersIn(incoming) }, sink, room);
    passOn(incoming, response, route.url, call);
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
    calls,
    close: () =>
      new Promise((resolve) => {
        server.close(() => resolve());
        server.closeIdleConnections();
      }),
  };
}

/** Where a call goes, and its path and query there; a text: why it goes nowhere. */
function routeOf(url: string, upstreams: ReadonlyMap<string, URL>) {
  const all = upstreams.get("");
  const [, folder = "", rest = ""] = all ? ["", "", url] : (/^\/([^/?]*)(.*)$/s.exec(url) ?? []);
  const base = upstreams.get(folder);
  if (base === undefined) {
    const names = [...upstreams.keys()].map((name) => `/${name}`).join(", ");
    return `the path must begin with one of ${names}: use the addresses that verbatim proxy printed`;
  }
  return { target: rest, url: new URL(base.origin + base.pathname.replace(/\/$/, "") + rest) };
}

/** A page in a browser must not write sessions. */
function isLocal({ headers }: IncomingMessage): boolean {
  return LOCAL_HOST.test(headers.host ?? "") && (headers["sec-fetch-site"] ?? "none") === "none";
}

function refuse(response: ServerResponse, status: number, message: string, details = {}): void {
  response.writeHead(status, { "content-type": "application/json" });
  const error = { type: "verbatim_proxy", message, ...details };
  response.end(JSON.stringify({ type: "error", error }));
}

async function answerFrom(
  { recording, onUnrecorded }: Replay,
  call: number,
  target: string,
  incoming: IncomingMessage,
  response: ServerResponse,
): Promise<void> {
  const chunks: Buffer[] = [];
  let bytes = 0;
  let answer: RecordedAnswer | Unrecorded;
  try {
    for await (const chunk of incoming) {
      bytes += chunk.length;
      if (bytes > BODY_BYTES_MAX) throw new Error("too long");
      chunks.push(chunk);
    }
    answer = await recording.answerTo(target, headersIn(incoming), Buffer.concat(chunks));
  } catch {
    return refuse(response, 400, "the request is too long, or cannot be decompressed");
  }
  if ("message" in answer) {
    onUnrecorded(call, answer);
    // No SDK tries this status again.
    return refuse(response, 400, answer.message, answer);
  }
  const { status, headers, body, end } = answer;
  if (end === "unreachable") return refuse(response, 502, "the provider could not be reached");
  response.writeHead(status, passed(Object.entries(headers).flat(), UNREPEATED));
  if (end === "whole") response.end(body);
  else response.write(body, () => response.socket?.destroySoon());
}

/** Of an answer that was compressed, and of its length on the way. */
const UNREPEATED = ["content-encoding", "content-length"];

function passOn(
  incoming: IncomingMessage,
  response: ServerResponse,
  url: URL,
  call: Call | null,
): void {
  const send = url.protocol === "https:" ? tlsRequest : plainRequest;
  const headers = ["host", url.host, ...passed(incoming.rawHeaders, ["host"])];
  const upstream = send(url, { method: incoming.method, headers });
  incoming.pipe(upstream);
  incoming.on("data", (chunk: Buffer) => call?.request(chunk));
  incoming.on("end", () => call?.requestEnd());
  response.on("close", () => {
    if (!response.writableFinished) call?.end("cancelled");
    upstream.destroy();
  });
  upstream.on("error", (cause: NodeJS.ErrnoException) => {
    if (response.destroyed) return;
    call?.end(response.headersSent ? "cut" : "unreachable");
    if (response.headersSent) response.destroy();
    else refuse(response, 502, `${url.origin} cannot be reached: ${cause.code ?? "failed"}`);
  });
  upstream.on("response", (answer) => {
    const { statusCode = 502, statusMessage = "" } = answer;
    response.writeHead(statusCode, statusMessage, passed(answer.rawHeaders, []));
    response.flushHeaders();
    call?.answer(statusCode, headersIn(answer));
    answer.pipe(response);
    answer.on("data", (chunk: Buffer) => call?.data(chunk));
    answer.on("end", () => call?.end("whole"));
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
