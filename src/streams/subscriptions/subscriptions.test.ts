import { expect, test } from "vitest";
import { refusal } from "../../../test/support/refusal.ts";
import { PULL, Subscribing, webhookConfig } from "../../../test/support/subscribing.ts";
import { SUBSCRIPTION_LIMITS } from "../../core/base/limits.ts";
import { formatOffset } from "../files/offset-token.ts";
import type { SubscriptionConfig } from "./subscription.ts";

const ZERO = formatOffset(0, 0);

test("creating a subscription again with the same configuration is accepted, with another it is refused", async () => {
  const desk = await Subscribing.open();
  const config = webhookConfig({ streams: ["/a", "/b"], description: "d" });
  expect(await desk.create("s", config)).toBe(true);
  expect(await desk.create("s", config)).toBe(false);
  const others: Partial<SubscriptionConfig>[] = [
    { pattern: "events/**" },
    { pattern: null },
    { streams: ["/a"] },
    { streams: ["/a,/b"] },
    { webhookUrl: "https://hooks.example.com/other" },
    { leaseTtlMs: 30_001 },
    { description: null },
    { description: "" },
    PULL,
  ];
  for (const change of others) {
    const error = await refusal(desk.create("s", { ...config, ...change }), "SUBSCRIPTION_REFUSED");
    expect(error.details.reason, JSON.stringify(change)).toBe("SUBSCRIPTION_ALREADY_EXISTS");
  }
  await desk.subscriptions.addStreams("s", ["/c"]);
  expect(await desk.create("s", config)).toBe(false); // Later additions are not part of it.
});

test("many concurrent requests for one subscription create it once", async () => {
  const desk = await Subscribing.open();
  await desk.make("/events/a", 1);
  const made = await Promise.all(Array.from({ length: 10 }, () => desk.create("s")));
  expect(made.filter(Boolean)).toHaveLength(1);
  expect(await desk.store.records("subscription/")).toHaveProperty("size", 2);
});

test("existing streams are followed from their end, later ones from their start", async () => {
  const desk = await Subscribing.open();
  const before = await desk.make("/events/before", 1, 2);
  const named = await desk.make("/named", 1);
  await desk.make("/events/empty");
  await desk.create("s", { streams: ["/later", "/named"] });
  await desk.settle("s");
  expect(desk.deliveries).toEqual([]); // Creating it replays no messages.
  expect(desk.cursors("s")).toEqual({
    "/events/before": before,
    "/events/empty": ZERO,
    "/later": ZERO,
    "/named": named,
  });
  await desk.append("/events/empty", 1);
  const wake = await desk.delivery(0);
  expect(wake.streams.filter(({ hasPending }) => hasPending)).toMatchObject([
    { path: "/events/empty", acked: ZERO },
  ]);
  await desk.make("/later", 1);
  wake.answer("done");
  expect((await desk.delivery(1)).streams[0]).toMatchObject({ path: "/later", acked: ZERO });
});

test("no message is missed in streams that grow while a subscription is created", async () => {
  // Method: many streams with constant appends; each must be acknowledged up to its end or be
  // pending.
  const desk = await Subscribing.open();
  const paths = Array.from({ length: 50 }, (_, n) => `/events/${n}`);
  await Promise.all(paths.map((path) => desk.make(path, 0)));
  let isMade = false;
  const growing = Promise.all(
    paths.map(async (path) => {
      while (!isMade) await desk.append(path, 1);
    }),
  );
  await desk.create("s");
  isMade = true;
  await growing;
  await desk.settle("s");
  const { links } = desk.subscriptions.get("s");
  for (const path of paths) {
    const { end } = await desk.store.head(path);
    expect(links.describe(path).tail).toBe(end);
    expect(links.acked(path) < end).toBe(links.describe(path).hasPending);
  }
});

test("a fork is followed from the point where it was forked", async () => {
  const desk = await Subscribing.open();
  const at = await desk.make("/source", 1, 2);
  await desk.create("s");
  const contentType = "application/json";
  const fork = { source: "/source" };
  await desk.store.create("/events/fork", {
    contentType,
    fork,
    body: new Uint8Array(0),
    isClosed: false,
  });
  await desk.settle("s");
  expect(desk.deliveries).toEqual([]);
  const tail = await desk.append("/events/fork", 3);
  expect((await desk.delivery(0)).streams).toMatchObject([{ acked: at, tail }]);
});

test("a stream can be named later, from its end at that time, and removed again", async () => {
  const desk = await Subscribing.open();
  await desk.create("s", { pattern: null, streams: ["/a"] });
  const end = await desk.make("/b", 1);
  await desk.subscriptions.addStreams("s", ["/b", "/c"]);
  await desk.subscriptions.addStreams("s", ["/b"]);
  expect(desk.cursors("s")).toEqual({ "/a": ZERO, "/b": end, "/c": ZERO });
  await desk.append("/b", 2);
  const wake = await desk.delivery(0);
  expect(wake.streams[0]).toMatchObject({ path: "/b", linkType: "explicit", acked: end });
  wake.answer("accepted");
  await desk.subscriptions.removeStream("s", "/b");
  await desk.subscriptions.removeStream("s", "/b");
  await desk.subscriptions.removeStream("s", "/never");
  expect(Object.keys(desk.cursors("s"))).toEqual(["/a", "/c"]);
  await desk.append("/b", 3);
  await desk.pass(30_000, "s");
  expect(desk.deliveries).toHaveLength(1);
});

