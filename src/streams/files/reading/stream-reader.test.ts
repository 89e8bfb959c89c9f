import assert from "node:assert/strict";
import { onTestFinished, test } from "vitest";
import { tempDirectory } from "../../../../test/support/temp-directory.ts";
import { BLOCK_BYTES } from "../../commit/batch.ts";
import { openLocalStore } from "../local-store.ts";

const MESSAGE_BYTES = 100;
const MESSAGES = 4000;

/** A stream of some blocks, in messages of a hundred bytes. */
async function longStream() {
  const store = await openLocalStore({ dataDirectory: tempDirectory() });
  onTestFinished(() => store.close());
  const message = (n: number) => `"${String(n).padStart(MESSAGE_BYTES - 3, ".")}"`;
  const messages = Array.from({ length: MESSAGES }, (_, n) => message(n));
  const body = Buffer.from(`[${messages}]`);
  await store.create("/s", { contentType: "application/json", body, isClosed: false });
  return { store, bytes: Buffer.from(messages.map((line) => `${line}\n`).join("")) };
}

test("a long read ends at the end of a block, so that the next one begins with a block", async () => {
  const { store, bytes } = await longStream();
  // Blocks are whole messages, the first that reach their length.
  const blockBytes = Math.ceil(BLOCK_BYTES / MESSAGE_BYTES) * MESSAGE_BYTES;
  const bytesMax = 3 * blockBytes - 1;

  const first = await store.read("/s", "start", bytesMax);
  const second = await store.read("/s", first.next, bytesMax);

  assert.equal(first.bytes.length, 2 * blockBytes);
  assert.equal(second.bytes.length, 2 * blockBytes);
  assert.ok(Buffer.concat([first.bytes, second.bytes]).equals(bytes.subarray(0, 4 * blockBytes)));
});

test("whatever the buffer size, reads return every byte once and at least one message each", async () => {
  const { store, bytes } = await longStream();
  for (const bytesMax of [99, 100, 101, 5000, 65_535, 65_600, 65_601, 200_000, 1_000_000]) {
    const parts: Uint8Array[] = [];
    let chunk = await store.read("/s", "start", bytesMax);
    for (; ; chunk = await store.read("/s", chunk.next, bytesMax)) {
      assert.ok(chunk.bytes.length >= MESSAGE_BYTES);
      assert.ok(chunk.bytes.length <= Math.max(bytesMax, MESSAGE_BYTES));
      parts.push(chunk.bytes);
      if (chunk.isAtEnd) break;
    }
    assert.ok(Buffer.concat(parts).equals(bytes), `room for ${bytesMax}`);
  }
});
