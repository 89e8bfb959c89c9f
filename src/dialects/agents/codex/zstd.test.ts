/** Compressed rollouts, and the limits of decompressing. */

import assert from "node:assert/strict";
import fc from "fast-check";
import { test } from "vitest";
import { runs } from "../../../../test/support/seed.ts";
import { decompress, WINDOW_BYTES_MAX } from "../../files/zstd.ts";

/** A frame with a window of 1 KiB, of blocks that are stored or (a number) one byte repeated. */
function frame(blocks: readonly (Buffer | number)[], descriptor = 0): Buffer {
  const parts = blocks.map((block, at) => {
    const isRun = typeof block === "number";
    const header = ((isRun ? block : block.length) << 3) | (isRun ? 2 : 0);
    const bytes = Buffer.alloc(3);
    bytes.writeUIntLE(header | (at === blocks.length - 1 ? 1 : 0), 0, 3);
    return Buffer.concat([bytes, isRun ? Buffer.from("x") : block]);
  });
  return Buffer.concat([Buffer.from([0x28, 0xb5, 0x2f, 0xfd, 0, descriptor]), ...parts]);
}

/** Made by `zstd -19`. */
const REAL = Buffer.from(
  "KLUv/QRorQEAssIJEbCpAyyeJeIoPGSHfGAkg0oMd7uDtZR9JSO1HMZsHnHDELSNJeUqAwC4hUnomoVnVE9XuNH9",
  "base64",
);

const text = (value: string) => Buffer.from(value);

test("a file that zstd compressed is decompressed", () => {
  const lines = decompress(REAL).toString().split("\n");
  assert.equal(lines.length, 4);
  assert.equal(lines[0], '{"type":"world_state","payload":{}}');
  assert.equal(lines[1], lines[2]);
});

test("several frames and blocks are one text", () => {
  const file = Buffer.concat([frame([text("a\n"), 3]), frame([text("b\n")])]);
  assert.equal(decompress(file).toString(), "a\nxxxb\n");
});

test("a file of exactly the limit is read, and one byte more is refused", () => {
  const file = frame([1000, text("yy"), 22]);
  assert.equal(decompress(file, 1024).length, 1024);
  assert.throws(() => decompress(file, 1023), /more than 1023 bytes/);
});

test("a window of the limit is read, and a larger one is refused", () => {
  const exponent = Math.log2(WINDOW_BYTES_MAX) - 10;
  assert.equal(decompress(frame([5], exponent << 3)).length, 5);
  assert.throws(() => decompress(frame([5], (exponent << 3) | 1)), /window/);
  const second = Buffer.concat([frame([5]), frame([5], 0xff)]);
  assert.throws(() => decompress(second), /window/);
});

test("thousands of empty blocks are refused", () => {
  const blocks = Array.from({ length: 4097 }, () => text(""));
  assert.equal(decompress(frame(blocks.slice(1))).length, 0);
  assert.throws(() => decompress(frame(blocks)), /too short/);
});

test("a file that is cut off, or not zstd, is refused", () => {
  const file = frame([text("hello"), text("world")]);
  for (let length = 1; length < file.length; length++) {
    assert.throws(() => decompress(file.subarray(0, length)), /cut off|not a zstd file/);
  }
  assert.throws(() => decompress(text("hello, world")), /not a zstd file/);
});

test("a damaged file gives bytes or an error, within the limits", () => {
  const flips = fc.array(fc.tuple(fc.nat(REAL.length - 1), fc.nat(255)), { maxLength: 4 });
  fc.assert(
    fc.property(flips, (places) => {
      const file = Buffer.from(REAL);
      for (const [at, value] of places) file[at] = value;
      try {
        assert.ok(decompress(file, 2 ** 20).length <= 2 ** 20);
      } catch (error) {
        assert.ok(error instanceof Error);
      }
    }),
    { numRuns: runs(300) },
  );
});
