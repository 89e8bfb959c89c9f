import assert from "node:assert/strict";
import { test } from "vitest";
import { thrownRefusal } from "../../../test/support/refusal.ts";
import { SseReader } from "./sse.ts";

/** The data of all events in these pieces. */
function read(pieces: readonly (Uint8Array | string)[], charsMax = 1000): string[] {
  const reader = new SseReader("anthropic", charsMax);
  const found: string[] = [];
  const take = () => {
    for (let data = reader.next(); data !== undefined; data = reader.next()) found.push(data);
  };
  for (const piece of pieces) {
    reader.feed(piece);
    take();
  }
  reader.end();
  take();
  return found;
}

/** What the SSE standard lets a server write, in lines. */
const LINES = [
  ": a comment",
  "event: first",
  'data: {"a":"é😀"}',
  "",
  "id: 7",
  "retry: 10",
  "data:without a space",
  "data:  with two",
  "data",
  "",
  "event: nothing",
  "",
  "odd: field",
  "data: last\u2028\u0085",
  "",
];
const FOUND = ['{"a":"é😀"}', "without a space\n with two\n", "last\u2028\u0085"];

test("events are found whatever ends their lines, cut at any byte, with a BOM or without", () => {
  for (const eol of ["\n", "\r\n", "\r"]) {
    for (const bom of ["", "\ufeff"]) {
      const bytes = Buffer.from(bom + LINES.map((line) => line + eol).join(""));
      assert.deepEqual(read([bytes]), FOUND, JSON.stringify(eol));
      for (let cut = 0; cut <= bytes.length; cut++) {
        const pieces = [bytes.subarray(0, cut), bytes.subarray(cut)];
        assert.deepEqual(read(pieces), FOUND, `${JSON.stringify(eol)} cut at ${cut}`);
      }
      const single = Array.from(bytes, (byte) => Uint8Array.of(byte));
      assert.deepEqual(read(single), FOUND, "byte by byte");
      assert.deepEqual(read([bytes.toString("utf8")]), FOUND, "as text");
    }
  }
});

test("an event without an empty line at its end is dropped", () => {
  assert.deepEqual(read([Buffer.from("data: a\n\ndata: b\n")]), ["a"]);
  assert.deepEqual(read([Buffer.from("data: a\n\ndata: b")]), ["a"]);
  assert.deepEqual(read([Buffer.from("data: a\r\rdata: b\r")]), ["a"]);
});

test("bytes that are not UTF-8 become replacement characters, wherever they are cut", () => {
  const bytes = Buffer.concat([
    Buffer.from("data: a"),
    Buffer.of(0xff, 0xe2, 0x82),
    Buffer.from("b\n\n"),
  ]);
  for (let cut = 0; cut <= bytes.length; cut++) {
    assert.deepEqual(read([bytes.subarray(0, cut), bytes.subarray(cut)]), ["a\ufffd\ufffdb"]);
  }
});

test("an event of the largest size is accepted, and one character more is refused", () => {
  const max = 5000;
  const event = (chars: number) =>
    Buffer.from(`data: first\n\nevent: x\ndata: ${"é".repeat(chars)}\n\n`);
  for (const size of [1, 7, 1000, 100_000]) {
    const pieces = (bytes: Buffer) =>
      Array.from({ length: Math.ceil(bytes.length / size) }, (_, n) =>
        bytes.subarray(n * size, (n + 1) * size),
      );
    assert.equal(read(pieces(event(max)), max)[1]?.length, max);
    const { details } = thrownRefusal(() => read(pieces(event(max + 1)), max), "STREAM_TOO_LARGE");
    assert.deepEqual(details, { provider: "anthropic", what: "event", max });
  }
});

test("a line that never ends is refused before it is held whole", () => {
  const reader = new SseReader("openai", 1000);
  let fed = 0;
  thrownRefusal(() => {
    for (; fed < 1e6; fed += 100) {
      reader.feed("x".repeat(100));
      reader.next();
    }
  }, "STREAM_TOO_LARGE");
  assert.ok(fed < 3000, `${fed} characters were taken`);
  // Feeding on throws again, and nothing is held.
  reader.feed("data: x\n\n");
  thrownRefusal(() => reader.next(), "STREAM_TOO_LARGE");
});

test("events that came before one that is too large are returned first", () => {
  const reader = new SseReader("openai", 100);
  reader.feed(`data: a\n\ndata: b\n\ndata: ${"x".repeat(2000)}`);
  assert.deepEqual([reader.next(), reader.next()], ["a", "b"]);
  thrownRefusal(() => reader.next(), "STREAM_TOO_LARGE");
});
