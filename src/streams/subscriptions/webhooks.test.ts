import { expect, test } from "vitest";
import { refusal } from "../../../test/support/refusal.ts";
import { Subscribing } from "../../../test/support/subscribing.ts";
import { formatOffset } from "../files/offset-token.ts";

const ZERO = formatOffset(0, 0);

test("an append to a followed stream wakes the webhook, with the stream's cursor and new end", async () => {
  const desk = await Subscribing.open();
  await desk.create("s");
  const end = await desk.make("/events/a", "one");
  const wake = await desk.delivery(0);
  expect(wake).toMatchObject({ generation: 1, subscription: { id: "s" } });
  expect(wake.wakeId).toMatch(/^w_[0-9a-f]{24}$/);
  expect(wake.streams).toEqual([
    { path: "/events/a", linkType: "glob", acked: ZERO, tail: end, hasPending: true },
  ]);
});

test("done acknowledges what the request listed, and later messages wake again", async () => {
  const desk = await Subscribing.open();
  await desk.create("s");
  const first = await desk.make("/events/a", 1);
  const wake = await desk.delivery(0);
  const second = await desk.append("/events/a", 2);
  await desk.settle("s");
  expect(desk.deliveries).toHaveLength(1); // One wake at a time.
  wake.answer("done");
  const next = await desk.delivery(1);
  expect(desk.cursors("s")).toEqual({ "/events/a": first });
  expect(next.generation).toBe(2);
  expect(next.wakeId).not.toBe(wake.wakeId);
  expect(next.streams).toMatchObject([{ acked: first, tail: second }]);
  next.answer("done");
  await desk.settle("s");
  expect(desk.cursors("s")).toEqual({ "/events/a": second });
  expect(desk.deliveries).toHaveLength(2);
});

test("a callback acknowledges, extends the lease, and is fenced after done", async () => {
  const desk = await Subscribing.open();
  await desk.create("s", { leaseTtlMs: 1000 });
  await desk.make("/events/a", 1);
  const middle = (await desk.store.head("/events/a")).end;
  const end = await desk.append("/events/a", 2);
  const wake = await desk.delivery(0);
  wake.answer("accepted");
  await desk.pass(900, "s");
  const acks = [{ stream: "events/a", offset: middle }];
  expect(await desk.ack(wake, { acks })).toEqual({ isWokenAgain: false });
  expect(desk.cursors("s")).toEqual({ "/events/a": middle });
  await desk.pass(999, "s"); // 1899 after the wake: the callback has extended the lease.
  const rest = [{ stream: "events/a", offset: end }];
  expect(await desk.ack(wake, { acks: rest, isDone: true })).toEqual({ isWokenAgain: false });
  const error = await refusal(desk.ack(wake, { isDone: true }), "SUBSCRIPTION_REFUSED");
  expect(error.details).toEqual({ subscription: "s", reason: "FENCED" });
  expect(desk.cursors("s")).toEqual({ "/events/a": end });
});

test("done in a callback acknowledges only what it names, and wakes again for the rest", async () => {
  const desk = await Subscribing.open();
  await desk.create("s");
  const a = await desk.make("/events/a", 1);
  const wake = await desk.delivery(0);
  wake.answer("accepted");
  await desk.make("/events/b", 1);
  const acks = [{ stream: "/events/a", offset: a }];
  expect(await desk.ack(wake, { acks, isDone: true })).toEqual({ isWokenAgain: true });
  const next = await desk.delivery(1);
  expect(next.streams.filter(({ hasPending }) => hasPending)).toMatchObject([
    { path: "/events/b", acked: ZERO },
  ]);
});

test("a failed delivery is retried, with the same wake, after 1, 2, 4 … seconds", async () => {
  const desk = await Subscribing.open();
  await desk.create("s", { leaseTtlMs: 600_000 });
  await desk.make("/events/a", 1);
  const { wakeId } = await desk.delivery(0);
  for (const [at, ms] of [1000, 2000, 4000, 8000, 16_000, 32_000, 60_000, 60_000].entries()) {
    const delivery = await desk.delivery(at);
    expect(delivery).toMatchObject({ wakeId, generation: 1 });
    delivery.answer("failed");
    await desk.settle("s");
    expect(desk.subscriptions.get("s").phase.retry).toEqual({
      count: at + 1,
      atMs: desk.time.nowMs() + ms,
    });
    await desk.append("/events/a", at); // New appends do not shorten the delay.
    await desk.pass(ms - 1, "s");
    expect(desk.deliveries).toHaveLength(at + 1);
    await desk.pass(1, "s");
  }
  (await desk.delivery(8)).answer("done");
  await desk.settle("s");
  expect(desk.subscriptions.get("s").phase).toEqual({ generation: 1, wake: null, retry: null });
});

