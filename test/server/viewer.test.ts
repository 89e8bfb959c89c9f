/** The viewer's files: how they are served, and how much a first visit loads. */

import assert from "node:assert/strict";
import { once } from "node:events";
import { get, type IncomingMessage } from "node:http";
import { buffer } from "node:stream/consumers";
import { gunzipSync } from "node:zlib";
import { test } from "vitest";
import { tempDirectory } from "../support/temp-directory.ts";
import { makeToken } from "./auth/token-user.ts";
import { header, startTestServer } from "./test-server.ts";

const FIRST_LOAD_BYTES_MAX = 150_000;

/** The raw exchange: `fetch` would normalise the path and decompress. */
async function got(url: string, path: string, headers: Record<string, string> = {}) {
  const [answer] = (await once(get(url, { path, headers }), "response")) as [IncomingMessage];
  return { status: answer.statusCode, headers: answer.headers, body: await buffer(answer) };
}

const filesNamedIn = (page: string) =>
  [...page.matchAll(/(?:src|href)="\.(\/[^"]+)"/g)].map(([, path = ""]) => path);

test("the page and its files are served with a strict policy, ETags and permanent names", async () => {
  const { url } = await startTestServer();
  const page = await fetch(`${url}/`);
  assert.equal(header(page, "content-type"), "text/html; charset=utf-8");
  assert.equal(header(page, "cache-control"), "no-cache");
  const policy = header(page, "content-security-policy");
  for (const rule of ["default-src 'none'", "script-src 'self'", "frame-ancestors 'none'"]) {
    assert.ok(policy.split("; ").includes(rule), rule);
  }
  assert.doesNotMatch(policy, /unsafe|\*|https?:/);
  assert.equal(header(page, "referrer-policy"), "no-referrer");
  assert.equal(header(page, "x-content-type-options"), "nosniff");
  const text = await page.text();
  assert.doesNotMatch(text, /<style|<script(?![^>]*\ssrc=)|\son\w+=|https?:/, "nothing inline");
  for (const path of filesNamedIn(text)) {
    const whole = await fetch(`${url}${path}`, { headers: { "Accept-Encoding": "identity" } });
    const bytes = Buffer.from(await whole.arrayBuffer());
    const head = await fetch(`${url}${path}`, { method: "HEAD" });
    assert.deepEqual([whole.status, head.status], [200, 200], path);
    assert.ok(Number(header(head, "content-length")) > 0);
    const fixed = "public, max-age=31536000, immutable";
    assert.equal(header(whole, "cache-control"), path.startsWith("/assets/") ? fixed : "no-cache");
    const same = { headers: { "If-None-Match": `"other", ${header(whole, "etag")}` } };
    assert.equal((await fetch(`${url}${path}`, same)).status, 304);
    const zipped = await got(url, path, { "Accept-Encoding": "br, gzip" });
    assert.equal(zipped.headers["content-encoding"], "gzip");
    assert.deepEqual(gunzipSync(zipped.body), bytes);
    const refusing = await got(url, path, { "Accept-Encoding": "gzip;q=0, identity" });
    assert.equal(refusing.headers["content-encoding"], undefined);
  }
});

test("a path that is not a file of the viewer reaches no file", async () => {
  const { url } = await startTestServer();
  for (const path of [
    "/assets",
    "/assets/",
    "/assets/none.js",
    "/index.html",
    "/viewer.js",
    "/.vite",
    "/assets/../package.json",
    "/assets/%2e%2e/index.html",
    "/assets/..%2findex.html",
    "/../../package.json",
    "//assets/x",
    "/assets/%00",
    "/assets/\\\\..\\\\index.html",
  ]) {
    assert.equal((await got(url, path)).status, 404, path);
  }
});

test("if tokens are required, the page itself needs none and its data does", async () => {
  const dataDirectory = tempDirectory();
  await makeToken(dataDirectory);
  const { url } = await startTestServer({ dataDirectory });
  const page = await fetch(`${url}/`);
  assert.equal(page.status, 200);
  for (const path of filesNamedIn(await page.text())) {
    assert.equal((await fetch(`${url}${path}`)).status, 200, path);
  }
  assert.equal((await fetch(`${url}/v1/sessions`)).status, 401);
});

test("a first visit loads less than 150 KB, compressed", async () => {
  const { url } = await startTestServer();
  let total = 0;
  const asked = { "Accept-Encoding": "gzip" };
  const page = gunzipSync((await got(url, "/", asked)).body).toString();
  for (const path of ["/", ...filesNamedIn(page)]) {
    total += (await got(url, path, asked)).body.length;
  }
  assert.ok(total < FIRST_LOAD_BYTES_MAX, `${total} bytes`);
});
