/** Reads: from every offset, in pieces of every size; and invalid offsets. */

import assert from "node:assert/strict";
import { describe, test } from "vitest";
import { formatOffset, type OffsetToken } from "../../../src/streams/files/offset-token.ts";
import { refusal } from "../../support/refusal.ts";
import { ALL, BINARY_TYPE, type StoreUnderTest, TestStore } from "./store-under-test.ts";

const MESSAGES = [
  '"a"',
  '"é"',
  "1",
  '{"n":22}',
  "[]",
  '"long enough to be longer than some limits"',
];

export function readTests(under: StoreUnderTest): void {
  describe(`${under.name}: reading`, () => {
    test("from every offset and with every limit, a read returns whole messages, at least one, up to the limit", async () => {
      const streams = await TestStore.open(under);
      await streams.put("/s");
      for (const text of MESSAGES) await streams.post("/s", JSON.stringify([JSON.parse(text)]));
      const lines = MESSAGES.map((text) => Buffer.byteLength(text) + 1);
      const whole = await streams.bytes("/s");
      for (let from = 0, n = 0; n <= lines.length; from += lines[n++] ?? 0) {
        for (let bytesMax = 1; bytesMax <= whole.length + 1; bytesMax++) {
          let to = from + (lines[n] ?? 0);
          for (let k = n + 1; to + (lines[k] ?? ALL) - from <= bytesMax; k++) to += lines[k] ?? 0;
          const chunk = await streams.store.read("/s", formatOffset(0, from), bytesMax);
          assert.equal(Buffer.from(chunk.bytes).toString(), whole.subarray(from, to).toString());
          assert.equal(chunk.from, formatOffset(0, from));
          assert.equal(chunk.next, formatOffset(0, to));
          assert.equal(chunk.isAtEnd, to === whole.length);
        }
      }
    });

    test("a read from the start returns everything, and one after the last message returns nothing", async () => {
      const streams = await TestStore.open(under);
      await streams.put("/s");
      const empty = await streams.store.read("/s", "start", 10);
      assert.deepEqual(
        [empty.bytes.length, empty.isAtEnd, empty.next],
        [0, true, empty.head.start],
      );
      await streams.post("/s", "1");
      const { end } = await streams.head("/s");
      const atEnd = await streams.store.read("/s", end, 10);
      assert.deepEqual([atEnd.bytes.length, atEnd.isAtEnd, atEnd.next], [0, true, end]);
      await streams.post("/s", "2");
      assert.equal(await streams.text("/s", end), "2\n");
    });

    test("messages after any offset are returned one by one, with the offset after each and their time", async () => {
      const streams = await TestStore.open(under);
      await streams.put("/s");
      const times: number[] = [];
      for (const text of MESSAGES) {
        times.push(++streams.nowMs);
        await streams.post("/s", `[${text}]`);
      }
      const found: { text: string; offset: OffsetToken; timestamp: number }[] = [];
      for await (const { data, offset, timestamp } of streams.store.messages("/s", "start")) {
        found.push({ text: Buffer.from(data).toString(), offset, timestamp });
      }
      assert.deepEqual(
        found.map(({ text }) => text),
        MESSAGES,
      );
      assert.deepEqual(
        found.map(({ timestamp }) => timestamp),
        times,
      );
      assert.equal(found.at(-1)?.offset, (await streams.head("/s")).end);
      for (const [n, { offset }] of found.entries()) {
        const rest = (await streams.messages("/s", offset)).map(([text]) => text);
        assert.deepEqual(rest, MESSAGES.slice(n + 1));
      }
    });

    test("a long stream reads the same in pieces of any size", async () => {
      const streams = await TestStore.open(under);
      for (const contentType of [BINARY_TYPE, "application/json"]) {
        const path = `/long/${contentType.length}`;
        await streams.put(path, { contentType });
        const line = (n: number) => `{"n":${n},"pad":"${"é".repeat((n * 7919) % 400)}"}`;
        for (let n = 0; n < 1000; n += 100) {
          const texts = Array.from({ length: 100 }, (_, k) => line(n + k));
          const isJson = contentType !== BINARY_TYPE;
          await streams.post(
            path,
            isJson ? `[${texts}]` : texts.map((text) => `${text}\n`).join(""),
          );
        }
        const whole = Array.from({ length: 1000 }, (_, n) => `${line(n)}\n`).join("");
        for (const bytesMax of [1000, 64 * 1024, 65_537, 1024 * 1024]) {
          assert.ok((await streams.text(path, "start", bytesMax)) === whole, `${bytesMax}`);
        }
      }
    });

    test("an offset that does not exist in the stream is refused", async () => {
      const streams = await TestStore.open(under);
      await streams.put("/s", { text: '["first","second"]' });
      const read = (offset: string) => streams.store.read("/s", offset as OffsetToken, 10);
      for (const offset of [
        "",
        "-1",
        "now",
        "7",
        "x".repeat(33),
        formatOffset(0, 19),
        formatOffset(1, 0),
      ]) {
        const { details } = await refusal(read(offset), "BAD_OFFSET");
        assert.equal(details.offset, offset);
      }
      for (let inside = 1; inside < 17; inside++) {
        if (inside !== 8) await refusal(read(formatOffset(0, inside)), "BAD_OFFSET");
      }
      const messages = streams.store.messages("/s", formatOffset(0, 3));
      await refusal(messages[Symbol.asyncIterator]().next(), "BAD_OFFSET");
    });

    test("a missing stream has neither head nor content", async () => {
      const streams = await TestStore.open(under);
      await refusal(streams.head("/none"), "STREAM_NOT_FOUND");
      await refusal(streams.store.read("/none", "start", 10), "STREAM_NOT_FOUND");
      await refusal(
        streams.store.messages("/none", "start")[Symbol.asyncIterator]().next(),
        "STREAM_NOT_FOUND",
      );
      await refusal(streams.store.remove("/none"), "STREAM_NOT_FOUND");
    });

    test("reading while appending returns a prefix of whole messages", async () => {
      const streams = await TestStore.open(under);
      await streams.put("/s");
      const writing = (async () => {
        for (let n = 0; n < 100; n++) await streams.post("/s", `[{"n":${n}},{"m":${n}}]`);
      })();
      let seen = "";
      for (let at: OffsetToken | "start" = "start"; !seen.includes('"m":99'); ) {
        const chunk = await streams.store.read("/s", at, 50);
        seen += Buffer.from(chunk.bytes).toString();
        assert.ok(seen === "" || seen.endsWith("\n"));
        at = chunk.next;
        if (!chunk.isAtEnd) continue;
        // Messages that were appended together are seen together.
        assert.ok(seen === "" || seen.trimEnd().split("\n").at(-1)?.includes("m"));
        await new Promise(setImmediate); // At the end a read does not wait.
      }
      await writing;
      assert.equal(seen, await streams.text("/s"));
    });
  });
}
