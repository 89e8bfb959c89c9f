/** A server with TLS. */

import assert from "node:assert/strict";
import { chmodSync, symlinkSync, writeFileSync } from "node:fs";
import { request } from "node:https";
import { join } from "node:path";
import { connect } from "node:tls";
import { test } from "vitest";
import { refusal } from "../support/refusal.ts";
import { selfSigned } from "../support/self-signed.ts";
import { tempDirectory } from "../support/temp-directory.ts";
import { until } from "../support/until.ts";
import { RawConnection } from "./raw-http.ts";
import { startTestServer } from "./test-server.ts";

interface Pair {
  readonly keyPath: string;
  readonly certPath: string;
  readonly cert: string;
}

function pair(): Pair {
  const directory = tempDirectory();
  const { key, cert } = selfSigned("localhost");
  const keyPath = join(directory, "key.pem");
  const certPath = join(directory, "cert.pem");
  writeFileSync(keyPath, key, { mode: 0o600 });
  writeFileSync(certPath, cert, { mode: 0o644 });
  return { keyPath, certPath, cert };
}

interface Answered {
  readonly status: number | undefined;
  readonly location: string | undefined;
  readonly text: string;
}

function ask(port: number, cert: string, method: string, body = ""): Promise<Answered> {
  const options = { host: "127.0.0.1", servername: "localhost", ca: cert, port, method };
  const headers = { Host: `localhost:${port}`, "Content-Type": "text/plain" };
  return new Promise((resolve, reject) => {
    const sent = request({ ...options, headers, path: "/v1/stream/s" }, (response) => {
      let text = "";
      response.setEncoding("utf8").on("data", (chunk: string) => {
        text += chunk;
      });
      const { statusCode: status } = response;
      const { location } = response.headers;
      response.on("end", () => resolve({ status, location, text }));
    });
    sent.on("error", reject).end(body);
  });
}

test("streams are created, appended to and read over TLS, and plain HTTP gets no answer", async () => {
  const { keyPath, certPath, cert } = pair();
  const link = join(tempDirectory(), "live.pem"); // As tools that renew certificates leave it.
  symlinkSync(keyPath, link);
  const { running } = await startTestServer({ tls: { keyPath: link, certPath } });
  assert.match(running.url, /^https:/);
  const { port } = running;
  const made = await ask(port, cert, "PUT");
  assert.deepEqual([made.status, made.location], [201, `https://localhost:${port}/v1/stream/s`]);
  assert.equal((await ask(port, cert, "POST", "hello")).status, 204);
  assert.equal((await ask(port, cert, "GET")).text, "hello");
  const plain = await RawConnection.open(running.url);
  plain.send("GET", "/health");
  assert.doesNotMatch(await plain.closed(), /200 OK/);
});

test("a client with TLS 1.1 or older is refused", async () => {
  const { keyPath, certPath } = pair();
  const { running } = await startTestServer({ tls: { keyPath, certPath } });
  const handshake = (version: "TLSv1.1" | "TLSv1.2") =>
    new Promise<string>((resolve) => {
      const limits = { minVersion: version, maxVersion: version, ciphers: "DEFAULT@SECLEVEL=0" };
      const to = { host: "127.0.0.1", port: running.port, rejectUnauthorized: false };
      const socket = connect({ ...to, ...limits }, () => {
        resolve(socket.getProtocol() ?? "none");
        socket.destroy();
      });
      socket.on("error", () => resolve("refused"));
    });
  assert.equal(await handshake("TLSv1.2"), "TLSv1.2");
  assert.equal(await handshake("TLSv1.1"), "refused");
});

test("a connection without a handshake ends at the header timeout, and counts against the limit until then", async () => {
  const { keyPath, certPath, cert } = pair();
  const tls = { keyPath, certPath };
  const full = await startTestServer({ tls, connectionsMax: 1, headersTimeoutMs: 120_000 });
  const open = await RawConnection.open(full.url);
  assert.equal((await ask(full.running.port, cert, "PUT")).status, 503);
  open.socket.destroy();
  const isCreated = async () => (await ask(full.running.port, cert, "PUT")).status === 201;
  await until(isCreated, "freeing its place");

  const quick = await startTestServer({ tls, headersTimeoutMs: 100 });
  const silent = await RawConnection.open(quick.url);
  assert.equal(await silent.closed(), "");
});

test("a connection without a handshake does not keep the server from stopping", async () => {
  const { keyPath, certPath, cert } = pair();
  const limits = { headersTimeoutMs: 120_000, graceMs: 120_000 };
  const { running } = await startTestServer({ tls: { keyPath, certPath }, ...limits });
  const silent = await RawConnection.open(running.url);
  assert.equal((await ask(running.port, cert, "PUT")).status, 201); // It was accepted before this.
  await running.close();
  assert.equal(await silent.closed(), "");
});

test("a key that others can read, or that does not match its certificate, is refused before the server listens", async () => {
  const mine = pair();
  const other = pair();
  const start = (keyPath: string, certPath: string) =>
    refusal(startTestServer({ tls: { keyPath, certPath } }), "BAD_SETTING");
  await start(mine.keyPath, other.certPath);
  await start(mine.certPath, mine.certPath);
  await start(join(tempDirectory(), "none"), mine.certPath);
  chmodSync(mine.keyPath, 0o640);
  const { message } = await start(mine.keyPath, mine.certPath);
  assert.match(message, /other users can read it.*chmod 600/);
  assert.doesNotMatch(message, /PRIVATE KEY/);
});