test("an expired lease causes another wake, and the previous holder is fenced", async () => {
  const desk = await Subscribing.open();
  await desk.create("s", { leaseTtlMs: 1000 });
  const end = await desk.make("/events/a", 1);
  const wake = await desk.delivery(0);
  wake.answer("accepted");
  await desk.pass(999, "s");
  expect(desk.deliveries).toHaveLength(1);
  await desk.pass(1, "s");
  const next = await desk.delivery(1);
  expect(next.generation).toBe(2);
  const acks = [{ stream: "events/a", offset: end }];
  const error = await refusal(desk.ack(wake, { acks }), "SUBSCRIPTION_REFUSED");
  expect(error.details.reason).toBe("FENCED");
});

test("an expired lease is over even before its timer fires", async () => {
  const desk = await Subscribing.open();
  await desk.create("s", { leaseTtlMs: 1000 });
  await desk.make("/events/a", 1);
  const wake = await desk.delivery(0);
  wake.answer("accepted");
  await desk.settle("s");
  const late = desk.time.nowMs() + 1000;
  Object.defineProperty(desk.time, "nowMs", { value: () => late });
  const error = await refusal(desk.ack(wake, {}), "SUBSCRIPTION_REFUSED");
  expect(error.details.reason).toBe("FENCED");
});

test("a webhook that never answers is abandoned with its lease, and retried with a longer delay", async () => {
  const desk = await Subscribing.open();
  await desk.create("s", { leaseTtlMs: 1000 });
  await desk.make("/events/a", 1);
  const wake = await desk.delivery(0);
  await desk.pass(1000, "s");
  expect(wake.signal.aborted).toBe(true);
  expect(desk.deliveries).toHaveLength(1);
  await desk.pass(1000, "s"); // The first retry.
  const next = await desk.delivery(1);
  expect(next.generation).toBe(2);
  await desk.pass(1000, "s");
  expect(next.signal.aborted).toBe(true);
  await desk.pass(1999, "s");
  expect(desk.deliveries).toHaveLength(2);
  await desk.pass(1, "s");
  expect((await desk.delivery(2)).generation).toBe(3);
});

test("a delivery repeated after a delay longer than the lease is a new wake", async () => {
  const desk = await Subscribing.open();
  await desk.create("s", { leaseTtlMs: 1500 });
  await desk.make("/events/a", 1);
  const generations = [1, 1, 2, 3];
  for (const [at, generation] of generations.entries()) {
    const delivery = await desk.delivery(at);
    expect(delivery.generation).toBe(generation);
    delivery.answer("failed");
    await desk.settle("s");
    await desk.pass(1000 * 2 ** at, "s");
  }
  const ids = new Set(desk.deliveries.slice(0, 4).map(({ wakeId }) => wakeId));
  expect(ids.size).toBe(3);
});

test("a callback that arrives before the webhook's answer counts, and the answer does not", async () => {
  const desk = await Subscribing.open();
  await desk.create("s");
  const end = await desk.make("/events/a", 1);
  const wake = await desk.delivery(0);
  const acks = [{ stream: "events/a", offset: end }];
  await desk.ack(wake, { acks, isDone: true });
  const later = await desk.append("/events/a", 2);
  const next = await desk.delivery(1);
  expect(wake.signal.aborted).toBe(false); // Its request may still be answered.
  wake.answer("failed");
  await desk.settle("s");
  expect(desk.subscriptions.get("s").phase).toMatchObject({ generation: 2, retry: null });
  next.answer("done");
  await desk.settle("s");
  expect(desk.cursors("s")).toEqual({ "/events/a": later });
});

test("concurrent webhook calls are limited, and the others are called later", async () => {
  const desk = await Subscribing.open({ deliveriesMax: 2 });
  for (const id of ["a", "b", "c", "d"]) await desk.create(id);
  await desk.make("/events/x", 1);
  for (const id of ["a", "b", "c", "d"]) await desk.settle(id);
  expect(desk.deliveries).toHaveLength(2);
  for (let at = 0; at < 4; at++) {
    const delivery = await desk.delivery(at);
    expect(desk.deliveries.length).toBeLessThanOrEqual(at + 2);
    delivery.answer("done");
    await desk.settle(delivery.subscription.id);
  }
  expect(desk.deliveries.map(({ subscription }) => subscription.id).sort()).toEqual([..."abcd"]);
});

test("a queued delivery that is no longer needed does not delay the others", async () => {
  const desk = await Subscribing.open({ deliveriesMax: 1 });
  for (const id of ["a", "b", "c"]) await desk.create(id, { pattern: `${id}/*` });
  for (const id of ["a", "b", "c"]) await desk.make(`/${id}/1`, 1);
  for (const id of ["a", "b", "c"]) await desk.settle(id);
  await desk.store.remove("/b/1");
  (await desk.delivery(0)).answer("done");
  expect((await desk.delivery(1)).subscription.id).toBe("c");
});

test("a wake whose streams are deleted before it was delivered is cancelled", async () => {
  const desk = await Subscribing.open();
  await desk.create("s");
  await desk.make("/events/a", 1);
  (await desk.delivery(0)).answer("failed");
  await desk.settle("s");
  await desk.store.remove("/events/a");
  await desk.pass(1000, "s");
  expect(desk.deliveries).toHaveLength(1);
  expect(desk.subscriptions.get("s").phase).toEqual({ generation: 1, wake: null, retry: null });
});
