/** Forks: a stream that begins with a part of another, in the same offset space. */

import assert from "node:assert/strict";
import { describe, test } from "vitest";
import { formatOffset, type OffsetToken } from "../../../src/streams/files/offset-token.ts";
import type { Lifetime } from "../../../src/streams/files/stream-store.ts";
import { refusal } from "../../support/refusal.ts";
import { BINARY_TYPE, outcomeOf, type StoreUnderTest, TestStore } from "./store-under-test.ts";

export function forkTests(under: StoreUnderTest): void {
  describe(`${under.name}: forks`, () => {
    test("a fork at any offset has the source up to there, then its own messages; offsets mean the same in both", async () => {
      const streams = await TestStore.open(under);
      await streams.put("/s", { text: '["a","bb","ccc","dddd"]' });
      const places = await streams.messages("/s");
      for (const [n, [, at]] of places.entries()) {
        const path = `/fork/${n}`;
        const { head } = await streams.put(path, { fork: { source: "/s", at } });
        assert.deepEqual([head.end, head.isJson, head.fork], [at, true, { source: "/s", at }]);
        await streams.post(path, `"own ${n}"`);
        await streams.post("/s", `"later ${n}"`);
        const own = [...places.slice(0, n + 1).map(([text]) => text), `"own ${n}"`];
        const found = await streams.messages(path);
        assert.deepEqual(
          found.map(([text]) => text),
          own,
        );
        assert.deepEqual(found.slice(0, n + 1), places.slice(0, n + 1));
        for (const bytesMax of [1, 5, 9, 1000]) {
          assert.equal(
            await streams.text(path, "start", bytesMax),
            own.map((text) => `${text}\n`).join(""),
          );
          assert.equal(await streams.text(path, at, bytesMax), `"own ${n}"\n`);
        }
      }
    });

    test("without an offset a fork begins at the source's end; with zero it begins empty", async () => {
      const streams = await TestStore.open(under);
      await streams.put("/s", { text: "[1,2]" });
      const end = formatOffset(0, 4);
      assert.equal((await streams.put("/end", { fork: { source: "/s" } })).head.end, end);
      const zero = await streams.put("/zero", { fork: { source: "/s", at: formatOffset(0, 0) } });
      assert.equal(zero.head.end, formatOffset(0, 0));
      assert.equal(await streams.text("/zero"), "");
      await streams.post("/zero", "9");
      assert.equal(await streams.text("/zero"), "9\n");
      assert.equal(await streams.text("/end"), "1\n2\n");
    });

    test("a fork can be created with content, and closed", async () => {
      const streams = await TestStore.open(under);
      await streams.put("/s", { text: "1" });
      const { head } = await streams.put("/f", {
        fork: { source: "/s" },
        text: "[2,3]",
        isClosed: true,
      });
      assert.deepEqual([head.end, head.isClosed], [formatOffset(0, 6), true]);
      assert.equal(await streams.text("/f"), "1\n2\n3\n");
    });

    test("a sub-offset counts messages of a JSON stream, and bytes of any other", async () => {
      const streams = await TestStore.open(under);
      await streams.put("/s", { text: '["a","bb","ccc"]' });
      const at = formatOffset(0, 4);
      for (const [subOffset, text] of [
        [0, '"a"\n'],
        [1, '"a"\n"bb"\n'],
        [2, '"a"\n"bb"\n"ccc"\n'],
      ] as const) {
        await streams.put(`/f${subOffset}`, { fork: { source: "/s", at, subOffset } });
        assert.equal(await streams.text(`/f${subOffset}`), text);
      }
      await refusal(streams.put("/f3", { fork: { source: "/s", at, subOffset: 3 } }), "BAD_OFFSET");

      await streams.put("/bytes", { contentType: BINARY_TYPE, text: "abcdef" });
      for (let subOffset = 0; subOffset <= 6; subOffset++) {
        const path = `/bytes/${subOffset}`;
        const start = formatOffset(0, 0);
        const { head } = await streams.put(path, {
          fork: { source: "/bytes", at: start, subOffset },
        });
        assert.equal(head.end, formatOffset(0, subOffset));
        await streams.post(path, "-");
        assert.equal(await streams.text(path), `${"abcdef".slice(0, subOffset)}-`);
      }
      const past = { source: "/bytes", at: formatOffset(0, 0), subOffset: 7 };
      await refusal(streams.put("/past", { fork: past }), "BAD_OFFSET");
    });

    test("a fork may begin in an append that is not finished yet", async () => {
      const streams = await TestStore.open(under);
      const made = [
        streams.put("/s", { text: "[1,2]" }),
        streams.put("/f", { fork: { source: "/s", at: formatOffset(0, 2) }, text: "[3,4]" }),
        streams.put("/g", { fork: { source: "/f", at: formatOffset(0, 0), subOffset: 2 } }),
      ];
      await Promise.all(made);
      assert.equal(await streams.text("/f"), "1\n3\n4\n");
      assert.equal(await streams.text("/g"), "1\n3\n");
    });

    test("forks of forks read through the whole chain", async () => {
      const streams = await TestStore.open(under);
      await streams.put("/0", { text: "0" });
      for (let n = 1; n <= 5; n++) {
        await streams.put(`/${n}`, { fork: { source: `/${n - 1}` }, text: `${n}` });
      }
      for (let n = 0; n <= 5; n++) await streams.post(`/${n}`, `"later ${n}"`);
      const own = Array.from({ length: 6 }, (_, n) => `${n}\n`).join("");
      assert.equal(await streams.text("/5", "start", 3), `${own}"later 5"\n`);
      // A fork that begins inside what its source inherited.
      await streams.put("/early", { fork: { source: "/5", at: formatOffset(0, 4) }, text: "9" });
      assert.equal(await streams.text("/early", "start", 1), "0\n1\n9\n");
    });

    test("a fork inherits no producer state, Stream-Seq or closure", async () => {
      const streams = await TestStore.open(under);
      await streams.put("/s");
      const producer = { id: "p", epoch: 3, seq: 0 };
      await streams.post("/s", "1", { producer, streamSeq: "9", close: true });
      const { head } = await streams.put("/f", { fork: { source: "/s" } });
      assert.equal(head.isClosed, false);
      const fresh = { producer: { ...producer, epoch: 0 }, streamSeq: "1" };
      assert.equal(outcomeOf(await streams.post("/f", "2", fresh)), "appended 0");
    });

    test("a fork has the source's lifetime unless it asks for another", async () => {
      const streams = await TestStore.open(under);
      const ttl: Lifetime = { kind: "ttl", seconds: 100 };
      await streams.put("/s", { lifetime: ttl });
      assert.deepEqual((await streams.put("/f", { fork: { source: "/s" } })).head.lifetime, ttl);
      const own: Lifetime = { kind: "ttl", seconds: 5 };
      const asked = await streams.put("/g", { fork: { source: "/s" }, lifetime: own });
      assert.deepEqual(asked.head.lifetime, own);
    });

    test("creating a fork again with the same values changes nothing, with others it is a conflict", async () => {
      const streams = await TestStore.open(under);
      await streams.put("/s", { text: "[1,2]" });
      await streams.put("/t", { text: "[1,2]" });
      const at = formatOffset(0, 2);
      await streams.put("/f", { fork: { source: "/s", at } });
      assert.equal((await streams.put("/f", { fork: { source: "/s", at } })).isNew, false);
      const conflict = { fork: { source: "/s", at: formatOffset(0, 4) } };
      await refusal(streams.put("/f", conflict), "STREAM_CONFLICT");
      await refusal(streams.put("/f", { fork: { source: "/t", at } }), "STREAM_CONFLICT");
      await refusal(streams.put("/s", { fork: { source: "/t", at } }), "STREAM_CONFLICT");
      const type = { fork: { source: "/s", at }, contentType: "text/plain" };
      await refusal(streams.put("/g", type), "STREAM_CONFLICT");
    });

    test("a fork of a missing stream, or at an invalid offset, is refused", async () => {
      const streams = await TestStore.open(under);
      await streams.put("/s", { text: "[1,2]" });
      await refusal(streams.put("/f", { fork: { source: "/none" } }), "STREAM_NOT_FOUND");
      for (const at of [formatOffset(0, 5), formatOffset(0, 1), "x" as OffsetToken]) {
        await refusal(streams.put("/f", { fork: { source: "/s", at } }), "BAD_OFFSET");
      }
      await refusal(streams.head("/f"), "STREAM_NOT_FOUND");
    });

    test("a deleted source can be read only through its forks, and its path stays taken", async () => {
      const streams = await TestStore.open(under);
      await streams.put("/s", { text: "1" });
      await streams.put("/f", { fork: { source: "/s" }, text: "2" });
      await streams.store.remove("/s");
      for (let life = 0; life < 2; life++) {
        await refusal(streams.head("/s"), "STREAM_GONE");
        await refusal(streams.text("/s"), "STREAM_GONE");
        await refusal(streams.post("/s", "1"), "STREAM_GONE");
        await refusal(streams.store.remove("/s"), "STREAM_GONE");
        await refusal(streams.put("/s"), "STREAM_CONFLICT");
        await refusal(streams.put("/g", { fork: { source: "/s" } }), "STREAM_CONFLICT");
        assert.equal(await streams.text("/f"), "1\n2\n");
        const listed = await streams.store.list({ limit: 10 });
        assert.deepEqual(
          listed.map(({ path }) => path),
          ["/f"],
        );
        await streams.restart();
      }
      await streams.store.remove("/f");
      await refusal(streams.head("/s"), "STREAM_NOT_FOUND");
      assert.equal((await streams.put("/s")).head.start, formatOffset(1, 0));
    });

    test("when the last fork is deleted, so is every source that was kept for it", async () => {
      const streams = await TestStore.open(under);
      await streams.put("/0", { text: "0" });
      for (const n of [1, 2, 3]) await streams.put(`/${n}`, { fork: { source: `/${n - 1}` } });
      for (const n of [0, 2, 1]) await streams.store.remove(`/${n}`);
      for (const n of [0, 1, 2]) await refusal(streams.head(`/${n}`), "STREAM_GONE");
      assert.equal(await streams.text("/3"), "0\n");
      await streams.store.remove("/3");
      for (const n of [0, 1, 2, 3]) await refusal(streams.head(`/${n}`), "STREAM_NOT_FOUND");
    });

    test("a fork of a stream that was created again continues in its offset space", async () => {
      const streams = await TestStore.open(under);
      await streams.put("/s", { text: "1" });
      await streams.store.remove("/s");
      await streams.put("/s", { text: "[2,3]" });
      const at = formatOffset(1, 2);
      const { head } = await streams.put("/f", { fork: { source: "/s", at }, text: "4" });
      assert.deepEqual([head.start, head.end], [formatOffset(1, 0), formatOffset(1, 4)]);
      assert.equal(await streams.text("/f", at), "4\n");
      assert.equal(await streams.text("/f"), "2\n4\n");
    });

    test("a deleted path can be created again as a fork, and old offsets are invalid in it", async () => {
      const streams = await TestStore.open(under);
      await streams.put("/s", { text: '["from the source"]' });
      await streams.put("/f", { text: '["of an earlier life"]' });
      const old = (await streams.head("/f")).end;
      await streams.store.remove("/f");
      const { head } = await streams.put("/f", { fork: { source: "/s" }, text: "2" });
      assert.equal(head.start, formatOffset(1, 0));
      assert.equal(await streams.text("/f", "start", 1), '"from the source"\n2\n');
      await refusal(streams.text("/f", old), "OFFSET_GONE");
      const [first] = await streams.messages("/f");
      assert.ok(first);
      assert.equal(await streams.text("/f", first[1]), "2\n");
    });
  });
}
