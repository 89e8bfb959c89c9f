/** What a server reports to its operator: health, readiness and metrics. */

import assert from "node:assert/strict";
import { onTestFinished, test } from "vitest";
import { openFront, serveStore } from "../../src/server/serve.ts";
import { openLocalStore } from "../../src/streams/files/local-store.ts";
import { errno } from "../support/refusal.ts";
import { tempDirectory } from "../support/temp-directory.ts";
import { WatchedFiles } from "../support/watched-files.ts";
import { header, JSON_TYPE, refused, startTestServer } from "./test-server.ts";

async function statusOf(url: string): Promise<[number, string]> {
  const response = await fetch(url);
  assert.equal(header(response, "cache-control"), "no-store");
  return [response.status, ((await response.json()) as { status: string }).status];
}

test("during recovery a server is live, neither healthy nor ready, and says when to retry", async () => {
  const options = { port: 0, dataDirectory: tempDirectory() };
  const front = await openFront(options);
  assert.deepEqual(await statusOf(`${front.url}/live`), [200, "recovering"]);
  for (const probe of ["health", "ready"]) {
    const answer = await fetch(`${front.url}/${probe}`);
    assert.equal(answer.headers.get("retry-after"), "1", probe);
    assert.match(((await answer.json()) as { reason: string }).reason, /is recovering its data/);
    assert.deepEqual(await statusOf(`${front.url}/${probe}`), [503, "recovering"]);
  }
  const append = await fetch(`${front.url}/v1/stream/s`, { method: "PUT" });
  assert.equal(append.headers.get("retry-after"), "1");
  assert.deepEqual(await refused(append), [503, "RECOVERING"]);

  const store = await openLocalStore({ dataDirectory: options.dataDirectory });
  const running = await serveStore(store, options, front);
  onTestFinished(() => running.close());
  assert.deepEqual(await statusOf(`${front.url}/ready`), [200, "ready"]);
  for (const probe of ["live", "health"]) {
    assert.deepEqual(await statusOf(`${front.url}/${probe}`), [200, "ok"]);
  }
  assert.equal((await fetch(`${front.url}/v1/stream/s`, { method: "PUT" })).status, 201);
});

test("a server whose disk failed is neither ready nor healthy, and still serves metrics", async () => {
  const files = new WatchedFiles();
  const dataDirectory = tempDirectory();
  const store = await openLocalStore({ dataDirectory, host: files.host });
  const running = await serveStore(store, { port: 0, dataDirectory });
  onTestFinished(() => running.close());
  const stream = `${running.url}/v1/stream/s`;
  await fetch(stream, { method: "PUT" });
  files.before = ({ call }) => {
    if (call === "sync") throw errno("EIO");
    return undefined;
  };
  const headers = { "Content-Type": "application/octet-stream" };
  const append = await fetch(stream, { method: "POST", headers, body: "x" });
  assert.deepEqual(await refused(append), [503, "STORE_FAILED"]);
  assert.deepEqual(await statusOf(`${running.url}/ready`), [503, "read-only"]);
  assert.deepEqual(await statusOf(`${running.url}/health`), [503, "read-only"]);
  assert.deepEqual(await statusOf(`${running.url}/live`), [503, "read-only"]);
  const metrics = parsed(await (await fetch(`${running.url}/metrics`)).text());
  assert.equal(metrics.get("verbatim_writable"), 0);
  assert.equal(metrics.get('verbatim_errors_total{code="STORE_FAILED"}'), 1);
});

test("metrics count requests and appends, in Prometheus' text format", async () => {
  const server = await startTestServer();
  await server.put("/s", JSON_TYPE);
  for (let n = 0; n < 5; n++) await server.post("/s", JSON_TYPE, `{"n":${n}}`);
  await fetch(server.at("/none"));
  const waiting = fetch(`${server.at("/s")}?offset=now&live=long-poll`);
  let response = await fetch(`${server.url}/metrics`);
  assert.equal(header(response, "content-type"), "text/plain; version=0.0.4; charset=utf-8");
  let metrics = parsed(await response.text());
  while (metrics.get("verbatim_live_readers") !== 1) {
    response = await fetch(`${server.url}/metrics`);
    metrics = parsed(await response.text());
  }
  const value = (name: string) => metrics.get(name) ?? assert.fail(`no ${name}`);
  const requests = (labels: string) => value(`verbatim_http_requests_total{${labels}}`);
  assert.equal(requests('route="stream",method="PUT",status="201"'), 1);
  assert.equal(requests('route="stream",method="POST",status="204"'), 5);
  assert.equal(requests('route="stream",method="GET",status="404"'), 1);
  assert.equal(value('verbatim_errors_total{code="STREAM_NOT_FOUND"}'), 1);
  assert.equal(value("verbatim_appends_total"), 5);
  assert.equal(value("verbatim_append_bytes_total"), 5 * '{"n":0}'.length);
  assert.equal(value("verbatim_append_duration_seconds_count"), 5);
  assert.equal(value('verbatim_append_duration_seconds_bucket{le="+Inf"}'), 5);
  assert.equal(value("verbatim_syncs_total"), 6);
  assert.equal(value("verbatim_batch_requests_sum"), 6);
  assert.equal(value('verbatim_batch_requests_bucket{le="1"}'), 6);
  assert.equal(value("verbatim_requests_in_flight"), 2);
  assert.ok(value("verbatim_connections") >= 2);
  assert.ok(value("verbatim_recovery_seconds") > 0);
  assert.ok(value("process_resident_memory_bytes") > 1e6);
  assert.ok(value("process_open_fds") > 3);
  await server.post("/s", JSON_TYPE, "1");
  assert.equal((await waiting).status, 200);
});

