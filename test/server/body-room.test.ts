/** Room for bodies: every way in which an upload can end gives it back. */

import assert from "node:assert/strict";
import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { describe, test } from "vitest";
import { selfSigned } from "../support/self-signed.ts";
import { tempDirectory } from "../support/temp-directory.ts";
import { until } from "../support/until.ts";
import { bearer, makeToken } from "./auth/token-user.ts";
import { endTime, nodeServer } from "./node-server.ts";
import { RawConnection } from "./raw-http.ts";
import { startTestServer } from "./test-server.ts";

const TYPE = "application/octet-stream";
const KIB = 1024;
const LIMITS = { bodyBytesMax: 256 * KIB };
const FLOOD = 12;

interface Upload {
  readonly bytes: number;
  /** The Content-Length; absent: the body is chunked. */
  readonly declared?: number;
  /** How it ends, after what it sent has arrived. */
  readonly end: "complete" | "half-close" | "reset" | "wait";
  readonly expect?: string;
  readonly answer: RegExp;
}

const NO_ANSWER = /^$/;
const CUT = { bytes: 96 * KIB, declared: 192 * KIB };
const TOO_LONG = { bytes: 400 * KIB, answer: /^HTTP\/1\.1 413 .*BODY_TOO_LARGE/s } as const;

const CONTINUED = {
  bytes: 400 * KIB,
  expect: "100-continue",
  answer: /^HTTP\/1\.1 100 .*HTTP\/1\.1 413 .*BODY_TOO_LARGE/s,
} as const;

const UPLOADS: readonly (readonly [string, Upload])[] = [
  ["complete", { bytes: 96 * KIB, end: "complete", answer: /^HTTP\/1\.1 204 / }],
  ["too long", { ...TOO_LONG, end: "complete" }],
  ["too long and unfinished", { ...TOO_LONG, end: "half-close" }],
  ["too long and aborted", { ...TOO_LONG, end: "reset" }],
  ["too long by its Content-Length", { ...TOO_LONG, declared: 400 * KIB, end: "complete" }],
  ["too long after a 100", { ...CONTINUED, end: "complete" }],
  ["too long after a 100, and unfinished", { ...CONTINUED, end: "half-close" }],
  ["cut", { ...CUT, end: "half-close", answer: /^HTTP\/1\.1 400 / }],
  ["cut within chunks", { bytes: 96 * KIB, end: "half-close", answer: /^HTTP\/1\.1 400 / }],
  ["aborted", { ...CUT, end: "reset", answer: NO_ANSWER }],
];

describe.each(["HTTP", "TLS"])("over %s", (kind) => {
  test.each(UPLOADS)("a flood of bodies leaves no room taken: %s", async (_, upload) => {
    const user = await startUser(kind);
    await user.flood(upload);
    assert.equal(await user.bodyBytes(), 0);
    await user.flood({ bytes: 64 * KIB, end: "complete", answer: /^HTTP\/1\.1 204 / });
  });

  test("bodies that are too slow leave no room taken", async () => {
    const user = await startUser(kind);
    await user.flood({ ...CUT, end: "wait", answer: /^HTTP\/1\.1 408 / });
    assert.equal(await user.bodyBytes(), 0);
  });

  test("bodies without a token take no room", async () => {
    const user = await startUser(kind);
    for (const end of ["complete", "half-close", "reset"] as const) {
      const answer = end === "complete" ? /^HTTP\/1\.1 401 / : /^(HTTP\/1\.1 401 |$)/;
      await user.flood({ ...CUT, declared: CUT.bytes, end, answer }, { Authorization: "Bearer x" });
      assert.equal(await user.bodyBytes(), 0);
    }
  });

  test("bodies that there is no room for take none, and their connections serve more", async () => {
    const user = await startUser(kind, { bodiesBytesMax: 32 * KIB });
    const connection = await user.connect();
    for (let n = 1; n <= FLOOD; n++) {
      user.send(connection, { bytes: 96 * KIB, end: "complete", answer: NO_ANSWER });
      await connection.until((text) => text.split("QUEUE_FULL").length > n);
    }
    connection.socket.destroy();
    assert.equal(await user.bodyBytes(), 0);
  });
});

