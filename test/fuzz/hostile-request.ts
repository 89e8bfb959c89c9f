/** Hostile requests, generated from a seed. */

import type { Random } from "../torture/scheduler.ts";
import { hostileBody } from "./hostile-body.ts";

const METHODS = [
  "GET",
  "HEAD",
  "POST",
  "PUT",
  "DELETE",
  "OPTIONS",
  "PATCH",
  "TRACE",
  "CONNECT",
  "PROPFIND",
  "get",
  "G\0T",
  "",
  "POST ",
  "🙂",
  "A".repeat(300),
];
const VERSIONS = ["HTTP/1.1", "HTTP/1.1", "HTTP/1.1", "HTTP/1.0", "HTTP/2.0", "HTTP/9", "", "ICY"];

const ROOTS = ["/v1/stream", "/v1/stream/__ds/subscriptions", "/v1/sessions", ""];
const NAMES = [
  "a",
  "b/c",
  "chat/1",
  "..",
  "../..",
  "%2e%2e",
  "..%2f..%2f..",
  "%252e%252e",
  "....//",
  ".",
  "%00",
  "%0a",
  "%",
  "%zz",
  "%ff",
  "a%2Fb",
  "//",
  "\\..\\",
  "~",
  "~2",
  "a__b",
  "%5F_ds",
  "__ds",
  "canary.txt",
  "../canary.txt",
  "..%2fcanary.txt",
  "%2e%2e/%2e%2e/canary.txt",
  "/etc/passwd",
  "file:///etc/passwd",
  "tokens.json",
  "streams.db",
  "logs/a.jsonl",
  "é",
  "%F0%9F%99%82",
  "s/claim",
  "s/ack",
  "s/callback",
  "s/release",
  "s/streams",
  "s/streams/a",
  "s/entries",
  "jwks.json",
  "rye~canary",
  "homeagent~s",
  "s/raw",
  "s/events",
  "s/markdown",
  "s/verify",
];
const QUERIES = [
  "",
  "",
  "?offset=-1",
  "?offset=now&live=sse",
  "?offset=-1&live=long-poll",
  "?live=sse",
  "?offset=0000000000000000_0000000000000000&live=sse&cursor=1",
  "?offset=x",
  "?offset=%00",
  "?offset=9999999999999999_9999999999999999",
  "?offset=-1&offset=-1",
  "?%",
  "?limit=-1",
  "?limit=1e9&from=999999999999999999",
  "?root=../..",
  "?cursor=99999999999999999999&live=sse",
];
const VALUES = [
  "",
  "true",
  "false",
  "0",
  "1",
  "-1",
  "00",
  "1e3",
  "0x10",
  "99999999999999999999",
  "NaN",
  "application/json",
  "text/plain",
  "application/octet-stream",
  "*/*",
  "a/b; c=d",
  "\t x \t",
  "chunked",
  "gzip",
  "identity",
  "chunked, chunked",
  "close",
  "keep-alive",
  "upgrade",
  "h2c",
  "2026-11-15T12:00:00Z",
  "0001-01-01T00:00:00Z",
  "Bearer x",
  "Basic eDp5",
  "*",
  '"x"',
  "W/",
  "/v1/stream/a",
  "/v1/stream/../../canary.txt",
  "http://127.0.0.1/",
  "localhost",
  "[::1]:1",
  "a\0b",
  "a\rb",
  "é",
  "x".repeat(5000),
  "100-continue",
  "200-maybe",
  "bytes=0-",
  "p".repeat(257),
];
const HEADERS = [
  "Content-Type",
  "Content-Length",
  "Transfer-Encoding",
  "Content-Encoding",
  "Connection",
  "Host",
  "Origin",
  "Expect",
  "Upgrade",
  "Authorization",
  "If-None-Match",
  "Range",
  "TE",
  "Stream-Seq",
  "Stream-TTL",
  "Stream-Expires-At",
  "Stream-Closed",
  "Stream-Forked-From",
  "Stream-Fork-Offset",
  "Stream-Fork-Sub-Offset",
  "Producer-Id",
  "Producer-Epoch",
  "Producer-Seq",
  "Last-Event-ID",
  "Accept",
  "Cookie",
  "X-Forwarded-For",
  "__proto__",
  "bad name",
];
/** Names that valid requests share, so that they reach the same streams. */
const PLAIN_NAMES = ["a", "b/c", "chat/1", "chat/2"];
/** The resources of one session, and their parameters. */
const PARTS = [
  "",
  "/entries",
  "/checkpoints",
  "/bytes",
  "/events",
  "/markdown",
  "/verify",
  "/usage",
];
const PART_QUERIES = [
  "",
  "",
  "",
  "",
  "?limit=1",
  "?from=0",
  "?before=99&limit=5",
  "?around=10",
  "?from=0&to=10",
  "?offset=0",
  "?limit=0",
  "?limit=1001",
  "?from=-1",
  "?from=1e9",
  "?to=5",
  "?native=1",
  "?q=%ff",
  "?x=y",
];
/** Headers that do not keep a request from being read. */
const OWN_HEADERS = HEADERS.filter((name) => /^(?:Stream|Producer|Range|If|Last)-/.test(name));
/** Whole messages that are not an HTTP/1 request at all. */
const STRANGERS = [
  "PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n\0\0\0\x04\0\0\0\0\0",
  "\x16\x03\x01\x02\0\x01\0\x01\xfc\x03\x03",
  "\r\n\r\n\r\n",
  "HTTP/1.1 200 OK\r\n\r\n",
  "GET / HTTP/1.1\r\nHost: localhost\r\nUpgrade: websocket\r\nConnection: Upgrade\r\n\r\n\x81\x05hello",
  "OPTIONS * HTTP/1.1\r\nHost: localhost\r\n\r\n",
  "GET http://example.com/v1/stream/a HTTP/1.1\r\nHost: localhost\r\n\r\n",
  "CONNECT localhost:22 HTTP/1.1\r\nHost: localhost\r\n\r\nSSH-2.0-x\r\n",
];

