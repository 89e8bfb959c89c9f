/** Readers that disconnect right after their request. */

import assert from "node:assert/strict";
import { onTestFinished, test } from "vitest";
import { serveStore } from "../../src/server/serve.ts";
import { openLocalStore } from "../../src/streams/files/local-store.ts";
import { ManualTime } from "../support/manual-time.ts";
import { tempDirectory } from "../support/temp-directory.ts";
import { until } from "../support/until.ts";
import { WatchedFiles } from "../support/watched-files.ts";
import { RawConnection } from "./raw-http.ts";

const isReadOfLog = ({ call, name }: { call: string; name: string }) =>
  call === "read" && name.endsWith(".bin");

test.each(["sse", "long-poll"])(
  "a reader by %s that disconnects before its stream was read leaves no timer or task running",
  async (live) => {
    const files = new WatchedFiles();
    const dataDirectory = tempDirectory();
    const store = await openLocalStore({ dataDirectory, host: files.host });
    const time = new ManualTime(Date.now());
    const server = await serveStore(store, { port: 0, dataDirectory, time });
    onTestFinished(() => server.close());
    // Waiting readers extend its lifetime again and again.
    const headers = { "Content-Type": "text/plain", "Stream-TTL": "3600" };
    const url = `${server.url}/v1/stream/s`;
    assert.equal((await fetch(url, { method: "PUT", headers, body: "x" })).status, 201);
    const before = time.timers;
    const inFlight = async () =>
      /^verbatim_requests_in_flight (\d+)$/m.exec(
        await (await fetch(`${server.url}/metrics`)).text(),
      )?.[1];

    let release = () => {};
    const held = new Promise<void>((resolve) => {
      release = resolve;
    });
    files.before = (call) => (isReadOfLog(call) ? held : undefined);
    const reading = files.next(isReadOfLog);
    const connection = await RawConnection.open(server.url);
    connection.send("GET", `/v1/stream/s?offset=-1&live=${live}`);
    await reading;
    assert.equal(await inFlight(), "2"); // It, and this one.
    connection.socket.resetAndDestroy();
    await until(async () => (await inFlight()) === "1", "noticing that it left");
    release();
    // A later read of the same stream ends after all work of the first.
    for (let n = 0; n < 3; n++) assert.equal(await (await fetch(url)).text(), "x");
    await until(() => time.timers === before, "the end of all timers");
  },
);
