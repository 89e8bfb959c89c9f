import { expect, test } from "vitest";
import { refusal } from "../../../test/support/refusal.ts";
import { PULL, Subscribing } from "../../../test/support/subscribing.ts";
import { formatOffset } from "../files/offset-token.ts";

const ZERO = formatOffset(0, 0);
const POOL = "/wake/pool";

test("a pull-wake writes one event for each wake to its wake stream", async () => {
  const desk = await openPull();
  const ts = desk.time.nowMs();
  await desk.make("/events/a", 1);
  await desk.append("/events/a", 2);
  await desk.make("/events/b", 1);
  await desk.settle("p");
  const event = { type: "wake", subscription_id: "p", stream: "events/a", generation: 1, ts };
  expect(await desk.messages(POOL)).toEqual([event]);
});

test("a claim returns everything pending, and no other worker gets it before it is done", async () => {
  const desk = await openPull();
  const a = await desk.make("/events/a", 1);
  const b = await desk.make("/events/b", 1);
  const claim = await desk.subscriptions.claim("p", "worker-1");
  expect(claim.generation).toBe(1);
  expect(claim.streams).toEqual([
    { path: "/events/a", linkType: "glob", acked: ZERO, tail: a, hasPending: true },
    { path: "/events/b", linkType: "glob", acked: ZERO, tail: b, hasPending: true },
  ]);
  const error = await refusal(desk.subscriptions.claim("p", "worker-2"), "SUBSCRIPTION_REFUSED");
  expect(error.details).toEqual({
    subscription: "p",
    reason: "ALREADY_CLAIMED",
    held: { by: "worker-1", generation: 1 },
  });
  const acks = [
    { stream: "events/a", offset: a },
    { stream: "events/b", offset: b },
  ];
  expect(await desk.ack(claim, { acks, isDone: true })).toEqual({ isWokenAgain: false });
  const none = await refusal(desk.subscriptions.claim("p", "worker-2"), "SUBSCRIPTION_REFUSED");
  expect(none.details.reason).toBe("NO_PENDING_WORK");
});

test("a claim right after an append need not wait for the wake event", async () => {
  const desk = await openPull();
  await desk.make("/events/a", 1);
  const first = await desk.subscriptions.claim("p", "w");
  const acks = first.streams.map(({ path, tail }) => ({ stream: path.slice(1), offset: tail }));
  await desk.ack(first, { acks, isDone: true });
  await desk.append("/events/a", 2);
  const second = await desk.subscriptions.claim("p", "w");
  expect(second.generation).toBe(2);
  expect(second.wakeId).not.toBe(first.wakeId);
});

test("an ack that is not done extends the lease and keeps the claim", async () => {
  const desk = await openPull({ leaseTtlMs: 1000 });
  const end = await desk.make("/events/a", 1);
  const claim = await desk.subscriptions.claim("p", "w");
  for (let beat = 0; beat < 5; beat++) {
    await desk.pass(999, "p");
    expect(await desk.ack(claim)).toEqual({ isWokenAgain: false });
  }
  const acks = [{ stream: "events/a", offset: end }];
  expect(await desk.ack(claim, { acks })).toEqual({ isWokenAgain: false });
  await refusal(desk.subscriptions.claim("p", "other"), "SUBSCRIPTION_REFUSED");
  expect(await desk.ack(claim, { isDone: true })).toEqual({ isWokenAgain: false });
});

test("an expired lease clears the holder, fences it and wakes again", async () => {
  const desk = await openPull({ leaseTtlMs: 1000 });
  const end = await desk.make("/events/a", 1);
  const claim = await desk.subscriptions.claim("p", "w");
  await desk.pass(1000, "p");
  expect(await generations(desk)).toEqual([1, 2]);
  const acks = [{ stream: "events/a", offset: end }];
  for (const late of [desk.ack(claim, { acks }), desk.subscriptions.release("p", claim)]) {
    expect((await refusal(late, "SUBSCRIPTION_REFUSED")).details.reason).toBe("FENCED");
  }
  expect(desk.cursors("p")).toEqual({ "/events/a": ZERO });
  expect((await desk.subscriptions.claim("p", "other")).generation).toBe(2);
});

test("an unclaimed wake waits, and its event is not repeated", async () => {
  const desk = await openPull({ leaseTtlMs: 1000 });
  await desk.make("/events/a", 1);
  await desk.settle("p");
  await desk.pass(10 * 60_000, "p");
  await desk.append("/events/a", 2);
  await desk.settle("p");
  expect(await generations(desk)).toEqual([1]);
  expect((await desk.subscriptions.claim("p", "w")).generation).toBe(1);
});

