/** Read-ahead: what is read, how often, and for which reader. */

import assert from "node:assert/strict";
import { test } from "vitest";
import type { StreamState } from "../../commit/stream-state.ts";
import { ReadAhead } from "./stream-reader.ts";

const CHUNK = 10;

/** A stream of `end` bytes, the reads made of it, and where reading fails. */
function stream(end: number) {
  const reads: number[] = [];
  const bad = new Set<number>();
  const ahead = new ReadAhead(async (_, from, bytesMax) => {
    reads.push(from);
    if (bad.has(from)) throw new Error(`bad at ${from}`);
    return Buffer.alloc(Math.min(bytesMax, end - from), from);
  });
  const state = { streamId: "1", end } as StreamState;
  return { reads, bad, read: (from: number) => ahead.read(state, from, CHUNK) };
}

test("a read that continues at a chunk's end finds the next chunk already read, and each is read once", async () => {
  const { reads, read } = stream(45);
  for (let from = 0; from < 45; from += CHUNK) {
    const bytes = await read(from);
    assert.deepEqual(bytes, Buffer.alloc(Math.min(CHUNK, 45 - from), from));
  }
  assert.deepEqual(reads, [0, 10, 20, 30, 40]);
});

test("a single read, and one at the end, reads nothing ahead", async () => {
  const { reads, read } = stream(45);
  await read(0);
  assert.deepEqual(reads, [0]);
  await read(40);
  await read(40);
  assert.deepEqual(reads, [0, 40, 40]);
});

test("two reads of the same chunk get a chunk each", async () => {
  const { read } = stream(45);
  await read(0);
  await read(10);
  const [one, other] = await Promise.all([read(20), read(20)]);
  assert.notEqual(one.buffer, other.buffer);
  assert.deepEqual(one, other);
});

test("a chunk whose read-ahead failed is read again when requested", async () => {
  const { bad, read } = stream(45);
  await read(0);
  bad.add(20);
  await read(10);
  await assert.rejects(read(20), /bad at 20/);
  bad.clear();
  assert.deepEqual(await read(20), Buffer.alloc(CHUNK, 20));
});
