/** Producers and closure: retries, fencing, and requests after the end. */

import assert from "node:assert/strict";
import { describe, test } from "vitest";
import { formatOffset } from "../../../src/streams/files/offset-token.ts";
import type { ProducerTurn } from "../../../src/streams/files/stream-store.ts";
import { refusal } from "../../support/refusal.ts";
import { outcomeOf, type StoreUnderTest, TestStore } from "./store-under-test.ts";

export function producerTests(under: StoreUnderTest): void {
  describe(`${under.name}: producers`, () => {
    test("a producer's sequence number is accepted once; a retry, a gap and a stale epoch are distinguished", async () => {
      const streams = await TestStore.open(under);
      await streams.put("/s");
      const stored: string[] = [];
      for (const [id, epoch, seq, outcome] of [
        ["a", 0, 1, "gap 0"], // A new producer begins at 0.
        ["a", 0, 0, "appended 0"],
        ["a", 0, 0, "duplicate 0"],
        ["a", 0, 1, "appended 1"],
        ["a", 0, 3, "gap 2"],
        ["a", 0, 0, "duplicate 1"],
        ["a", 2, 1, "new-epoch-not-at-0"],
        ["a", 2, 0, "appended 0"],
        ["a", 0, 2, "stale-epoch 2"],
        ["a", 1, 0, "stale-epoch 2"],
        ["a", 2, 0, "duplicate 0"],
        ["b", 7, 0, "appended 0"],
        ["a", 2, 1, "appended 1"],
      ] as const) {
        const body = JSON.stringify(`${id}${epoch}/${seq}`);
        const appended = await streams.post("/s", body, { producer: { id, epoch, seq } });
        assert.equal(outcomeOf(appended), outcome, body);
        if (outcome.startsWith("appended")) stored.push(body);
      }
      assert.equal(await streams.text("/s"), stored.map((text) => `${text}\n`).join(""));
    });

    test("a producer's id with a NUL is refused, and other requests of its group are not", async () => {
      const streams = await TestStore.open(under);
      await streams.put("/s");
      const post = (id: string) => streams.post("/s", "1", { producer: { id, epoch: 0, seq: 0 } });
      const others = ["a", "b"].map(async (id) => outcomeOf(await post(id)));
      await refusal(post("a\0b"), "BAD_SETTING");
      assert.deepEqual(await Promise.all(others), ["appended 0", "appended 0"]);
    });

    test("a retry is recognised before its Stream-Seq is checked", async () => {
      const streams = await TestStore.open(under);
      await streams.put("/s");
      const turn = { producer: { id: "p", epoch: 0, seq: 0 }, streamSeq: "5" };
      assert.equal(outcomeOf(await streams.post("/s", "1", turn)), "appended 0");
      assert.equal(outcomeOf(await streams.post("/s", "1", turn)), "duplicate 0");
      const next = { producer: { id: "p", epoch: 0, seq: 1 }, streamSeq: "5" };
      assert.equal((await streams.post("/s", "1", next)).outcome, "seq-not-greater");
      // Nothing was accepted: the sequence number is still free.
      assert.equal(
        outcomeOf(await streams.post("/s", "2", { ...next, streamSeq: "6" })),
        "appended 1",
      );
    });

    test("of sixteen concurrent requests with the same sequence number, one is accepted", async () => {
      const streams = await TestStore.open(under);
      await streams.put("/s");
      for (let seq = 0; seq < 5; seq++) {
        const sent = Array.from({ length: 16 }, (_, n) =>
          streams.post("/s", `${seq * 100 + n}`, { producer: { id: "p", epoch: 0, seq } }),
        );
        const outcomes = (await Promise.all(sent)).map(outcomeOf);
        assert.equal(outcomes.filter((outcome) => outcome === `appended ${seq}`).length, 1);
        assert.equal(outcomes.filter((outcome) => outcome === `duplicate ${seq}`).length, 15);
      }
      assert.equal((await streams.messages("/s")).length, 5);
    });

    test("appends sent without waiting are accepted in the order they were sent", async () => {
      const streams = await TestStore.open(under);
      await streams.put("/s");
      const sent = Array.from({ length: 64 }, (_, seq) =>
        streams.post("/s", `${seq}`, { producer: { id: "p", epoch: 0, seq } }),
      );
      for (const [seq, appended] of (await Promise.all(sent)).entries()) {
        assert.equal(outcomeOf(appended), `appended ${seq}`);
      }
      assert.equal(
        await streams.text("/s"),
        Array.from({ length: 64 }, (_, n) => `${n}\n`).join(""),
      );
    });

    test("a producer's state in one stream has no effect in another", async () => {
      const streams = await TestStore.open(under);
      await streams.put("/a");
      await streams.put("/b");
      const producer = { id: "p", epoch: 3, seq: 0 };
      assert.equal(outcomeOf(await streams.post("/a", "1", { producer })), "appended 0");
      const other = { producer: { ...producer, epoch: 0 } };
      assert.equal(outcomeOf(await streams.post("/b", "1", other)), "appended 0");
    });
  });

  describe(`${under.name}: closing`, () => {
    test("the last append and the closing are atomic; later appends are refused", async () => {
      const streams = await TestStore.open(under);
      await streams.put("/s");
      const { outcome, head } = await streams.post("/s", "1", { close: true });
      assert.deepEqual([outcome, head.isClosed, head.end], ["appended", true, formatOffset(0, 2)]);
      assert.equal((await streams.post("/s", "2")).outcome, "closed");
      assert.equal((await streams.post("/s", "2", { close: true })).outcome, "closed");
      // Closure is checked before the type.
      assert.equal(
        (await streams.post("/s", "2", { contentType: "text/plain" })).outcome,
        "closed",
      );
      assert.equal(await streams.text("/s"), "1\n");
    });

    test("closing without content appends nothing, and can be repeated", async () => {
      const streams = await TestStore.open(under);
      await streams.put("/s", { text: "1" });
      const first = await streams.post("/s", "", { close: true, contentType: "text/plain" });
      assert.deepEqual([first.outcome, first.head.isClosed], ["appended", true]);
      const again = await streams.post("/s", "", { close: true });
      assert.deepEqual([again.outcome, again.head], ["duplicate", first.head]);
      assert.equal(first.head.end, formatOffset(0, 2));
    });

    test("the append that closed a stream is a retry when it is repeated; others are refused", async () => {
      for (const body of ["", "2"]) {
        const streams = await TestStore.open(under);
        await streams.put("/s", { text: "1" });
        const turn: ProducerTurn = { id: "p", epoch: 1, seq: 0 };
        const post = async (producer: ProducerTurn) =>
          (await streams.post("/s", body, { close: true, producer })).outcome;
        assert.equal(await post(turn), "appended");
        assert.equal(await post(turn), "duplicate");
        assert.notEqual(await post({ ...turn, seq: 1 }), "appended");
        assert.equal(
          (await streams.post("/s", "3", { producer: { ...turn, id: "q" } })).outcome,
          "closed",
        );
        assert.equal((await streams.messages("/s")).length, body === "" ? 1 : 2);
      }
    });

    test("a stream can be created closed, with its content", async () => {
      const streams = await TestStore.open(under);
      const { head } = await streams.put("/s", { text: "[1,2]", isClosed: true });
      assert.ok(head.isClosed);
      assert.equal((await streams.post("/s", "3")).outcome, "closed");
      assert.equal(await streams.text("/s"), "1\n2\n");
    });
  });
}
