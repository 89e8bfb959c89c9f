import { expect, test } from "vitest";
import { refusal } from "../../../test/support/refusal.ts";
import { type Delivery, PULL, Subscribing } from "../../../test/support/subscribing.ts";
import { formatOffset } from "../files/offset-token.ts";
import type { WakeNotice } from "./wakes.ts";

// Method: "killed" is another server on a copy of the files at that moment; "restarted" is one on
// the same files after a clean stop. Everything must continue the same way in both.
type Again = (desk: Subscribing) => Promise<Subscribing>;
const WAYS: [string, Again][] = [
  ["killed", (desk) => desk.afterKill()],
  ["restarted", (desk) => desk.afterRestart()],
];
const ZERO = formatOffset(0, 0);

test.each(WAYS)(
  "a server that is %s keeps its subscriptions, links and cursors",
  async (_, again) => {
    const desk = await Subscribing.open();
    const old = await desk.make("/events/old", 1);
    const config = { streams: ["/named/a", "/named/b"], description: "d", leaseTtlMs: 5000 };
    await desk.create("s", config);
    await desk.create("gone");
    await desk.subscriptions.remove("gone");
    await desk.subscriptions.addStreams("s", ["/named/c"]);
    await desk.subscriptions.removeStream("s", "/named/a");
    const end = await desk.make("/events/new", 1);
    (await desk.delivery(0)).answer("done");
    await desk.settle("s");
    const before = desk.cursors("s");
    expect(before).toMatchObject({ "/events/old": old, "/events/new": end, "/named/c": ZERO });
    const next = await again(desk);
    expect(next.cursors("s")).toEqual(before);
    expect(next.subscriptions.get("s").createdAtMs).toBe(desk.subscriptions.get("s").createdAtMs);
    expect(await next.create("s", config)).toBe(false);
    expect(() => next.subscriptions.get("gone")).toThrow("there is no subscription gone");
    await next.append("/events/new", 2);
    expect((await next.delivery(0)).generation).toBe(2); // Generations continue.
  },
);

test.each(WAYS)(
  "messages appended unseen before a server was %s wake after it",
  async (_, again) => {
    const desk = await Subscribing.open();
    await desk.create("s");
    await desk.subscriptions.stop(); // From now on it sees no appends.
    await desk.make("/events/a", 1);
    const next = await again(desk);
    expect((await next.delivery(0)).streams).toMatchObject([{ path: "/events/a", acked: ZERO }]);
  },
);

test.each(WAYS)(
  "a webhook in progress when the server was %s is called again",
  async (_, again) => {
    const desk = await Subscribing.open();
    await desk.create("s", { leaseTtlMs: 10_000 });
    await desk.make("/events/a", 1);
    const { wakeId, generation } = await desk.delivery(0);
    const next = await again(desk);
    const same = await next.delivery(0);
    expect(same).toMatchObject({ wakeId, generation });
    same.answer("done");
    await next.settle("s");
    expect(next.subscriptions.get("s").phase.wake).toBeNull();
  },
);

test.each(WAYS)(
  "a webhook accepted before the server was %s is not called again",
  async (_, again) => {
    const desk = await Subscribing.open();
    await desk.create("s", { leaseTtlMs: 10_000 });
    const end = await desk.make("/events/a", 1);
    const wake = await desk.delivery(0);
    wake.answer("accepted");
    await desk.settle("s");
    const next = await again(desk);
    await next.pass(9999, "s");
    expect(next.deliveries).toEqual([]);
    const acks = [{ stream: "events/a", offset: end }];
    const { token, wakeId, generation } = wake; // Its token is still valid.
    const request = { token, wakeId, generation, acks, isDone: true };
    expect(await next.subscriptions.ack("s", "webhook", request)).toEqual({ isWokenAgain: false });
    expect(next.cursors("s")).toEqual({ "/events/a": end });
  },
);

test.each(WAYS)("a retry keeps its time when the server is %s", async (_, again) => {
  const desk = await Subscribing.open();
  await desk.create("s", { leaseTtlMs: 60_000 });
  await desk.make("/events/a", 1);
  (await desk.delivery(0)).answer("failed");
  await desk.settle("s");
  await desk.pass(1000, "s");
  (await desk.delivery(1)).answer("failed");
  await desk.settle("s");
  await desk.pass(500, "s");
  const next = await again(desk);
  await next.settle("s");
  expect(next.subscriptions.get("s").phase.retry).toMatchObject({ count: 2 });
  await next.pass(1499, "s");
  expect(next.deliveries).toEqual([]);
  await next.pass(1, "s");
  (await next.delivery(0)).answer("failed");
  await next.settle("s");
  expect(next.subscriptions.get("s").phase.retry).toMatchObject({ count: 3 });
});

test.each(WAYS)("a lease continues, and expires, when the server is %s", async (_, again) => {
  const desk = await Subscribing.open();
  await desk.make("/wake/pool");
  await desk.create("p", { ...PULL, leaseTtlMs: 10_000 });
  await desk.make("/events/a", 1);
  const claim = await desk.subscriptions.claim("p", "w");
  await desk.pass(4000, "p");
  const next = await again(desk);
  const busy = await refusal(next.subscriptions.claim("p", "other"), "SUBSCRIPTION_REFUSED");
  expect(busy.details.held).toEqual({ by: "w", generation: 1 });
  await next.pass(5999, "p");
  await next.ack(claim);
  await next.pass(9999, "p");
  await refusal(next.subscriptions.claim("p", "other"), "SUBSCRIPTION_REFUSED");
  await next.pass(1, "p");
  expect((await next.subscriptions.claim("p", "other")).generation).toBe(2);
});

