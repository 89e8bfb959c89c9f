import { expect, test } from "vitest";
import { refusal } from "../../../test/support/refusal.ts";
import { Subscribing } from "../../../test/support/subscribing.ts";
import { formatOffset, type OffsetToken } from "../files/offset-token.ts";
import { type AckRequest, TOKEN_MS_MAX } from "./acks.ts";

const ZERO = formatOffset(0, 0);

test("a callback with any value of another wake is fenced and moves no cursor", async () => {
  const desk = await Subscribing.open();
  await desk.create("s");
  await desk.create("other");
  const end = await desk.make("/events/a", 1);
  const wake = await desk.delivery(0);
  const other = await desk.delivery(1);
  const acks = [{ stream: "events/a", offset: end }];
  const refusals: [Partial<AckRequest>, string][] = [
    [{ generation: 0 }, "FENCED"],
    [{ generation: 2 }, "FENCED"],
    [{ wakeId: "w_other" }, "FENCED"],
    [{ token: `${wake.token.slice(0, -1)}?` }, "TOKEN_INVALID"],
    [{ token: other.token }, "TOKEN_INVALID"],
    [{ token: "" }, "TOKEN_INVALID"],
  ];
  expect(other.subscription.id).toBe("other");
  for (const [change, reason] of refusals) {
    const made = desk.ack(wake, { acks, isDone: true, ...change });
    expect((await refusal(made, "SUBSCRIPTION_REFUSED")).details.reason).toBe(reason);
  }
  expect(desk.cursors("s")).toEqual({ "/events/a": ZERO });
  expect(await desk.ack(wake, { acks })).toEqual({ isWokenAgain: false });
});

test("a token expires at its time, however often the lease was extended", async () => {
  const desk = await Subscribing.open();
  await desk.create("s", { leaseTtlMs: 600_000 });
  await desk.make("/events/a", 1);
  const wake = await desk.delivery(0);
  wake.answer("accepted");
  for (let ms = 0; ms < TOKEN_MS_MAX - 500_000; ms += 500_000) {
    await desk.pass(500_000, "s");
    await desk.ack(wake, {});
  }
  await desk.pass(500_000, "s");
  const error = await refusal(desk.ack(wake, {}), "SUBSCRIPTION_REFUSED");
  expect(error.details.reason).toBe("TOKEN_EXPIRED");
});

test("an ack that goes back, is past the end, has a bad offset or an unfollowed stream changes nothing", async () => {
  const desk = await Subscribing.open();
  await desk.create("s");
  const start = await desk.make("/events/a", 1);
  const end = await desk.append("/events/a", 2);
  await desk.make("/elsewhere", 1);
  const wake = await desk.delivery(0);
  await desk.ack(wake, { acks: [{ stream: "events/a", offset: start }] });
  const good = { stream: "events/a", offset: end };
  const bad: { stream: string; offset: string }[] = [
    { stream: "events/a", offset: ZERO },
    { stream: "events/a", offset: formatOffset(0, 1000) },
    { stream: "events/a", offset: formatOffset(1, 0) },
    { stream: "events/a", offset: "-1" },
    { stream: "events/a", offset: "now" },
    { stream: "events/b", offset: ZERO.replace("0_", "0_1") },
    { stream: "elsewhere", offset: end },
    { stream: "", offset: end },
  ];
  for (const ack of bad) {
    const made = desk.ack(wake, { acks: [good, ack], isDone: true });
    const error = await refusal(made, "SUBSCRIPTION_REFUSED");
    expect(error.details.reason, JSON.stringify(ack)).toBe("INVALID_OFFSET");
  }
  expect(desk.cursors("s")).toEqual({ "/events/a": start });
  expect(await desk.ack(wake, { acks: [good, good], isDone: true })).toEqual({
    isWokenAgain: false,
  });
});

test("a stream deleted, created again or removed during a wake does not affect the other acks", async () => {
  const desk = await Subscribing.open();
  const named = ["/named/dropped", "/named/kept"];
  await desk.create("s", { streams: named });
  const offsets: Record<string, OffsetToken> = {};
  for (const path of ["/events/deleted", "/events/again", "/events/kept", ...named]) {
    offsets[path] = await desk.make(path, 1);
  }
  await desk.settle("s");
  const wake = await desk.delivery(0);
  wake.answer("accepted");
  await desk.store.remove("/events/deleted");
  await desk.store.remove("/events/again");
  await desk.make("/events/again", 2);
  await desk.subscriptions.removeStream("s", "/named/dropped");
  const acks = Object.entries(offsets).map(([path, offset]) => ({ stream: path.slice(1), offset }));
  expect(await desk.ack(wake, { acks, isDone: true })).toEqual({ isWokenAgain: true });
  const next = await desk.delivery(1);
  expect(next.streams.filter(({ hasPending }) => hasPending)).toMatchObject([
    { path: "/events/again", acked: formatOffset(1, 0) },
  ]);
  expect(Object.keys(desk.cursors("s"))).toEqual(["/events/again", "/events/kept", "/named/kept"]);
});
