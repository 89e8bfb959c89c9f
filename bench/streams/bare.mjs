/**
 * The smallest server to compare with: it parses nothing, keeps all streams in one file, and
 * guarantees only that an answered append was written and synced. Reads are sent from memory.
 *
 * The time our server takes beyond this is ours; the rest is Node's, the kernel's and the disk's.
 */

import { fdatasync, mkdirSync, openSync, writeSync } from "node:fs";
import { createServer } from "node:http";
import { join } from "node:path";

const MESSAGE = `{"role":"assistant","n":100000,"text":"${"lorem ipsum ".repeat(14)}"},`;
const CHUNK = Buffer.from(MESSAGE.repeat(Math.floor(2 ** 20 / MESSAGE.length)));

/** Resolves to its URL. `longBytes` is the length of its content. */
export async function startBare(directory, longBytes) {
  mkdirSync(directory, { recursive: true });
  const file = openSync(join(directory, "bare"), "a");
  const append = appender(file);
  const server = createServer((request, response) => {
    if (request.method === "GET") return answerChunk(request, response, longBytes);
    const pieces = [];
    request.on("data", (piece) => pieces.push(piece));
    request.on("end", () => {
      append(Buffer.concat(pieces), () => {
        response.writeHead(204, ["Stream-Next-Offset", "0000000000000000_0000000000000000"]);
        response.end();
      });
    });
  });
  await new Promise((listening) => server.listen(0, "127.0.0.1", listening));
  return `http://127.0.0.1:${server.address().port}`;
}

/** Group commit: appends that arrive during a sync share the next one. */
function appender(file) {
  let waiting = [];
  let isSyncing = false;
  const commit = () => {
    const batch = waiting;
    waiting = [];
    isSyncing = batch.length > 0;
    if (!isSyncing) return;
    writeSync(file, Buffer.concat(batch.map(({ bytes }) => bytes)));
    fdatasync(file, (error) => {
      if (error) throw error;
      for (const { done } of batch) done();
      setImmediate(commit);
    });
  };
  return (bytes, done) => {
    waiting.push({ bytes, done });
    if (!isSyncing) {
      isSyncing = true;
      setImmediate(commit);
    }
  };
}

function answerChunk(request, response, longBytes) {
  const offset = Number(/offset=(\d+)/.exec(request.url)?.[1] ?? 0) + CHUNK.length;
  const headers = ["Content-Length", String(CHUNK.length), "Stream-Next-Offset", String(offset)];
  if (offset >= longBytes) headers.push("Stream-Up-To-Date", "true");
  response.writeHead(200, headers);
  response.end(CHUNK);
}