test("a lease that expired while no server ran is over when one starts", async () => {
  const desk = await Subscribing.open();
  await desk.create("s", { leaseTtlMs: 1000 });
  await desk.make("/events/a", 1);
  const wake = await desk.delivery(0);
  wake.answer("accepted");
  await desk.settle("s");
  await desk.close();
  desk.time.pass(60_000);
  const next = await Subscribing.open({}, desk.directory, desk.time);
  expect(await next.delivery(0)).toMatchObject({ generation: 2 });
});

test.each(WAYS)(
  "a wake event is written once, however often the server is %s",
  async (_, again) => {
    let desk = await Subscribing.open();
    await desk.make("/wake/pool");
    await desk.create("p", PULL);
    await desk.make("/events/a", 1);
    await desk.settle("p");
    for (let time = 0; time < 3; time++) {
      desk = await again(desk);
      await desk.settle("p");
    }
    expect(await desk.messages("/wake/pool")).toHaveLength(1);
    expect((await desk.subscriptions.claim("p", "w")).generation).toBe(1);
  },
);

test("a server killed between the wake and its event writes the event after its restart", async () => {
  // Method: no wake stream, so that the event cannot be written; then one, but no server.
  const desk = await Subscribing.open();
  await desk.create("p", PULL);
  await desk.make("/events/a", 1);
  await desk.settle("p");
  await desk.subscriptions.stop();
  await desk.make("/wake/pool");
  const next = await desk.afterKill();
  await next.pass(1000, "p");
  expect(await next.messages("/wake/pool")).toMatchObject([{ generation: 1 }]);
});

test("a subscription created again under the same id wakes, although its generations restart", async () => {
  const desk = await Subscribing.open();
  await desk.make("/wake/pool");
  for (let time = 0; time < 2; time++) {
    await desk.create("p", PULL);
    await desk.make(`/events/${time}`, 1);
    await desk.settle("p");
    await desk.subscriptions.remove("p");
  }
  const events = await desk.messages("/wake/pool");
  expect(events).toMatchObject([{ generation: 1 }, { generation: 1 }]);
});

test("killed after any of its writes, a server loses nothing acknowledged and leaves no leftovers", async () => {
  // Method: a short run, and a copy of the files after each step; a server must continue on
  // each copy.
  const desk = await Subscribing.open();
  await desk.make("/wake/pool");
  await desk.make("/events/before", 1);
  const steps: (() => Promise<unknown>)[] = [
    () => desk.create("p", { ...PULL, streams: ["/named"] }),
    () => desk.make("/events/a", 1),
    () => desk.subscriptions.addStreams("p", ["/more"]),
    async () => Object.assign(held, await desk.subscriptions.claim("p", "w")),
    () => ackAll(desk, held, false),
    () => ackAll(desk, held, true),
    () => desk.make("/named", 1),
    () => desk.subscriptions.removeStream("p", "/named"),
    () => desk.subscriptions.remove("p"),
  ];
  const held = {} as WakeNotice & Record<string, unknown>;
  for (const [at, step] of steps.entries()) {
    await step();
    const next = await desk.afterKill();
    if (at === steps.length - 1) {
      expect(await next.store.records("subscription/")).toHaveProperty("size", 0);
      continue;
    }
    expect(next.cursors("p"), `step ${at}`).toEqual(desk.cursors("p"));
    await next.settle("p");
    const end = await next.make("/events/then", 1);
    await next.pass(30_000, "p"); // A held lease expires.
    const claim = await next.subscriptions.claim("p", "next");
    const then = claim.streams.find(({ path }) => path === "/events/then");
    expect(then).toMatchObject({ acked: ZERO, tail: end, hasPending: true });
    await ackAll(next, claim, true);
    await refusal(next.subscriptions.claim("p", "next"), "SUBSCRIPTION_REFUSED");
    await next.close();
  }
});

test("leftovers of an interrupted creation or deletion are removed", async () => {
  const desk = await Subscribing.open();
  await desk.store.putRecord("subscription/0123/link/events/a", "[true,null]");
  await desk.store.putRecord("subscription/0123/phase", "{}");
  await desk.create("s");
  const next = await desk.afterKill();
  const keys = [...(await next.store.records("subscription/")).keys()];
  expect(keys).toEqual([`subscription/${next.subscriptions.get("s").uid}/config`]);
});

test("streams deleted and created again while no server ran are followed from their new start", async () => {
  const desk = await Subscribing.open();
  await desk.create("s", { streams: ["/named"] });
  await desk.make("/events/a", 1, 2, 3);
  (await desk.delivery(0)).answer("done");
  await desk.settle("s");
  await desk.subscriptions.stop();
  await desk.store.remove("/events/a");
  await desk.make("/events/a", 1);
  const next = await desk.afterKill();
  const start = formatOffset(1, 0);
  const waits = (wake: Delivery) => wake.streams.filter(({ hasPending }) => hasPending);
  expect(waits(await next.delivery(0))).toMatchObject([{ path: "/events/a", acked: start }]);
});

async function ackAll(desk: Subscribing, claim: WakeNotice, isDone: boolean): Promise<void> {
  const acks = claim.streams.map(({ path, tail }) => ({ stream: path.slice(1), offset: tail }));
  await desk.ack(claim, { acks, isDone });
}
