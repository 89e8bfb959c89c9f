import assert from "node:assert/strict";
import { setTimeout as sleep } from "node:timers/promises";
import { test } from "vitest";
import { Blocks } from "./blocks.ts";

test("a block is loaded when it is used, kept, and loaded again when it has changed", async () => {
  const asked: number[] = [];
  let stamp: string | null = null;
  const load = async (block: number) => {
    asked.push(block);
    return `${block} ${stamp}`;
  };
  const blocks = new Blocks(new AbortController().signal, load, () => stamp);
  assert.equal(blocks.get(1), null);
  await sleep(5);
  assert.deepEqual(asked, [], "the server does not have it yet");
  stamp = "a";
  assert.equal(blocks.get(1), null);
  await sleep(5);
  assert.deepEqual([blocks.get(1), blocks.get(1), asked], ["1 a", "1 a", [1]]);
  stamp = "b";
  assert.equal(blocks.get(1), "1 a", "as it was, until it is there again");
  await sleep(5);
  assert.deepEqual([blocks.get(1), asked], ["1 b", [1, 1]]);
});

test("what was asked for last is loaded first, and few blocks are kept", async () => {
  const asked: number[] = [];
  const load = async (block: number) => {
    asked.push(block);
    await sleep(0);
    return block;
  };
  const blocks = new Blocks(new AbortController().signal, load, () => "");
  for (let block = 0; block < 200; block++) blocks.get(block);
  await sleep(300);
  assert.equal(asked[0], 199);
  assert.ok(asked.length < 100, `${asked.length} requests`);
  assert.equal(blocks.get(199), 199);
  assert.equal(blocks.get(0), null);
});
