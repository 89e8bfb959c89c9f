/** Readers that disconnect right after their request. */

import assert from "node:assert/strict";
import { setTimeout as sleep } from "node:timers/promises";
import { onTestFinished, test } from "vitest";
import { serveStore } from "../../src/server/serve.ts";
import { openLocalStore } from "../../src/streams/local-store.ts";
import { tempDirectory } from "../support/temp-directory.ts";
import { WatchedFiles } from "../support/watched-files.ts";
import { RawConnection } from "./raw-http.ts";

const isReadOfLog = ({ call, name }: { call: string; name: string }) =>
  call === "read" && name.endsWith(".bin");

function timers(): number {
  return process.getActiveResourcesInfo().filter((each) => each === "Timeout").length;
}

test.each(["sse", "long-poll"])(
  "a reader by %s that disconnects before its stream was read leaves no timer or task running",
  async (live) => {
    const files = new WatchedFiles();
    const dataDirectory = tempDirectory();
    const store = await openLocalStore({ dataDirectory, host: files.host });
    const server = await serveStore(store, { port: 0, dataDirectory, eventStreamMs: 200 });
    onTestFinished(() => server.close());
    // Waiting readers extend its lifetime again and again. Not with `fetch`, which has its own
    // timers.
    const maker = await RawConnection.open(server.url);
    const lifetime = { "Content-Type": "text/plain", "Stream-TTL": "3600", "Content-Length": "1" };
    maker.send("PUT", "/v1/stream/s", { ...lifetime, Connection: "close" });
    maker.socket.write("x");
    assert.match(await maker.closed(), /^HTTP\/1\.1 201 /);
    await sleep(100);
    const before = timers();

    let release = () => {};
    const held = new Promise<void>((resolve) => {
      release = resolve;
    });
    files.before = (call) => (isReadOfLog(call) ? held : undefined);
    const reading = files.next(isReadOfLog);
    const connection = await RawConnection.open(server.url);
    connection.send("GET", `/v1/stream/s?offset=-1&live=${live}`);
    await reading;
    connection.socket.resetAndDestroy();
    await sleep(100); // The server has noticed.
    release();
    await sleep(100); // All of its work has begun.
    for (let tries = 0; timers() > before; tries++) {
      assert.ok(tries < 30, `${timers() - before} timers more than before`);
      await sleep(100);
    }
  },
);
