/** Pages: the welcome page, the page of a link, health and metrics. */

import type { IncomingMessage, ServerResponse } from "node:http";
import type { StoreHealth, StreamStore } from "../../streams/files/stream-store.ts";
import type { BrowserKeys } from "../auth/browser-keys.ts";
import type { Admission } from "../auth/gate.ts";
import type { ServerContext } from "../context.ts";
import { answer, answerJson, answerText, methodNotAllowed, newHeaders } from "../http/answer.ts";
import { METRICS_TYPE, metricsText } from "../metrics/server-metrics.ts";
import { tokenMetrics } from "../metrics/token-metrics.ts";
import { STREAM_ROOT } from "../router/paths.ts";

const WELCOME = `<!doctype html>
<html lang="en">
<meta charset="utf-8">
<title>Verbatim</title>
<style>body{font:16px/1.5 system-ui,sans-serif;max-width:40rem;margin:4rem auto;padding:0 1rem}</style>
<h1>Verbatim</h1>
<p>A server of durable streams: append-only, acknowledged when it is on the disk, read byte for byte.</p>
<pre>PUT    ${STREAM_ROOT}/chat/1    create
POST   ${STREAM_ROOT}/chat/1    append
GET    ${STREAM_ROOT}/chat/1    read; with ?offset=…&amp;live=sse or live=long-poll, what comes
HEAD   ${STREAM_ROOT}/chat/1    where it ends
DELETE ${STREAM_ROOT}/chat/1</pre>
<p><a href="/health">Health</a></p>
</html>
`;

export function answerWelcome(response: ServerResponse): void {
  const headers = newHeaders();
  headers.push("Content-Security-Policy", "default-src 'none'; style-src 'unsafe-inline'");
  answerText(response, 200, "text/html; charset=utf-8", WELCOME, headers);
}

/**
 * `/health` and `/live`: 200 while appends are accepted, otherwise 503 with the reason. Reads may
 * still work. The two differ during recovery (http/front.ts), and while a database is gone or a
 * disk is full: a restart would not help.
 */
export function answerHealth(
  context: ServerContext,
  response: ServerResponse,
  isLive: boolean,
): void {
  const { store, readers, feeds, gate } = context;
  const health = store.health();
  const headers = newHeaders();
  headers.push("Cache-Control", "no-store");
  const durability = store.promises === undefined ? {} : { durability: store.promises.durability };
  const live = { liveReaders: readers.count, eventFeeds: feeds.count, ...durability };
  const status = statusOf(health);
  if (health.isWritable) {
    answerJson(response, 200, { status, ...live }, headers);
    return;
  }
  // The reason names files, so it is not shown to clients without a token.
  const reason = gate.isRequired ? "see the server's log" : health.reason;
  const isPassing = status === "unavailable" || health.isPassing === true;
  answerJson(response, isLive && isPassing ? 200 : 503, { status, reason, ...live }, headers);
}

/** `/ready`: not ready when stopping or when appends are not accepted. */
export function answerReady({ store, readers }: ServerContext, response: ServerResponse): void {
  const headers = newHeaders();
  headers.push("Cache-Control", "no-store");
  const health = statusOf(store.health());
  const status = readers.isStopping ? "stopping" : health === "ok" ? "ready" : health;
  answerJson(response, status === "ready" ? 200 : 503, { status }, headers);
}

export function answerMetrics(
  context: ServerContext,
  response: ServerResponse,
  pass: Admission | null,
): void {
  const { front, bodies, answers, readers, feeds, store } = context;
  const moments = {
    connections: () => front.connectionCount,
    inFlight: () => front.inFlight,
    bodyBytes: () => bodies.held,
    answerBytes: () => answers.held,
    liveReaders: () => readers.count,
    eventFeeds: () => feeds.count,
    isWritable: () => store.health().isWritable,
  };
  const ofTokens = tokenMetrics(context, pass);
  // Counts of the whole server would show a token for some paths what others do.
  const seesAll = pass === null || pass.paths === null;
  const text = seesAll ? front.metrics.text(moments, ofTokens) : metricsText(ofTokens);
  const headers = newHeaders();
  headers.push("Cache-Control", "no-store");
  answerText(response, 200, METRICS_TYPE, text, headers);
}

const REFUSED = `<!doctype html>
<html lang="en">
<meta charset="utf-8">
<meta name="viewport" content="width=device-width">
<title>Verbatim</title>
<style>body{font:16px/1.5 system-ui,sans-serif;max-width:40rem;margin:4rem auto;padding:0 1rem}</style>
<h1>This link is not valid any more</h1>
<p>A link to your sessions works once, for an hour, until the server is restarted.</p>
<p>For a new one, run <code>verbatim open</code> on the server's machine, as the user who runs it, with the
server's <code>--data</code> if it has one.</p>
<p>If you did not use this link yourself, someone else did. Stop the server, delete
<code>.viewer.json</code> in its data directory, and start it again: that ends all access.</p>
</html>
`;

/**
 * The page of a link, which gives the browser its cookie and leads to the viewer.
 *
 * The redirect removes the key from the address. Only GET uses a key: programs that preview links
 * send HEAD.
 */
export function answerOpening(
  browsers: BrowserKeys,
  request: IncomingMessage,
  response: ServerResponse,
): void {
  if (request.method !== "GET") throw methodNotAllowed("GET, OPTIONS");
  const headers = newHeaders();
  headers.push("Cache-Control", "no-store", "Referrer-Policy", "no-referrer");
  const query = (request.url ?? "").split("?")[1] ?? "";
  const cookie = browsers.exchange(new URLSearchParams(query).get("key") ?? "");
  if (cookie === null && !browsers.admits(request)) {
    headers.push("Content-Security-Policy", "default-src 'none'; style-src 'unsafe-inline'");
    headers.push("WWW-Authenticate", 'Bearer realm="verbatim"');
    answerText(response, 401, "text/html; charset=utf-8", REFUSED, headers);
    return;
  }
  if (cookie !== null) headers.push("Set-Cookie", cookie);
  headers.push("Location", "./");
  answer(response, 303, headers);
}

const LOOK_MS = 1000;

type StoreStatus = "ok" | "read-only" | "unavailable";

function statusOf(health: StoreHealth): StoreStatus {
  if (health.isWritable) return "ok";
  return health.isReadable === false ? "unavailable" : "read-only";
}

/**
 * Reports when streams stop and begin to work, as faults of the server. Requests are refused
 * meanwhile with codes that are no faults, so without this the log would say nothing. Returns the
 * function that ends it.
 */
export function watchHealth(
  store: StreamStore,
  onFault: (what: string, cause: unknown) => void,
): () => void {
  let status: StoreStatus = "ok";
  let sinceMs = 0;
  const look = () => {
    const health = store.health();
    const now = statusOf(health);
    if (now === status) return;
    status = now;
    if (health.isWritable) {
      const seconds = Math.round((performance.now() - sinceMs) / 1000);
      onFault("streams are available again", `after ${seconds} s`);
    } else {
      sinceMs = performance.now();
      onFault(`streams are ${now}`, health.reason);
    }
  };
  const timer = setInterval(look, LOOK_MS);
  return () => clearInterval(timer);
}
