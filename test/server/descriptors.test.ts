/** A server whose process may open few files. */

import assert from "node:assert/strict";
import { test } from "vitest";
import { fitDescriptors, SERVER_SETTINGS } from "../../src/server/settings/limits.ts";
import { startWithDescriptors } from "../support/child.ts";
import { tempDirectory } from "../support/temp-directory.ts";
import { RawConnection } from "./raw-http.ts";

test("with 256 descriptors a flood of connections leaves enough for the streams", async () => {
  const child = startWithDescriptors(256, "test/support/serving-child.ts", tempDirectory());
  const url = (await child.line()) ?? assert.fail("it did not start");
  const note = (await child.line()) ?? "";
  assert.match(note, /may open 256 files, .* 96 connections and 48 open streams; .*`ulimit -n`/);
  const own = await RawConnection.open(url);
  let answers = 0;
  const ask = async (method: string, path: string, body: string) => {
    const headers = { "Content-Type": "text/plain", "Content-Length": String(body.length) };
    own.send(method, path, headers);
    own.socket.write(body);
    answers++;
    await own.until((text) => text.split("HTTP/1.1 ").length > answers);
  };
  await ask("PUT", "/v1/stream/first", "");
  const flood = await Promise.all(Array.from({ length: 400 }, () => RawConnection.open(url)));
  for (let n = 0; n < 120; n++) {
    await ask("PUT", `/v1/stream/s${n}`, "");
    await ask("POST", `/v1/stream/s${n}`, "x");
  }
  const statuses = new Set(own.text.match(/(?<=HTTP\/1\.1 )\d+/g));
  assert.deepEqual(statuses, new Set(["201", "204"]));
  for (const { socket } of [own, ...flood]) socket.destroy();
});

test("limits fit the descriptors: a quarter for streams, one for refused connections, the rest is free", () => {
  const { connectionsMax, refusedConnectionsMax, openFilesMax } = SERVER_SETTINGS;
  const all = { connectionsMax, refusedConnectionsMax, openFilesMax };
  const enough = 64 + connectionsMax + refusedConnectionsMax + openFilesMax;
  assert.deepEqual(fitDescriptors(SERVER_SETTINGS, null), all);
  assert.deepEqual(fitDescriptors(SERVER_SETTINGS, enough), all);
  const one = { ...all, connectionsMax: connectionsMax - 1 };
  assert.deepEqual(fitDescriptors(SERVER_SETTINGS, enough - 1), one);
  const few = { connectionsMax: 2 * 240, refusedConnectionsMax: 240, openFilesMax: 240 };
  assert.deepEqual(fitDescriptors(SERVER_SETTINGS, 1024), few);
});
