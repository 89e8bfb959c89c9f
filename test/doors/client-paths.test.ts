/** Paths passed to the client: a stream is requested under its own path, or not at all. */

import assert from "node:assert/strict";
import { test } from "vitest";
import { VerbatimClient } from "../../src/doors/client.ts";
import { startTestServer } from "../server/test-server.ts";
import { refusal } from "../support/refusal.ts";

test("a path that fetch would change is refused, and nothing is sent", async () => {
  const server = await startTestServer();
  const asked: string[] = [];
  const { streams } = new VerbatimClient({
    url: server.url,
    fetch: (url, init) => {
      asked.push(String(url));
      return fetch(url, init);
    },
  });
  for (const path of ["/p/./q", "/p/.", "./q", "/../sessions", "/p/..", "/p/\ud800"]) {
    await refusal(streams.create(path), "BAD_STREAM_PATH");
    await refusal(streams.append(path, 1), "BAD_STREAM_PATH");
    await refusal(streams.read(path), "BAD_STREAM_PATH");
    await refusal(streams.live(path).next(), "BAD_STREAM_PATH");
  }
  assert.deepEqual(asked, []);
  await streams.create("/p/.q/é %2e");
  await streams.append("/p/.q/é %2e", 1);
  assert.deepEqual((await streams.readJson("p/.q/é %2e")).messages, [1]);
});
