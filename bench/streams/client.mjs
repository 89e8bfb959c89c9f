/**
 * The client, in its own process: `node client.mjs <url> <task as JSON>`. Prints its results as JSON.
 * The same for both servers.
 */

import { setTimeout as sleep } from "node:timers/promises";
import { Connection } from "./connection.mjs";

const ROOT = "/v1/stream";
const [, , url = "", task = "{}"] = process.argv;
const { name, ...options } = JSON.parse(task);

const TASKS = { create, appendFor, appendEach, fill, catchUp, tail, events };
process.stdout.write(`${JSON.stringify(await TASKS[name](options))}\n`);

/** A message of about 200 bytes. */
function message(n) {
  return `{"role":"assistant","n":${n},"text":"${"lorem ipsum ".repeat(14)}"}`;
}

function percentile(sorted, share) {
  return sorted[Math.min(sorted.length - 1, Math.floor(share * sorted.length))] ?? 0;
}

async function connections(count, to = url) {
  return Promise.all(Array.from({ length: count }, () => Connection.open(to)));
}

/** The numbers of some streams, shared by several workers. */
function numbers(from, to) {
  return Array.from({ length: to - from }, (_, n) => from + n).values();
}

/** Streams `/prefix0`, `/prefix1` … */
async function create({ prefix, suffix = "", from, to, atOnce }) {
  const left = numbers(from, to);
  const work = async (connection) => {
    for (const n of left) {
      const body = Buffer.alloc(0);
      const { status } = await connection.request("PUT", `${ROOT}/${prefix}${n}${suffix}`, {
        body,
      });
      if (status !== 201) throw new Error(`creating was answered ${status}`);
    }
    connection.close();
  };
  await Promise.all((await connections(atOnce)).map(work));
  return {};
}

/** Appends of all connections to one stream, or in turn to several, for some time. */
async function appendFor({ path, atOnce, ms, streams = 0 }) {
  const latencies = [];
  let errors = 0;
  const all = await connections(atOnce);
  const start = performance.now();
  const work = async (connection, worker) => {
    for (let n = 0; performance.now() - start < ms; n++) {
      const sent = performance.now();
      const which = streams === 0 ? "" : (worker + n * atOnce) % streams;
      const { status } = await connection.request("POST", `${ROOT}/${path}${which}`, {
        body: Buffer.from(message(n)),
      });
      if (status >= 300) errors++;
      else latencies.push(performance.now() - sent);
    }
    connection.close();
  };
  await Promise.all(all.map(work));
  const seconds = (performance.now() - start) / 1000;
  latencies.sort((a, b) => a - b);
  const [p50, p99] = [percentile(latencies, 0.5), percentile(latencies, 0.99)];
  return { perSecond: latencies.length / seconds, appends: latencies.length, errors, p50, p99 };
}

/** One append to each of many streams. */
async function appendEach({ prefix, suffix = "", from, to, atOnce }) {
  let [done, errors] = [0, 0];
  const left = numbers(from, to);
  const all = await connections(atOnce);
  const start = performance.now();
  const work = async (connection) => {
    for (const n of left) {
      const body = Buffer.from(message(n));
      const path = `${ROOT}/${prefix}${n}${suffix}`;
      const { status } = await connection.request("POST", path, { body });
      if (status < 300) done++;
      else errors++;
    }
    connection.close();
  };
  await Promise.all(all.map(work));
  const seconds = (performance.now() - start) / 1000;
  return { perSecond: done / seconds, answersPerSecond: (to - from) / seconds, errors };
}

/** Appends until a stream has so many bytes. */
async function fill({ path, bytes }) {
  const [connection] = await connections(1);
  await connection.request("PUT", `${ROOT}/${path}`, { body: Buffer.alloc(0) });
  for (let [sent, n] = [0, 0]; sent < bytes; ) {
    const messages = Array.from({ length: 2500 }, () => message(n++));
    const body = Buffer.from(`[${messages}]`);
    const { status } = await connection.request("POST", `${ROOT}/${path}`, { body });
    if (status >= 300) throw new Error(`filling was answered ${status}`);
    sent += body.length;
  }
  connection.close();
  return {};
}

/** Everything from the start, until the server says that there is no more. */
async function catchUp({ path }) {
  const [connection] = await connections(1);
  const start = performance.now();
  let [bytes, firstMs] = [0, 0];
  const onBytes = (some) => {
    if (bytes === 0) firstMs = performance.now() - start;
    bytes += some.length;
  };
  for (let offset = "-1"; ; ) {
    const target = `${ROOT}/${path}?offset=${offset}`;
    const { status, headers } = await connection.request("GET", target, { onBytes });
    if (status !== 200) throw new Error(`reading was answered ${status}`);
    if (headers.get("stream-up-to-date") === "true") break;
    offset = headers.get("stream-next-offset");
  }
  connection.close();
  const seconds = (performance.now() - start) / 1000;
  return { perSecond: bytes / 1e6 / seconds, bytes, firstMs };
}

/** Appends a message, and reads it from its offset. */
async function tail({ path, times }) {
  const [connection] = await connections(1);
  const latencies = [];
  const head = await connection.request("HEAD", `${ROOT}/${path}`);
  let offset = head.headers.get("stream-next-offset");
  for (let n = 0; n < times; n++) {
    await connection.request("POST", `${ROOT}/${path}`, { body: Buffer.from(message(n)) });
    const sent = performance.now();
    let bytes = 0;
    const { headers } = await connection.request("GET", `${ROOT}/${path}?offset=${offset}`, {
      onBytes: (some) => {
        bytes += some.length;
      },
    });
    latencies.push(performance.now() - sent);
    if (bytes < 100) throw new Error("the new message was not there");
    offset = headers.get("stream-next-offset");
  }
  connection.close();
  latencies.sort((a, b) => a - b);
  return { p50: percentile(latencies, 0.5) };
}

/** One writer, many readers (of server `from`); how long a message takes to reach them. */
async function events({ path, readers, messages, everyMs, from = url }) {
  const writer = await Connection.open(url);
  await writer.request("PUT", `${ROOT}/${path}`, { body: Buffer.alloc(0) });
  const latencies = [];
  const listening = await connections(readers, from);
  await Promise.all(
    listening.map((connection) => {
      let rest = "";
      return connection.listen(`${ROOT}/${path}?offset=now&live=sse`, (bytes) => {
        const now = performance.now();
        const text = rest + bytes.toString("latin1");
        for (const [, at] of text.matchAll(/"at":([\d.]+),"end"/g))
          latencies.push(now - Number(at));
        const last = text.lastIndexOf('"end"');
        rest = text.slice(last === -1 ? -100 : last);
      });
    }),
  );
  await sleep(500);
  for (let n = 0; n < messages; n++) {
    const at = performance.now();
    const body = Buffer.from(`{"at":${at},"end":${JSON.stringify(message(n))}}`);
    await writer.request("POST", `${ROOT}/${path}`, { body });
    await sleep(Math.max(0, at + everyMs - performance.now()));
  }
  const expected = messages * readers;
  for (let n = 0; n < 100 && latencies.length < expected; n++) await sleep(100);
  for (const connection of [writer, ...listening]) connection.close();
  latencies.sort((a, b) => a - b);
  const [p50, p99] = [percentile(latencies, 0.5), percentile(latencies, 0.99)];
  return { p50, p99, missing: expected - latencies.length };
}