test("a release acknowledges nothing and wakes again; a second release is fenced", async () => {
  const desk = await openPull();
  await desk.make("/events/a", 1);
  const claim = await desk.subscriptions.claim("p", "w");
  await desk.subscriptions.release("p", claim);
  await desk.settle("p");
  expect(await generations(desk)).toEqual([1, 2]);
  expect(desk.cursors("p")).toEqual({ "/events/a": ZERO });
  const again = await refusal(desk.subscriptions.release("p", claim), "SUBSCRIPTION_REFUSED");
  expect(again.details.reason).toBe("FENCED");
});

test("done with work left wakes again at once, and the response says so", async () => {
  const desk = await openPull();
  const a = await desk.make("/events/a", 1);
  await desk.settle("p");
  const claim = await desk.subscriptions.claim("p", "w");
  await desk.append("/events/a", 2);
  const acks = [{ stream: "events/a", offset: a }];
  expect(await desk.ack(claim, { acks, isDone: true })).toEqual({ isWokenAgain: true });
  await desk.settle("p");
  expect(await generations(desk)).toEqual([1, 2]);
});

test("a wake stream that is created later gets the event then, and only once", async () => {
  const desk = await Subscribing.open();
  await desk.create("p", PULL);
  await desk.make("/events/a", 1);
  await desk.settle("p");
  expect(desk.subscriptions.get("p").phase.retry).toMatchObject({ count: 1 });
  await desk.pass(1000, "p");
  expect(desk.subscriptions.get("p").phase.retry).toMatchObject({ count: 2 });
  await desk.make(POOL, { mine: true });
  await desk.settle("p");
  expect(await desk.messages(POOL)).toMatchObject([{ mine: true }, { generation: 1 }]);
  expect(desk.subscriptions.get("p").phase.retry).toBeNull();
  await desk.pass(60_000, "p");
  expect(await desk.messages(POOL)).toHaveLength(2);
});

test("without its wake stream a subscription can still be claimed", async () => {
  const desk = await Subscribing.open();
  await desk.create("p", PULL);
  await desk.make("/events/a", 1);
  await desk.settle("p");
  expect((await desk.subscriptions.claim("p", "w")).generation).toBe(1);
});

test("a closed wake stream gets no events, and the subscription reports it", async () => {
  const desk = await openPull();
  await desk.store.append(POOL, { body: new Uint8Array(0), close: true });
  await desk.make("/events/a", 1);
  await desk.settle("p");
  expect(desk.subscriptions.get("p").phase.retry).toMatchObject({ count: 1 });
  expect(await desk.messages(POOL)).toEqual([]);
});

test("a text wake stream has one event per line", async () => {
  const desk = await Subscribing.open();
  const body = new Uint8Array(0);
  await desk.store.create(POOL, { contentType: "text/plain", body, isClosed: false });
  await desk.create("p", PULL);
  await desk.make("/events/a", 1);
  await desk.settle("p");
  const { bytes } = await desk.store.read(POOL, "start", 1000);
  expect(Buffer.from(bytes).toString()).toMatch(/^\{"type":"wake".*\}\n$/);
});

test("a pattern that matches everything does not wake for its own wake events", async () => {
  const desk = await openPull({ pattern: "**" });
  const end = await desk.make("/events/a", 1);
  const claim = await desk.subscriptions.claim("p", "w");
  expect(claim.streams.map(({ path }) => path)).toEqual(["/events/a"]);
  const acks = [{ stream: "events/a", offset: end }];
  expect(await desk.ack(claim, { acks, isDone: true })).toEqual({ isWokenAgain: false });
});

test("each kind of subscription refuses the requests of the other kind", async () => {
  const desk = await openPull();
  await desk.create("hook");
  const fence = { token: "t", wakeId: "w", generation: 1 };
  const request = { ...fence, acks: [], isDone: true };
  const refusals = [
    desk.subscriptions.claim("hook", "w"),
    desk.subscriptions.ack("hook", "pull-wake", request),
    desk.subscriptions.release("hook", fence),
    desk.subscriptions.ack("p", "webhook", request),
  ];
  for (const made of refusals) {
    expect((await refusal(made, "SUBSCRIPTION_REFUSED")).details.reason).toBe("INVALID_REQUEST");
  }
});

test("of many workers that claim at once, exactly one succeeds", async () => {
  const desk = await openPull();
  await desk.make("/events/a", 1);
  const claims = Array.from({ length: 20 }, (_, n) => desk.subscriptions.claim("p", `w${n}`));
  const ends = await Promise.allSettled(claims);
  expect(ends.filter(({ status }) => status === "fulfilled")).toHaveLength(1);
});

async function openPull(config = {}): Promise<Subscribing> {
  const desk = await Subscribing.open();
  await desk.make(POOL);
  await desk.create("p", { ...PULL, ...config });
  return desk;
}

async function generations(desk: Subscribing): Promise<unknown[]> {
  const events = (await desk.messages(POOL)) as { generation: number }[];
  return events.map(({ generation }) => generation);
}
