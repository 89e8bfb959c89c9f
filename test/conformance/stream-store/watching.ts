/** Watching, listing, records and restarts: what a server needs in addition to streams. */

import assert from "node:assert/strict";
import { describe, test } from "vitest";
import type { OffsetToken } from "../../../src/streams/files/offset-token.ts";
import type { StreamHead } from "../../../src/streams/files/stream-store.ts";
import { refusal } from "../../support/refusal.ts";
import { outcomeOf, type StoreUnderTest, TestStore } from "./store-under-test.ts";

export function watchTests(under: StoreUnderTest): void {
  describe(`${under.name}: watching`, () => {
    test("reading to the end and then waiting for a call misses nothing", async () => {
      const streams = await TestStore.open(under);
      await streams.put("/s");
      const writing = (async () => {
        for (let n = 0; n < 200; n++) await streams.post("/s", `${n}`);
        await streams.post("/s", "", { close: true });
      })();
      let seen = "";
      let wake = () => {};
      let changed = new Promise<void>((resolve) => (wake = resolve));
      const stop = streams.store.watch("/s", () => wake());
      for (let at: OffsetToken | "start" = "start"; ; ) {
        changed = new Promise((resolve) => (wake = resolve));
        const chunk = await streams.store.read("/s", at, 40);
        seen += Buffer.from(chunk.bytes).toString();
        at = chunk.next;
        if (chunk.isAtEnd && chunk.head.isClosed) break;
        if (chunk.isAtEnd) await changed;
      }
      stop();
      await writing;
      assert.equal(seen, Array.from({ length: 200 }, (_, n) => `${n}\n`).join(""));
    });

    test("a watcher receives the head after growth and closure, and null after deletion", async () => {
      const streams = await TestStore.open(under);
      await streams.put("/s");
      const calls: (StreamHead | null)[] = [];
      const stop = streams.store.watch("/s", (head) => calls.push(head));
      const { head } = await streams.post("/s", "1");
      assert.deepEqual(calls.at(-1), head);
      assert.equal(await streams.text("/s"), "1\n");
      const closed = await streams.post("/s", "", { close: true });
      assert.deepEqual(calls.at(-1), closed.head);
      await streams.store.remove("/s");
      assert.equal(calls.at(-1), null);
      const count = calls.length;
      stop();
      await streams.put("/s");
      await streams.post("/s", "2");
      assert.equal(calls.length, count);
    });

    test("refused appends, retries and other streams wake no watcher", async () => {
      const streams = await TestStore.open(under);
      await streams.put("/s", { text: "1" });
      const fork = await streams.put("/f", { fork: { source: "/s" } });
      const producer = { id: "p", epoch: 0, seq: 0 };
      await streams.post("/f", "1", { producer });
      let calls = 0;
      streams.store.watch("/f", () => calls++);
      await streams.post("/f", "1", { producer });
      await refusal(streams.post("/f", "{"), "BAD_MESSAGE");
      await streams.post("/s", "2");
      assert.equal(calls, 0);
      assert.equal(fork.isNew, true);
    });

    test("a watcher of all is called for every stream, also for those created later", async () => {
      const streams = await TestStore.open(under);
      const calls: [string, OffsetToken | null][] = [];
      const stop = streams.store.watchPrefix("/", (path, head) =>
        calls.push([path, head?.end ?? null]),
      );
      await streams.put("/a", { text: "1" });
      const { head } = await streams.post("/a", "2");
      await streams.put("/b", { lifetime: { kind: "ttl", seconds: 1 } });
      streams.nowMs += 1000;
      assert.equal(await streams.store.sweep(), 1);
      await streams.store.remove("/a");
      assert.deepEqual(calls.filter(([path]) => path === "/a").slice(-2), [
        ["/a", head.end],
        ["/a", null],
      ]);
      assert.deepEqual(calls.filter(([path]) => path === "/b").at(-1), ["/b", null]);
      const count = calls.length;
      stop();
      await streams.put("/c", { text: "1" });
      assert.equal(calls.length, count);
    });
  });

  describe(`${under.name}: listing and records`, () => {
    test("live streams are listed in order of path, a page at a time", async () => {
      const streams = await TestStore.open(under);
      const paths = ["/a", "/a/b", "/b", "/c", "/d", "/é"];
      for (const path of paths.toReversed()) await streams.put(path, { text: "1" });
      await streams.store.remove("/c");
      const left = paths.filter((path) => path !== "/c");
      for (let limit = 1; limit <= 7; limit++) {
        const found: string[] = [];
        for (let after: string | undefined; ; ) {
          const page = await streams.store.list({ after, limit });
          found.push(...page.map(({ path }) => path));
          after = page.at(-1)?.path;
          if (page.length < limit) break;
        }
        assert.deepEqual(found, left);
      }
      const [first] = await streams.store.list({ limit: 1 });
      assert.deepEqual(first, await streams.head("/a"));
    });

    test("records can be stored, replaced, removed and found by prefix", async () => {
      const streams = await TestStore.open(under);
      for (const key of ["a/1", "a/2", "b/1"])
        await streams.store.putRecord(key, `value of ${key}`);
      await streams.store.putRecord("a/1", "\u0000 é 😀 \u2028");
      await streams.store.putRecord("a/2", null);
      await streams.store.putRecord("never there", null);
      for (let life = 0; life < 2; life++) {
        assert.deepEqual([...(await streams.store.records("a/"))], [["a/1", "\u0000 é 😀 \u2028"]]);
        assert.equal((await streams.store.records("")).size, 2);
        assert.equal((await streams.store.records("z")).size, 0);
        await streams.restart();
      }
    });

    test("a healthy store reports that it accepts writes", async () => {
      const streams = await TestStore.open(under);
      assert.deepEqual(streams.store.health(), { isWritable: true });
    });
  });

  describe(`${under.name}: restarting`, () => {
    test("heads, content, producer state, Stream-Seq and closure are unchanged after a restart", async () => {
      const streams = await TestStore.open(under);
      const producer = { id: "p", epoch: 2, seq: 0 };
      await streams.put("/s", { text: "[1,2]" });
      await streams.post("/s", "3", { producer, streamSeq: "b" });
      await streams.put("/closed", { text: "1" });
      await streams.post("/closed", "2", { close: true, producer });
      await streams.put("/f", { fork: { source: "/s" }, text: "4" });
      await streams.put("/bytes", { contentType: "text/plain", text: "x\r\ny" });
      const before = await snapshot(streams);
      for (let life = 0; life < 3; life++) {
        await streams.restart();
        assert.deepEqual(await snapshot(streams), before);
        assert.equal(
          outcomeOf(await streams.post("/s", "3", { producer, streamSeq: "b" })),
          "duplicate 0",
        );
        const stale = { producer: { ...producer, epoch: 1 } };
        assert.equal(outcomeOf(await streams.post("/s", "3", stale)), "stale-epoch 2");
        assert.equal(
          (await streams.post("/s", "4", { streamSeq: "b" })).outcome,
          "seq-not-greater",
        );
        assert.equal(
          (await streams.post("/closed", "2", { close: true, producer })).outcome,
          "duplicate",
        );
        assert.equal((await streams.post("/closed", "3")).outcome, "closed");
      }
      assert.equal((await streams.post("/s", "5")).outcome, "appended");
      assert.equal(await streams.text("/s"), "1\n2\n3\n5\n");
    });

    test("appends in progress when the store is closed are answered and stored", async () => {
      const streams = await TestStore.open(under);
      await streams.put("/s");
      const sent = Array.from({ length: 50 }, (_, n) => streams.post("/s", `${n}`));
      await streams.restart();
      const answers = await Promise.all(sent);
      assert.ok(answers.every(({ outcome }) => outcome === "appended"));
      assert.equal((await streams.messages("/s")).length, 50);
    });
  });
}

async function snapshot(streams: TestStore): Promise<unknown> {
  const heads = await streams.store.list({ limit: 100 });
  const texts = await Promise.all(heads.map(({ path }) => streams.messages(path)));
  return { heads, texts };
}