async function startUser(kind: string, settings = {}) {
  const dataDirectory = tempDirectory();
  const headers = bearer((await makeToken(dataDirectory)).token);
  const { key, cert } = selfSigned("localhost");
  const tls = {
    keyPath: join(dataDirectory, "key.pem"),
    certPath: join(dataDirectory, "cert.pem"),
  };
  writeFileSync(tls.keyPath, key, { mode: 0o600 });
  writeFileSync(tls.certPath, cert);
  const options = { ...LIMITS, ...settings, dataDirectory };
  const server = await startTestServer(kind === "TLS" ? { ...options, tls } : options);
  const user = new Uploader(server.url, headers);
  await user.ask("PUT", "/v1/stream/s", { "Content-Type": TYPE });
  return user;
}

/** Sends bodies piece by piece, as `fetch` would not. */
class Uploader {
  readonly #url: string;
  readonly #headers: Readonly<Record<string, string>>;

  constructor(url: string, headers: Readonly<Record<string, string>>) {
    this.#url = url;
    this.#headers = headers;
  }

  connect(): Promise<RawConnection> {
    const isTls = this.#url.startsWith("https:");
    return isTls ? RawConnection.openTls(this.#url) : RawConnection.open(this.#url);
  }

  async ask(method: string, target: string, more = {}): Promise<string> {
    const connection = await this.connect();
    connection.send(method, target, { ...this.#headers, ...more, Connection: "close" });
    return connection.closed();
  }

  async bodyBytes(): Promise<number> {
    const text = await this.ask("GET", "/metrics");
    return Number(/^verbatim_body_bytes (\d+)/m.exec(text)?.[1]);
  }

  send(connection: RawConnection, upload: Upload, more = {}): void {
    const { bytes, declared, end, expect } = upload;
    const coding = { "Transfer-Encoding": "chunked" };
    const length = declared === undefined ? coding : { "Content-Length": String(declared) };
    const expecting = expect === undefined ? {} : { Expect: expect };
    const headers = { ...this.#headers, "Content-Type": TYPE, ...expecting, ...length, ...more };
    connection.send("POST", "/v1/stream/s", headers);
    const piece = Buffer.alloc(32 * KIB);
    for (let sent = 0; sent < bytes; sent += piece.length) {
      const rest = piece.subarray(0, bytes - sent);
      if (declared === undefined) connection.socket.write(`${rest.length.toString(16)}\r\n`);
      connection.socket.write(rest);
      if (declared === undefined) connection.socket.write("\r\n");
    }
    if (declared === undefined && end === "complete") connection.socket.write("0\r\n\r\n");
  }

  /** Many such uploads at once, until the last connection is closed. */
  async flood(upload: Upload, more = {}): Promise<void> {
    const { bytes, end, answer } = upload;
    const connections = await Promise.all(Array.from({ length: FLOOD }, () => this.connect()));
    const close = end === "complete" ? { Connection: "close" } : {};
    for (const each of connections) this.send(each, upload, { ...close, ...more });
    const isHeld = bytes < LIMITS.bodyBytesMax && !("Authorization" in more);
    if (isHeld && end !== "complete") {
      const isAll = async () => (await this.bodyBytes()) === FLOOD * bytes;
      await until(isAll, "the arrival of what was sent");
    } else if (end !== "complete") {
      await Promise.all(connections.map((each) => each.until((text) => answer.test(text))));
    }
    const node = await nodeServer(this.#url, () => this.ask("GET", "/health"));
    const restore = end === "wait" ? endTime(node) : () => {};
    for (const { socket } of connections) {
      if (end === "half-close") socket.end();
      if (end === "reset") socket.destroy();
    }
    for (const each of connections) assert.match(await each.closed(), answer);
    restore();
    const isFree = async () => (await this.#openRequests()) === 0;
    await until(isFree, "the end of every request");
  }

  /** Apart from the one that asks. */
  async #openRequests(): Promise<number> {
    const text = await this.ask("GET", "/metrics");
    return Number(/^verbatim_requests_in_flight (\d+)/m.exec(text)?.[1]) - 1;
  }
}
