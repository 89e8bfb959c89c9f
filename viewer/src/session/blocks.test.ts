import assert from "node:assert/strict";
import { setImmediate as turn } from "node:timers/promises";
import { test } from "vitest";
import { until } from "../../../test/support/until.ts";
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
  await turn();
  assert.deepEqual(asked, [], "the server does not have it yet");
  stamp = "a";
  assert.equal(blocks.get(1), null);
  await until(() => blocks.get(1) === "1 a");
  assert.deepEqual(asked, [1]);
  stamp = "b";
  assert.equal(blocks.get(1), "1 a", "as it was, until it is there again");
  await until(() => blocks.get(1) === "1 b");
  assert.deepEqual(asked, [1, 1]);
});

test("what was asked for last is loaded first, and few blocks are kept", async () => {
  const asked: number[] = [];
  const load = async (block: number) => {
    asked.push(block);
    await turn();
    return block;
  };
  const blocks = new Blocks(new AbortController().signal, load, () => "");
  for (let block = 0; block < 200; block++) blocks.get(block);
  const last = Array.from({ length: 48 }, (_, n) => 199 - n);
  await until(() => asked.length >= last.length);
  for (let n = 0; n < 10; n++) await turn();
  assert.deepEqual(asked, last);
  assert.equal(blocks.get(199), 199);
  assert.equal(blocks.get(0), null);
});
