/**
 * Opening: the page of a link, which gives the browser its cookie and leads to the viewer.
 *
 * The redirect removes the key from the address. Only GET uses a key: programs that preview links
 * send HEAD.
 */

import type { IncomingMessage, ServerResponse } from "node:http";
import type { BrowserKeys } from "../tokens/browser-keys.ts";
import { answer, answerText, methodNotAllowed, newHeaders } from "./http/answer.ts";

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