/** The bytes of one case: one request, several pipelined ones, or no valid request. */
export function hostileBytes(random: Random, sessions: readonly string[]): Buffer {
  const kind = random.below(20);
  if (kind === 0) return Buffer.from(random.pick(STRANGERS), "latin1");
  if (kind === 1) return noise(random, random.below(2000));
  const count = kind === 2 ? 1 + random.below(40) : 1;
  const requests = Array.from({ length: count }, () => hostileRequest(random, sessions));
  const bytes = Buffer.concat(requests);
  return random.below(4) === 0 ? mutated(random, bytes) : bytes;
}

function hostileRequest(random: Random, sessions: readonly string[]): Buffer {
  const isOrderly = random.below(3) > 0; // Most pass the parser and reach the code behind it.
  const version = isOrderly ? "HTTP/1.1" : random.pick(VERSIONS);
  const { framing, bytes } = hostileBody(random, isOrderly);
  const isPlain = isOrderly && random.chance(0.6);
  const place = isPlain ? plainTarget(random, sessions) : target(random);
  const method = methodFor(random, place, isOrderly);
  const lines = [`${method} ${place} ${version}`];
  if (isOrderly || random.below(2)) lines.push("Host: localhost");
  if (isOrderly) lines.push(`Content-Type: ${random.below(2) ? "application/json" : "text/plain"}`);
  const names = isOrderly ? OWN_HEADERS : HEADERS;
  for (let n = random.below(isOrderly ? 2 : 12); n > 0; n--) lines.push(headerLine(random, names));
  const ending = isOrderly || random.below(5) ? "\r\n" : random.pick(["\n", "\r", "\r\n\r\n"]);
  const head = `${[...lines, ...framing].join(ending)}${ending}${ending}`;
  return Buffer.concat([Buffer.from(head, "latin1"), bytes]);
}

/** Sessions are read-only, so they get read requests. */
function methodFor(random: Random, place: string, isOrderly: boolean): string {
  if (!isOrderly) return random.pick(METHODS);
  if (place.startsWith("/v1/sessions/") && random.chance(0.9)) return "GET";
  return METHODS[random.below(6)] ?? "GET";
}

function target(random: Random): string {
  const names = Array.from({ length: 1 + random.below(3) }, () => random.pick(NAMES));
  const path = `${random.pick(ROOTS)}/${names.join("/")}`;
  if (random.below(60) === 0) return path + "x".repeat(20_000);
  return path + random.pick(QUERIES);
}

/** `sessions` are URLs of existing ones. */
function plainTarget(random: Random, sessions: readonly string[]): string {
  if (sessions.length > 0 && random.chance(0.25)) {
    return random.pick(sessions) + random.pick(PARTS) + random.pick(PART_QUERIES);
  }
  if (random.chance(0.2)) return `/v1/stream/__ds/subscriptions/${random.pick(["s", "t"])}`;
  return `/v1/stream/${random.pick(PLAIN_NAMES)}${random.pick(QUERIES)}`;
}

function headerLine(random: Random, names: readonly string[]): string {
  const name = random.pick(names);
  const colon = random.below(20) ? ": " : random.pick([":", " : ", "", ":\r\n folded "]);
  return `${name}${colon}${random.pick(VALUES)}`;
}

function mutated(random: Random, bytes: Buffer): Buffer {
  let result = bytes;
  for (let n = 1 + random.below(8); n > 0 && result.length > 0; n--) {
    const at = random.below(result.length);
    const end = Math.min(result.length, at + random.below(50));
    const before = result.subarray(0, at);
    switch (random.below(4)) {
      case 0:
        result = Buffer.concat([before, noise(random, 1), result.subarray(at + 1)]);
        break;
      case 1:
        result = Buffer.concat([before, noise(random, random.below(20)), result.subarray(at)]);
        break;
      case 2:
        result = Buffer.concat([before, result.subarray(end)]);
        break;
      default:
        result = Buffer.concat([before, result.subarray(at, end), result.subarray(at)]);
    }
  }
  return result;
}

export function noise(random: Random, length: number): Buffer {
  return Buffer.from(Array.from({ length }, () => random.below(256)));
}
