/** Pages: what a server says of itself. */

import type { ServerResponse } from "node:http";
import { answerJson, answerText, newHeaders } from "./answer.ts";
import type { ServerContext } from "./context.ts";
import { STREAM_ROOT } from "./target.ts";

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

/** 200 while appends are taken; 503, with the reason, once they are not. Reads may still work. */
export function answerHealth({ store, readers, feeds }: ServerContext, response: ServerResponse) {
  const health = store.health();
  const headers = newHeaders();
  headers.push("Cache-Control", "no-store");
  const live = { liveReaders: readers.count, eventFeeds: feeds.count };
  if (health.isWritable) return answerJson(response, 200, { status: "ok", ...live }, headers);
  answerJson(response, 503, { status: "read-only", reason: health.reason, ...live }, headers);
}
