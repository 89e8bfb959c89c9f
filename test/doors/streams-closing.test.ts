/** Appending several messages at once, closing, and following to the end: in this process and over HTTP. */

import assert from "node:assert/strict";
import { onTestFinished, test } from "vitest";
import { VerbatimClient } from "../../src/doors/client.ts";
import { type JsonlEngine, openStreams } from "../../src/doors/streams.ts";
import { startTestServer } from "../server/test-server.ts";
import { refusal } from "../support/refusal.ts";
import { tempDirectory } from "../support/temp-directory.ts";

async function openEngine(): Promise<JsonlEngine> {
  const engine = await openStreams({ root: tempDirectory() });
  onTestFinished(() => engine.close());
  return engine;
}

async function valuesOf(
  messages: AsyncIterable<{ readonly data: Uint8Array }>,
): Promise<unknown[]> {
  const values: unknown[] = [];
  for await (const { data } of messages) values.push(JSON.parse(Buffer.from(data).toString()));
  return values;
}

test("a follower gets existing and new messages, each once, until the stream is closed", async () => {
  const engine = await openEngine();
  await engine.createStream("/s");
  assert.equal(await engine.appendAll("/s", [1, [2]]), true);
  const following = [valuesOf(engine.follow("/s")), valuesOf(engine.follow("/s"))];
  for (let n = 3; n < 40; n++) await engine.appendAll("/s", [n]);
  assert.equal(await engine.appendAll("/s", [], { closes: false }), true);
  assert.equal(await engine.appendAll("/s", ["last"], { closes: true }), true);
  const expected = [1, [2], ...Array.from({ length: 37 }, (_, n) => n + 3), "last"];
  for (const values of await Promise.all(following)) assert.deepEqual(values, expected);
  assert.deepEqual(await valuesOf(engine.follow("/s")), expected);
  const after = (await engine.read("/s")).at(-2)?.offset;
  assert.deepEqual(await valuesOf(engine.follow("/s", { after })), ["last"]);
});

test("a closed stream refuses appends", async () => {
  const engine = await openEngine();
  await engine.createStream("/s");
  await engine.appendAll("/s", [], { closes: true });
  assert.equal(await engine.appendAll("/s", ["late"]), false);
  assert.equal(await engine.appendAll("/s", ["late"], { closes: true }), false);
  assert.equal(await engine.appendAll("/s", [], { closes: true }), false);
  assert.equal(await engine.appendAll("/s", []), false);
  assert.deepEqual(await engine.read("/s"), []);
  await refusal(engine.appendAll("/none", [1]), "STREAM_NOT_FOUND");
});

test("following can be aborted at any time", async () => {
  const engine = await openEngine();
  await engine.createStream("/s");
  await engine.appendAll("/s", [1]);
  const stop = new AbortController();
  const values: unknown[] = [];
  for await (const { data } of engine.follow("/s", { signal: stop.signal })) {
    values.push(JSON.parse(Buffer.from(data).toString()));
    setImmediate(() => stop.abort());
  }
  assert.deepEqual(values, [1]);
  assert.deepEqual(await valuesOf(engine.follow("/s", { signal: stop.signal })), []);
});

test("over HTTP messages are appended as one, and a closed stream refuses them", async () => {
  const { url } = await startTestServer();
  const { streams } = new VerbatimClient({ url });
  await streams.create("/s");
  assert.equal(await streams.appendAll("/s", [1, [2], "é"]), true);
  assert.equal(await streams.appendAll("/s", ["last"], { closes: true }), true);
  assert.equal(await streams.appendAll("/s", ["late"]), false);
  assert.equal(await streams.appendAll("/s", ["late"], { closes: true }), false);
  const { messages, isClosed } = await streams.readJson("/s");
  assert.deepEqual([messages, isClosed], [[1, [2], "é", "last"], true]);
  await refusal(streams.appendAll("/none", [1]), "REQUEST_REFUSED");
});