test("naming a stream that the pattern already matches does not change its cursor", async () => {
  const desk = await Subscribing.open();
  await desk.create("s");
  await desk.make("/events/a", 1);
  const wake = await desk.delivery(0);
  wake.answer("accepted");
  await desk.subscriptions.addStreams("s", ["/events/a"]);
  const { links } = desk.subscriptions.get("s");
  expect(links.describe("/events/a")).toMatchObject({
    linkType: "explicit",
    acked: ZERO,
    hasPending: true,
  });
  await desk.subscriptions.removeStream("s", "/events/a");
  expect(links.describe("/events/a")).toMatchObject({
    linkType: "glob",
    acked: ZERO,
    hasPending: true,
  });
});

test("a subscription does not follow its own wake stream", async () => {
  const desk = await Subscribing.open();
  await desk.create("p", PULL);
  const adding = desk.subscriptions.addStreams("p", ["/a", "/wake/pool"]);
  const error = await refusal(adding, "SUBSCRIPTION_REFUSED");
  expect(error.details.reason).toBe("INVALID_REQUEST");
  expect(desk.cursors("p")).toEqual({});
});

test("a deleted subscription loses all its state, and an old token is invalid for a new one", async () => {
  const desk = await Subscribing.open();
  await desk.make("/events/old", 1);
  await desk.create("s", { streams: ["/named"] });
  const end = await desk.make("/events/a", 1);
  const wake = await desk.delivery(0);
  const { token, wakeId, generation } = wake;
  const acks = [{ stream: "events/a", offset: end }];
  const request = { token, wakeId, generation, acks, isDone: true };
  const removing = desk.subscriptions.remove("s");
  const late = refusal(desk.subscriptions.ack("s", "webhook", request), "SUBSCRIPTION_REFUSED");
  await removing;
  expect((await late).details.reason).toBe("SUBSCRIPTION_NOT_FOUND");
  expect(wake.signal.aborted).toBe(true);
  expect(await desk.store.records("subscription/")).toHaveProperty("size", 0);
  await desk.subscriptions.remove("s");
  await desk.create("s");
  await desk.append("/events/a", 2);
  expect((await desk.delivery(1)).generation).toBe(1);
  const error = await refusal(
    desk.subscriptions.ack("s", "webhook", request),
    "SUBSCRIPTION_REFUSED",
  );
  expect(error.details.reason).toBe("TOKEN_INVALID");
});

test("a deleted stream leaves nothing behind except the explicitly named links", async () => {
  const desk = await Subscribing.open();
  await desk.create("s", { streams: ["/named"] });
  await desk.make("/events/a", 1);
  await desk.make("/named", 1);
  (await desk.delivery(0)).answer("done");
  await desk.settle("s");
  if (desk.deliveries[1]) desk.deliveries[1].answer("done");
  await desk.settle("s");
  await desk.store.remove("/events/a");
  await desk.store.remove("/named");
  await desk.settle("s");
  expect(Object.keys(desk.cursors("s"))).toEqual(["/named"]);
  const { uid } = desk.subscriptions.get("s");
  const keys = [...(await desk.store.records("subscription/")).keys()].sort();
  expect(keys).toEqual(
    ["config", "link/named", "phase"].map((key) => `subscription/${uid}/${key}`),
  );
});

test("subscriptions can be created up to the limit, and not one more", async () => {
  const desk = await Subscribing.open({ subscriptionsMax: 3 });
  const made = await Promise.allSettled(["a", "b", "c", "d", "e"].map((id) => desk.create(id)));
  expect(made.map(({ status }) => status).sort()).toEqual([
    ...Array(3).fill("fulfilled"),
    ...Array(2).fill("rejected"),
  ]);
  const error = await refusal(desk.create("f"), "SUBSCRIPTION_REFUSED");
  expect(error.details.reason).toBe("TOO_MANY_SUBSCRIPTIONS");
  await desk.subscriptions.remove("a");
  expect(await desk.create("f")).toBe(true);
});

test("a subscription can name streams up to the limit, and not one more", async () => {
  const desk = await Subscribing.open();
  await desk.create("s", { pattern: null, streams: ["/first"] });
  const max = SUBSCRIPTION_LIMITS.explicitStreamsMax;
  const paths = Array.from({ length: max - 1 }, (_, n) => `/n/${n}`);
  await desk.subscriptions.addStreams("s", paths);
  const error = await refusal(
    desk.subscriptions.addStreams("s", ["/one/more"]),
    "SUBSCRIPTION_REFUSED",
  );
  expect(error.details.reason).toBe("INVALID_REQUEST");
  expect(desk.subscriptions.get("s").links.explicitCount).toBe(max);
});

test("a wake lists pending streams up to the limit, and the next wake lists the rest", async () => {
  const desk = await Subscribing.open();
  await desk.create("gate");
  await desk.make("/events/first", 1); // Its wake is delayed until the others are pending.
  const max = SUBSCRIPTION_LIMITS.wakeStreamsMax;
  await Promise.all(Array.from({ length: max }, (_, n) => desk.make(`/events/${n}`, 1)));
  (await desk.delivery(0)).answer("accepted");
  await desk.settle("gate");
  await desk.pass(30_000, "gate");
  const wake = await desk.delivery(1);
  expect(wake.streams).toHaveLength(max);
  wake.answer("done");
  const rest = await desk.delivery(2);
  expect(rest.streams.filter(({ hasPending }) => hasPending)).toHaveLength(1);
});
