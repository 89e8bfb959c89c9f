/** Lifetimes: creating twice, deleting, creating again, and expiring. */

import assert from "node:assert/strict";
import { describe, test } from "vitest";
import { formatOffset } from "../../../src/streams/files/offset-token.ts";
import type { CreateRequest, Lifetime } from "../../../src/streams/files/stream-store.ts";
import { refusal } from "../../support/refusal.ts";
import { BINARY_TYPE, type StoreUnderTest, TestStore } from "./store-under-test.ts";

const TTL: Lifetime = { kind: "ttl", seconds: 10 };

export function lifetimeTests(under: StoreUnderTest): void {
  describe(`${under.name}: lifetimes`, () => {
    test("creating an existing stream with the same values changes nothing", async () => {
      const streams = await TestStore.open(under);
      const { isNew, head } = await streams.put("/s", { text: "1", lifetime: TTL });
      assert.ok(isNew);
      const again = await streams.put("/s", {
        text: "2",
        lifetime: TTL,
        contentType: "Application/json",
      });
      assert.equal(again.isNew, false);
      assert.deepEqual(again.head, head);
      assert.equal(await streams.text("/s"), "1\n");
    });

    test("creating an existing stream with another type, lifetime or closure is a conflict", async () => {
      const streams = await TestStore.open(under);
      await streams.put("/s", { text: "1", lifetime: TTL });
      const others: readonly Partial<CreateRequest>[] = [
        { lifetime: TTL, contentType: "text/plain" },
        {},
        { lifetime: { kind: "ttl", seconds: 11 } },
        { lifetime: { kind: "until", atMs: streams.nowMs + 10_000, text: "soon" } },
        { lifetime: TTL, isClosed: true },
      ];
      for (const other of others) await refusal(streams.put("/s", other), "STREAM_CONFLICT");
      await streams.post("/s", "", { close: true });
      await refusal(streams.put("/s", { lifetime: TTL }), "STREAM_CONFLICT");
      assert.equal((await streams.put("/s", { lifetime: TTL, isClosed: true })).isNew, false);
    });

    test("of many concurrent requests to create one stream, one creates it", async () => {
      const streams = await TestStore.open(under);
      const all = await Promise.all(
        Array.from({ length: 16 }, (_, n) => streams.put("/s", { text: `${n}` })),
      );
      assert.equal(all.filter(({ isNew }) => isNew).length, 1);
      assert.equal((await streams.messages("/s")).length, 1);
    });

    test("a stream without a type is application/octet-stream", async () => {
      const streams = await TestStore.open(under);
      const { head } = await streams.store.create("/s", {
        body: new Uint8Array(),
        isClosed: false,
      });
      assert.deepEqual([head.contentType, head.isJson, head.fork], [BINARY_TYPE, false, null]);
      assert.deepEqual(head.lifetime, { kind: "forever" });
      assert.equal(head.createdAtMs, streams.nowMs);
    });

    test("a deleted stream does not exist", async () => {
      const streams = await TestStore.open(under);
      await streams.put("/s", { text: "1" });
      await streams.store.remove("/s");
      await refusal(streams.head("/s"), "STREAM_NOT_FOUND");
      await refusal(streams.post("/s", "1"), "STREAM_NOT_FOUND");
      await refusal(streams.text("/s"), "STREAM_NOT_FOUND");
      await refusal(streams.store.remove("/s"), "STREAM_NOT_FOUND");
    });

    test("a stream created again has a new id, a larger readSeq, and none of the old content or producer state", async () => {
      const streams = await TestStore.open(under);
      const producer = { id: "p", epoch: 5, seq: 0 };
      const ids = new Set<string>();
      for (let life = 0; life < 3; life++) {
        const { isNew, head } = await streams.put("/s", { text: `"life ${life}"` });
        assert.ok(isNew);
        ids.add(head.streamId);
        assert.equal(head.start, formatOffset(life, 0));
        assert.equal(head.end, formatOffset(life, 9));
        const { outcome } = await streams.post("/s", "1", {
          producer,
          streamSeq: "9",
          close: true,
        });
        assert.equal(outcome, "appended");
        assert.equal(await streams.text("/s"), `"life ${life}"\n1\n`);
        if (life > 0) {
          const old = streams.store.read("/s", formatOffset(life - 1, 9), 100);
          await refusal(old, "OFFSET_GONE");
        }
        await streams.store.remove("/s");
        if (life === 1) await streams.restart();
      }
      assert.equal(ids.size, 3);
    });

    test("a deleted stream can be created again with another type", async () => {
      const streams = await TestStore.open(under);
      for (const contentType of ["application/json", BINARY_TYPE, "application/json"]) {
        await streams.put("/s", { contentType, text: "[1,2]" });
        assert.equal(await streams.text("/s"), contentType === BINARY_TYPE ? "[1,2]" : "1\n2\n");
        await streams.store.remove("/s");
      }
    });

    test("a fixed expiry time is kept whether the stream is used or not, and is returned as it was sent", async () => {
      const streams = await TestStore.open(under);
      const lifetime = { kind: "until", atMs: streams.nowMs + 10_000, text: "as asked" } as const;
      await streams.put("/s", { text: "1", lifetime });
      streams.nowMs += 9_999;
      streams.store.touch("/s");
      assert.deepEqual((await streams.head("/s")).lifetime, lifetime);
      streams.nowMs += 1;
      await refusal(streams.head("/s"), "STREAM_NOT_FOUND");
      await refusal(streams.post("/s", "2"), "STREAM_NOT_FOUND");
      await refusal(streams.text("/s"), "STREAM_NOT_FOUND");
      assert.deepEqual(await streams.store.list({ limit: 10 }), []);
    });

    test("a sliding lifetime is renewed by each append and touch, and not by reading the head", async () => {
      const streams = await TestStore.open(under);
      await streams.put("/s", { lifetime: TTL });
      const renew = [() => streams.post("/s", "1"), () => streams.store.touch("/s")];
      for (const use of [...renew, ...renew]) {
        streams.nowMs += 9_000;
        await use();
      }
      streams.nowMs += 9_000;
      await streams.head("/s");
      streams.nowMs += 1_000;
      await refusal(streams.head("/s"), "STREAM_NOT_FOUND");
    });

    test("an expired stream can be created again at once, before or after it is swept", async () => {
      for (const isSwept of [false, true]) {
        const streams = await TestStore.open(under);
        await streams.put("/s", { text: "1", lifetime: TTL });
        await streams.put("/kept", { text: "1" });
        streams.nowMs += 10_000;
        if (isSwept) assert.equal(await streams.store.sweep(), 1);
        if (isSwept) assert.equal(await streams.store.sweep(), 0);
        const { isNew, head } = await streams.put("/s", { text: "2", lifetime: TTL });
        assert.ok(isNew);
        assert.equal(head.start, formatOffset(1, 0));
        assert.equal(await streams.text("/s"), "2\n");
        assert.equal(await streams.text("/kept"), "1\n");
      }
    });

    test("a lifetime continues through a restart", async () => {
      const streams = await TestStore.open(under);
      await streams.put("/s", { lifetime: TTL });
      streams.nowMs += 8_000;
      await streams.post("/s", "1");
      await streams.restart();
      streams.nowMs += 9_000;
      assert.deepEqual((await streams.head("/s")).lifetime, TTL);
      streams.nowMs += 1_000;
      await refusal(streams.head("/s"), "STREAM_NOT_FOUND");
      await streams.restart();
      await refusal(streams.head("/s"), "STREAM_NOT_FOUND");
    });
  });
}
