/** Method: the same input cut into chunks in every way, so that every boundary is tested. */

import assert from "node:assert/strict";
import { PassThrough, Readable } from "node:stream";
import { test } from "vitest";
import { type InputLine, InputLines } from "./input-lines.ts";

const running = new AbortController().signal;

async function linesOf(chunks: readonly Buffer[], lineBytesMax: number): Promise<InputLine[]> {
  // An empty chunk would end the stream, and pipes produce none.
  const input = Readable.from(
    chunks.filter((chunk) => chunk.length > 0),
    { objectMode: false },
  );
  const lines: InputLine[] = [];
  for await (const line of new InputLines(input, { lineBytesMax, signal: running })) {
    lines.push(line);
  }
  return lines;
}

test("only LF splits, wherever the chunks are cut; a last line without LF counts", async () => {
  const input = Buffer.from('{"é":1}\r\n\n\r\n{"a":"\u2028"}\r{"b"}\nlast');
  const texts = ['{"é":1}', "", "", '{"a":"\u2028"}\r{"b"}', "last"];
  for (let first = 0; first <= input.length; first++) {
    for (let second = first; second <= input.length; second += 3) {
      const cut = [input.subarray(0, first), input.subarray(first, second), input.subarray(second)];
      const lines = await linesOf(cut, 100);

      assert.deepEqual(
        lines.map(({ bytes }) => bytes?.toString("utf8")),
        texts,
      );
      assert.deepEqual(
        lines.map(({ number }) => number),
        [1, 2, 3, 4, 5],
      );
    }
  }
});

test("a line at the limit is returned, one past it is not, and the next one is (IL2)", async () => {
  const input = Buffer.from("12345\n123456\n12345\r\n12345\r6\n1\n123456");
  for (let cut = 0; cut <= input.length; cut++) {
    const lines = await linesOf([input.subarray(0, cut), input.subarray(cut)], 5);

    assert.deepEqual(
      lines.map(({ bytes }) => bytes?.toString("utf8") ?? null),
      ["12345", null, "12345", null, "1", null],
    );
  }
});

test("when interrupted, complete lines are returned, and the remaining bytes are counted (IL1)", async () => {
  const input = new PassThrough();
  const stop = new AbortController();
  const lines = new InputLines(input, { lineBytesMax: 100, signal: stop.signal });
  input.write("one\ntwo\nhal");
  const texts: string[] = [];
  for await (const { bytes } of lines) {
    texts.push(bytes?.toString("utf8") ?? "");
    if (texts.length === 1) stop.abort();
  }

  assert.deepEqual(texts, ["one", "two"]);
  assert.equal(lines.droppedBytes, 3);
  assert.equal(input.destroyed, true);
});

test("an interruption ends the wait for more", async () => {
  const stop = new AbortController();
  const lines = new InputLines(new PassThrough(), { lineBytesMax: 100, signal: stop.signal });
  const next = lines[Symbol.asyncIterator]().next();
  stop.abort();

  assert.equal((await next).done, true);
  assert.equal(lines.droppedBytes, 0);
});

test("an input that fails reports its error", async () => {
  const input = new PassThrough();
  const next = new InputLines(input, { lineBytesMax: 100, signal: running })
    [Symbol.asyncIterator]()
    .next();
  input.destroy(new Error("broken"));

  await assert.rejects(next, /broken/);
});