test("every refusal has its code in the metrics and in the request log", async () => {
  const codes: (string | null)[] = [];
  const server = await startTestServer({ onRequest: ({ code }) => codes.push(code) });
  await server.put("/s", JSON_TYPE);
  const post = (headers: Record<string, string>, body = "1") =>
    fetch(server.at("/s"), {
      method: "POST",
      headers: { "Content-Type": JSON_TYPE, ...headers },
      body,
    });
  const turn = (epoch: string, seq: string) => {
    return { "Producer-Id": "p", "Producer-Epoch": epoch, "Producer-Seq": seq };
  };
  await post({ "Stream-Seq": "2", ...turn("1", "0") });
  const subscriptions = server.at("/__ds/subscriptions");
  const made: readonly [string, () => Promise<Response>][] = [
    ["TYPE_DIFFERS", () => post({ "Content-Type": "text/plain" })],
    ["SEQUENCE_CONFLICT", () => post({ "Stream-Seq": "1" })],
    ["SEQUENCE_GAP", () => post(turn("1", "5"))],
    ["STALE_EPOCH", () => post(turn("0", "1"))],
    ["BAD_EPOCH", () => post(turn("2", "1"))],
    ["SUBSCRIPTION_NOT_FOUND", () => fetch(`${subscriptions}/none`)],
    ["METHOD_NOT_ALLOWED", () => fetch(server.at("/s"), { method: "PATCH" })],
    ["NOT_FOUND", () => fetch(`${server.url}/elsewhere`)],
    ["STREAM_CLOSED", () => post({ "Stream-Closed": "true" }).then(() => post({}))],
  ];
  for (const [code, send] of made) assert.equal((await refused(await send()))[1], code);
  const metrics = parsed(await (await fetch(`${server.url}/metrics`)).text());
  for (const [code] of made) {
    assert.equal(metrics.get(`verbatim_errors_total{code="${code}"}`), 1, code);
  }
  assert.deepEqual(
    codes.filter((code) => code !== null),
    made.map(([code]) => code),
  );
});

test("no metric label contains text of a request", async () => {
  const server = await startTestServer();
  const secret = "secret-name";
  await fetch(server.at(`/${secret}?${secret}=${secret}`), { headers: { "X-A": secret } });
  await fetch(`${server.url}/${secret}`);
  const text = await (await fetch(`${server.url}/metrics`)).text();
  assert.ok(!text.includes(secret));
});

/** Reads the format strictly: each family is announced once, before its samples. */
function parsed(text: string): ReadonlyMap<string, number> {
  assert.ok(text.endsWith("\n"));
  const samples = new Map<string, number>();
  const families = new Set<string>();
  let family = "";
  for (const line of text.slice(0, -1).split("\n")) {
    const [, announced] = /^# HELP ([a-z_]+) \S.*$/.exec(line) ?? [];
    if (announced !== undefined) {
      assert.ok(!families.has(announced), `${announced} is there twice`);
      families.add(announced);
      family = announced;
      continue;
    }
    if (line.startsWith("#")) {
      assert.match(line, new RegExp(`^# TYPE ${family} (counter|gauge|histogram)$`));
      continue;
    }
    const [, name = "", labels = "", value] =
      /^([a-z_]+)(\{(?:[a-z]+="[^"\\\n]*",?)+\})? (-?[\d.e+-]+)$/.exec(line) ?? assert.fail(line);
    assert.ok(name === family || new RegExp(`^${family}_(bucket|sum|count)$`).test(name), line);
    assert.ok(!samples.has(name + labels), `${name}${labels} is there twice`);
    samples.set(name + labels, Number(value));
  }
  return samples;
}
