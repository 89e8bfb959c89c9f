import { expect, test } from "vitest";
import { thrownRefusal } from "../../../test/support/refusal.ts";
import { HOOK, PULL } from "../../../test/support/subscription-http.ts";
import { SUBSCRIPTION_LIMITS } from "../../core/base/limits.ts";
import { SubscriptionRequest } from "./requests.ts";

test("a configuration keeps the fields of its own kind and drops those of the other", () => {
  expect(config({ ...HOOK, wake_stream: "wake/pool", unknown: 1 })).toEqual({
    type: "webhook",
    pattern: "events/*",
    streams: [],
    webhookUrl: "https://hooks.example.com/",
    wakeStream: null,
    leaseTtlMs: 30_000,
    description: null,
  });
  const pull = { ...PULL, webhook: HOOK.webhook, streams: ["b", "/a", "a"], lease_ttl_ms: 1000 };
  expect(config({ ...pull, pattern: null, description: "d" })).toEqual({
    type: "pull-wake",
    pattern: null,
    streams: ["/a", "/b"],
    webhookUrl: null,
    wakeStream: "/wake/pool",
    leaseTtlMs: 1000,
    description: "d",
  });
});

test("missing or malformed fields are refused, and none is ignored", () => {
  const bad: unknown[] = [
    null,
    [],
    "text",
    {},
    { ...HOOK, type: "push" },
    { ...HOOK, pattern: undefined },
    { ...HOOK, pattern: undefined, streams: [] },
    { ...HOOK, pattern: "" },
    { ...HOOK, pattern: 1 },
    { ...HOOK, pattern: "a*" },
    { ...HOOK, streams: "a" },
    { ...HOOK, streams: [1] },
    { ...HOOK, streams: [""] },
    { ...HOOK, streams: ["../a"] },
    { ...HOOK, streams: ["__ds/subscriptions"] },
    { ...HOOK, webhook: null },
    { ...HOOK, webhook: "https://hooks.example.com/" },
    { ...HOOK, webhook: { url: 1 } },
    { ...HOOK, lease_ttl_ms: 999 },
    { ...HOOK, lease_ttl_ms: 600_001 },
    { ...HOOK, lease_ttl_ms: 1000.5 },
    { ...HOOK, lease_ttl_ms: "1000" },
    { ...HOOK, description: 1 },
    { ...PULL, wake_stream: undefined },
    { ...PULL, wake_stream: "a:b" },
    { ...PULL, streams: ["wake/pool"] },
  ];
  for (const body of bad) expect(reasonOf(body), JSON.stringify(body)).toBe("INVALID_REQUEST");
  expect(config({ ...HOOK, lease_ttl_ms: 600_000 })).toMatchObject({ leaseTtlMs: 600_000 });
  const unsafe = { ...HOOK, webhook: { url: "https://10.0.0.1/" } };
  expect(reasonOf(unsafe)).toBe("WEBHOOK_URL_REJECTED");
});

test("a body that is not JSON, or not UTF-8, is refused", () => {
  for (const text of ["", "{", "\u0000"]) {
    thrownRefusal(() => new SubscriptionRequest("s", Buffer.from(text)), "SUBSCRIPTION_REFUSED");
  }
  const latin = Buffer.from([0x7b, 0x22, 0xe9, 0x22, 0x3a, 0x31, 0x7d]);
  thrownRefusal(() => new SubscriptionRequest("s", latin), "SUBSCRIPTION_REFUSED");
});

test("each limit is accepted, and one past it is refused", () => {
  const { descriptionCharsMax, streamsPerRequestMax, workerCharsMax } = SUBSCRIPTION_LIMITS;
  const text = (length: number) => "x".repeat(length);
  const streams = (length: number) => Array.from({ length }, (_, n) => `s/${n}`);
  expect(config({ ...HOOK, description: text(descriptionCharsMax) })).toBeTruthy();
  expect(reasonOf({ ...HOOK, description: text(descriptionCharsMax + 1) })).toBe("INVALID_REQUEST");
  expect(config({ ...HOOK, streams: streams(streamsPerRequestMax) })).toBeTruthy();
  expect(reasonOf({ ...HOOK, streams: streams(streamsPerRequestMax + 1) })).toBe("INVALID_REQUEST");
  expect(request({ worker: text(workerCharsMax) }).worker()).toHaveLength(workerCharsMax);
  for (const worker of [text(workerCharsMax + 1), "", 1, undefined]) {
    thrownRefusal(() => request({ worker }).worker(), "SUBSCRIPTION_REFUSED");
  }
  const acks = (length: number) => streams(length).map((stream) => ({ stream, offset: "1" }));
  const fence = { wake_id: "w", generation: 1 };
  const full = request({ ...fence, acks: acks(streamsPerRequestMax) });
  expect(full.ack("t").acks).toHaveLength(streamsPerRequestMax);
  const over = request({ ...fence, acks: acks(streamsPerRequestMax + 1) });
  thrownRefusal(() => over.ack("t"), "SUBSCRIPTION_REFUSED");
});

test("an ack needs its wake, and offsets of streams", () => {
  const fence = { wake_id: "w", generation: 1 };
  expect(request(fence).ack("t")).toEqual({
    token: "t",
    wakeId: "w",
    generation: 1,
    acks: [],
    isDone: false,
  });
  const acks = [{ path: "a", offset: "1" }];
  expect(request({ ...fence, acks, done: true }).ack("t")).toMatchObject({
    acks: [{ stream: "a", offset: "1" }],
    isDone: true,
  });
  const bad = [
    { wake_id: "w" },
    { generation: 1 },
    { wake_id: 1, generation: 1 },
    { wake_id: "w", generation: "1" },
    { ...fence, acks: {} },
    { ...fence, acks: [null] },
    { ...fence, acks: [{ stream: "a" }] },
    { ...fence, acks: [{ stream: "a", offset: 1 }] },
    { ...fence, done: "true" },
  ];
  for (const body of bad) {
    thrownRefusal(() => request(body).ack("t"), "SUBSCRIPTION_REFUSED");
  }
});

function request(body: unknown): SubscriptionRequest {
  return new SubscriptionRequest("s", Buffer.from(JSON.stringify(body)));
}

function config(body: unknown): unknown {
  return request(body).config(false);
}

function reasonOf(body: unknown): string {
  return thrownRefusal(() => config(body), "SUBSCRIPTION_REFUSED").details.reason;
}
